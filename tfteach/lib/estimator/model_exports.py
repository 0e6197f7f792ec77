"""The exports of an Estimator's model.

Source: tensorflow_estimator/python/estimator/estimator.py.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.deprecation import deprecated
from tfteach.framework.graph import Graph
from tfteach.framework.scope import set_random_seed
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.estimator.saved_model import ExportSettings, export_saved_models
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.files.warm_start import WarmStartSettings


class ModelExports(abc.ABC):
    """What Estimators can do to export their model."""

    _model_dir: str
    _warm_start_settings: WarmStartSettings | None

    @property
    @abc.abstractmethod
    def config(self) -> RunConfig:
        """A copy of the RunConfig."""

    @abc.abstractmethod
    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        """Build the model in the current graph."""

    @abc.abstractmethod
    def _create_and_assert_global_step(self, graph: Graph) -> None:
        """Create the variable of the global step."""

    def export_saved_model(
        self,
        export_dir_base: PathLike,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Write the model of one mode as a SavedModel.

        Args:
          export_dir_base: the directory, in which one named by the time is made.
          serving_input_receiver_fn: returns a
            `tf.estimator.export.ServingInputReceiver`; for the other modes a receiver
            of `tf.estimator.experimental.build_raw_supervised_input_receiver_fn`.
          assets_extra: files to copy to "assets.extra": a dict of names to paths.
          as_text: whether the graph's file is text; otherwise binary.
          checkpoint_path: the checkpoint; None for the newest, or the one to start
            from.
          experimental_mode: a `tf.estimator.ModeKeys`; the model of TRAIN has the tag
            "train", that of EVAL "eval", that of PREDICT "serve".

        Returns:
          The directory's path, bytes.

        Raises:
          ValueError: there is no checkpoint, it lacks variables, or there are several
            outputs and no default one.

        Example:
          >>> estimator.export_saved_model("exports", serving_input_receiver_fn)
        """
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export(
            {experimental_mode: serving_input_receiver_fn},
            checkpoint_path,
            ExportSettings(export_dir_base, assets_extra, as_text),
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: PathLike,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
    ) -> bytes:
        """Write the models of several modes as one SavedModel, with the same variables.

        Args:
          export_dir_base: the directory, in which one named by the time is made.
          input_receiver_fn_map: a dict of `tf.estimator.ModeKeys` to functions that
            return a receiver of inputs; see `export_saved_model`.
          assets_extra: files to copy to "assets.extra": a dict of names to paths.
          as_text: whether the graphs' file is text; otherwise binary.
          checkpoint_path: the checkpoint; None for the newest, or the one to start
            from.

        Returns:
          The directory's path, bytes.

        Raises:
          ValueError: there is no checkpoint, it lacks a mode's variables, or there is
            no function.

        Example:
          >>> experimental = tf.estimator.experimental
          >>> receiver = experimental.build_raw_supervised_input_receiver_fn(
          ...     {"x": tf.zeros([1, 2])}, tf.zeros([1])
          ... )
          >>> estimator.experimental_export_all_saved_models("exports", {
          ...     tf.estimator.ModeKeys.TRAIN: receiver,
          ...     tf.estimator.ModeKeys.EVAL: receiver,
          ...     tf.estimator.ModeKeys.PREDICT: serving_input_receiver_fn,
          ... })
        """
        return self._export(
            input_receiver_fn_map,
            checkpoint_path,
            ExportSettings(export_dir_base, assets_extra, as_text),
        )

    @deprecated(
        None,
        "This function has been renamed, use `export_saved_model` instead.",
        "python.estimator.estimator",
        "Estimator.export_savedmodel",
    )
    def export_savedmodel(
        self,
        export_dir_base: PathLike,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Older name of `export_saved_model`, which may keep default attributes."""
        if serving_input_receiver_fn is None:
            raise ValueError("serving_input_receiver_fn must be defined.")
        return self._export(
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            checkpoint_path,
            ExportSettings(export_dir_base, assets_extra, as_text, strip_default_attrs),
        )

    def _export(
        self,
        receiver_fns: Mapping[str, Callable[[], Any]],
        checkpoint: PathLike | None,
        settings: ExportSettings,
    ) -> bytes:
        path = self._exported_checkpoint(checkpoint)
        return export_saved_models(
            self.config, self._built, receiver_fns, path, settings
        )

    def _built(
        self, mode: str, receiver_fn: Callable[[], Any]
    ) -> tuple[Any, EstimatorSpec]:
        config = self.config
        self._create_and_assert_global_step(get_default_graph())
        set_random_seed(config.tf_random_seed)
        receiver = receiver_fn()
        labels = getattr(receiver, "labels", None)
        return receiver, self._call_model_fn(receiver.features, labels, mode, config)

    def _exported_checkpoint(self, given: PathLike | None) -> str:
        path = os.fspath(given) if given else latest_checkpoint(self._model_dir)
        if not path and self._warm_start_settings:
            first = os.fspath(self._warm_start_settings.ckpt_to_initialize_from)
            path = latest_checkpoint(first) or first
        if not path:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        return path
