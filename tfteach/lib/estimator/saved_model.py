"""An Estimator's model as a SavedModel.

Source: tensorflow_estimator/python/estimator/estimator.py, export/export_lib.py.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfteach.engine.session.session import Session
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import NotFoundError
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import ExportOutput, signatures_of
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.estimator.supervised_output import EvalOutput, TrainOutput
from tfteach.lib.files.saver import Saver
from tfteach.lib.saved_model import tag_constants
from tfteach.lib.saved_model.builder import SavedModelBuilder
from tfteach.lib.saved_model.constants import TRAIN_OP_KEY
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.scaffold import Scaffold

_MAX_ATTEMPTS = 10


def _now_s() -> int:
    return int(time.time())


def timestamped_folder(base: str) -> str:
    """The path of a folder named by the time that does not exist yet.

    Raises:
      RuntimeError: the clock stands still.
    """
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        path = os.path.join(base, str(_now_s()))
        if not file_system.exists(path):
            return path
        get_logger().warning(
            f"Directory {path.encode()!r} already exists; retrying (attempt "
            f"{attempt}/{_MAX_ATTEMPTS})"
        )
        time.sleep(1)
    raise RuntimeError(
        f"Failed to obtain a unique export directory name after {_MAX_ATTEMPTS} "
        "attempts."
    )


def copy_assets(folder: str, assets_extra: Mapping[str, PathLike] | None) -> None:
    """Copy files into a SavedModel's "assets.extra": a dict of names to paths."""
    for target, source in (assets_extra or {}).items():
        place = os.path.join(folder, "assets.extra", target)
        file_system.makedirs(os.path.dirname(place))
        file_system.copy(resolve(source), place)


class ExportSettings(NamedTuple):
    """How to write a SavedModel.

    Attributes:
      folder: the directory, in which one named by the time is made.
      assets_extra: files to copy to "assets.extra": a dict of names to paths.
      as_text: whether the graph's file is text; otherwise binary.
      strip_default_attrs: whether attributes with their default value are omitted.
    """

    folder: PathLike
    assets_extra: Mapping[str, PathLike] | None
    as_text: bool
    strip_default_attrs: bool = True


# A mode -> the tag of its MetaGraph, in the order in which they are written.
EXPORT_TAG_MAP = {
    ModeKeys.TRAIN: [tag_constants.TRAINING],
    ModeKeys.EVAL: ["eval"],
    ModeKeys.PREDICT: [tag_constants.SERVING],
}

# A mode -> the key of its signature; serving has the default one.
SIGNATURE_KEY_MAP = {
    ModeKeys.TRAIN: ModeKeys.TRAIN,
    ModeKeys.EVAL: ModeKeys.EVAL,
    ModeKeys.PREDICT: DEFAULT_SERVING_SIGNATURE_DEF_KEY,
}


def export_saved_models(
    config: RunConfig,
    build: Callable[[str, Callable[[], Any]], tuple[Any, EstimatorSpec]],
    receiver_fns: Mapping[str, Callable[[], Any]],
    checkpoint_path: str,
    settings: ExportSettings,
) -> bytes:
    """Write the models of some modes, each in a new graph, as one SavedModel.

    Args:
      config: the Estimator's configuration.
      build: a function of a mode and its receiver function that builds the model in
        the current graph; it returns the receiver and the EstimatorSpec.
      receiver_fns: a dict of modes to functions that return a receiver of inputs.
      checkpoint_path: the values of the variables.
      settings: how to write it.

    Returns:
      The directory's path.

    Raises:
      ValueError: there is no mode, or the checkpoint lacks variables.
    """
    modes = [mode for mode in EXPORT_TAG_MAP if receiver_fns.get(mode)]
    if not modes:
        raise ValueError(
            f"No valid modes for exporting found. Got {receiver_fns.keys()}."
        )
    path = timestamped_folder(resolve(settings.folder))
    # A program that watches the directory is to see whole models only.
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f"temp-{name.encode()!r}")
    builder = SavedModelBuilder(unfinished)
    for mode in modes:
        with Graph().as_default() as graph, graph.device(config.device_fn):
            receiver, spec = build(mode, receiver_fns[mode])
            with Session(config=config.session_config) as session:
                model = _ExportedModel(mode, spec, receiver, session)
                model.restore(checkpoint_path)
                model.add_to(
                    builder, settings.strip_default_attrs, first=mode == modes[0]
                )
    builder.save(settings.as_text)
    copy_assets(unfinished, settings.assets_extra)
    file_system.rename(unfinished, path)
    return path.encode()


class _ExportedModel:
    """The model of one mode, in the current graph."""

    def __init__(
        self, mode: str, spec: EstimatorSpec, receiver: Any, session: Session
    ) -> None:
        self._mode, self._spec, self._session = mode, spec, session
        self._signatures = signatures_of(
            receiver.receiver_tensors,
            _outputs(mode, spec),
            getattr(receiver, "receiver_tensors_alternatives", None),
        )
        scaffold = spec.scaffold
        self._local_init = scaffold.local_init_op or Scaffold.default_local_init_op()
        self._saver = scaffold.saver or Saver(sharded=True)

    def restore(self, checkpoint_path: str) -> None:
        try:
            self._saver.restore(self._session, checkpoint_path)
        except NotFoundError as error:
            raise ValueError(
                "Could not load all requested variables from checkpoint. Please make "
                "sure your model_fn does not expect variables that were not saved in "
                f"the checkpoint.\n\nEncountered error with mode `{self._mode}` while "
                f"restoring checkpoint from: `{checkpoint_path}`. Full Traceback:\n\n"
                f"{error}"
            ) from error

    def add_to(
        self, builder: SavedModelBuilder, strip_default_attrs: bool, first: bool
    ) -> None:
        if self._spec.train_op is not None:
            get_default_graph().add_to_collection(TRAIN_OP_KEY, self._spec.train_op)
        add: Any = builder.add_meta_graph
        if first:
            add = functools.partial(builder.add_meta_graph_and_variables, self._session)
        add(
            tags=EXPORT_TAG_MAP[self._mode],
            signature_def_map=self._signatures,
            assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=self._local_init,
            strip_default_attrs=strip_default_attrs,
            saver=self._saver,
        )


def _outputs(mode: str, spec: EstimatorSpec) -> Mapping[str, ExportOutput]:
    """A mode's outputs by the names of their signatures."""
    if mode == ModeKeys.PREDICT:
        found: Mapping[str, ExportOutput] = spec.export_outputs
        return found
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    return {
        SIGNATURE_KEY_MAP[mode]: kind(spec.loss, spec.predictions, spec.eval_metric_ops)
    }
