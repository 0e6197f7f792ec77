"""An Estimator's model as a SavedModel.

Source: tensorflow_estimator/python/estimator/estimator.py, export/export_lib.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection, set_random_seed
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import export_outputs_of, signatures_of
from tfteach.lib.files.saver import Saver
from tfteach.lib.saved_model import tag_constants
from tfteach.lib.saved_model.builder import SavedModelBuilder
from tfteach.lib.training.global_step import create_global_step
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


def export_saved_model(
    estimator: Any,
    call_model_fn: Callable[..., EstimatorSpec],
    export_dir_base: PathLike,
    receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, PathLike] | None,
    as_text: bool,
    checkpoint_path: str,
    strip_default_attrs: bool,
) -> bytes:
    """Write the model as it predicts; returns its directory's path."""
    config = estimator.config
    path = timestamped_folder(resolve(export_dir_base))
    # A program that watches the directory is to see whole models only.
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f"temp-{name.encode()!r}")
    builder = SavedModelBuilder(unfinished)
    with Graph().as_default() as graph, graph.device(config.device_fn):
        create_global_step(graph)
        set_random_seed(config.tf_random_seed)
        receiver = receiver_fn()
        spec = call_model_fn(receiver.features, None, "infer", config)
        signatures = signatures_of(
            receiver.receiver_tensors,
            export_outputs_of(spec.export_outputs, spec.predictions),
            receiver.receiver_tensors_alternatives,
        )
        with Session(config=config.session_config) as session:
            local_init = spec.scaffold.local_init_op or Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(
                session,
                tags=[tag_constants.SERVING],
                signature_def_map=signatures,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
                main_op=local_init,
                strip_default_attrs=strip_default_attrs,
                saver=saver,
            )
    builder.save(as_text)
    copy_assets(unfinished, assets_extra)
    file_system.rename(unfinished, path)
    return path.encode()
