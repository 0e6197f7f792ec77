"""A `tf.contrib.learn` estimator's model as a SavedModel.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.files import file_system
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import add_to_collection, get_collection
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.learn import saved_model_exports as utils
from tfteach.lib.contrib.learn.keys import ModeKeys
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.serving_input_fns import InputFnOps
from tfteach.lib.estimator.saved_model import copy_assets
from tfteach.lib.files.saver import Saver
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.lib.saved_model import tag_constants
from tfteach.lib.saved_model.builder import SavedModelBuilder
from tfteach.lib.training import resources
from tfteach.lib.training.global_step import create_global_step
from tfteach.lib.training.scaffold import Scaffold
from tfteach.ops.core.control_flow_ops import group
from tfteach.variables.collections import local_variables_initializer

_FEATURE_KEYS = "input_feature_keys"


class ExportsSavedModels(abc.ABC):
    """The part of an estimator that exports it."""

    _session_config: Any

    @abc.abstractmethod
    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        """Build the model."""

    @abc.abstractmethod
    def _checkpoint(self, given: PathLike | None = None) -> str:
        """The checkpoint's path, the newest if none is given."""

    def export_savedmodel(
        self,
        export_dir_base: PathLike,
        serving_input_fn: Callable[[], InputFnOps] | None,
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
        graph_rewrite_specs: object = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Write the model, as it predicts, as a SavedModel.

        Args:
          export_dir_base: the directory, in which one named by the time is made.
          serving_input_fn: returns a `tf.contrib.learn.InputFnOps`.
          default_output_alternative_key: which of several outputs to serve by default.
          assets_extra: files to copy to "assets.extra": a dict of names to paths.
          as_text: whether the graph's file is text; otherwise binary.
          checkpoint_path: the checkpoint; None for the newest.
          graph_rewrite_specs: not implemented: the graph is written as it is built.
          strip_default_attrs: whether default attributes are left out of the graph.

        Returns:
          The directory's path, bytes.

        Raises:
          NotFittedError: there is no checkpoint.
          ValueError: there are several outputs and no default one, no such default
            one, or the model classifies, but its input is no serialized Examples.

        Example:
          >>> spec = {"x": tf.FixedLenFeature([1], tf.float32)}
          >>> fn = tf.contrib.learn.build_parsing_serving_input_fn(spec)
          >>> estimator.export_savedmodel("exports", fn)
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        if graph_rewrite_specs is not None:
            raise NotImplementedError(
                "export_savedmodel(graph_rewrite_specs=...): rewrite the graph of the "
                "SavedModel afterwards"
            )
        return _export(
            self._call_model_fn,
            self._session_config,
            export_dir_base,
            serving_input_fn,
            default_output_alternative_key,
            assets_extra,
            as_text,
            self._checkpoint(checkpoint_path),
            strip_default_attrs,
        )

    def export(self, *args: Any, **kwargs: Any) -> None:
        """Not implemented: it writes a format from before SavedModels.

        Raises:
          NotImplementedError: always; `export_savedmodel` writes a SavedModel.
        """
        raise NotImplementedError(
            "Estimator.export writes session bundles, which TensorFlow 1.0 replaced "
            "by SavedModels: use export_savedmodel"
        )


def _export(
    call_model_fn: Callable[[Any, Any, str], ModelFnOps],
    session_config: Any,
    export_dir_base: PathLike,
    serving_input_fn: Callable[[], InputFnOps],
    default_output_alternative_key: str | None,
    assets_extra: Mapping[str, PathLike] | None,
    as_text: bool,
    checkpoint_path: str,
    strip_default_attrs: bool,
) -> bytes:
    """Write the model as it predicts; returns its directory's path."""
    path = os.fsdecode(utils.get_timestamped_export_dir(export_dir_base))
    # A program that watches the directory is to see whole models only.
    unfinished = os.fsdecode(utils.get_temp_export_dir(path))
    builder = SavedModelBuilder(unfinished)
    with Graph().as_default() as graph:
        create_global_step(graph)
        inputs, features = utils.get_input_alternatives(serving_input_fn())
        for key in sorted(features):
            add_to_collection(_FEATURE_KEYS, key)
        ops = call_model_fn(features, None, ModeKeys.INFER)
        outputs, default = utils.get_output_alternatives(
            ops, default_output_alternative_key
        )
        signatures = utils.build_all_signature_defs(inputs, outputs, default)
        scaffold = ops.scaffold or Scaffold()
        # Scaffold's default has the same parts; the graphs differ in their order.
        local_init = scaffold.local_init_op or group(
            local_variables_initializer(),
            resources.initialize_resources(resources.local_resources()),
            tables_initializer(),
        )
        with Session(config=session_config) as session:
            saver = scaffold.saver or Saver(sharded=True)
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(
                session,
                tags=[tag_constants.SERVING],
                signature_def_map=signatures,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                main_op=local_init,
                strip_default_attrs=strip_default_attrs,
            )
    builder.save(as_text)
    copy_assets(unfinished, assets_extra)
    file_system.rename(unfinished, path)
    return path.encode()
