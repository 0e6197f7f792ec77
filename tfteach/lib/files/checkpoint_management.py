"""The file `checkpoint` beside a model's checkpoints, which lists them.

Source: python/training/checkpoint_management.py, checkpoint_state.proto.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Sequence
from typing import Any

from tfteach.framework.errors import NotFoundError, OpError
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.files.tensor_bundle import index_path
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import pool
from tfteach.framework.protos.text_format import message_text
from tfteach.framework.type_aliases import PathLike, Proto

STATE_FILE = "checkpoint"


@export("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Proto:
    """A CheckpointState proto, which lists a model's checkpoints.

    Args:
      save_dir: the directory of the state file.
      model_checkpoint_path: the newest checkpoint.
      all_model_checkpoint_paths: all of them, the oldest first; the newest is appended
        if it is not the last.
      all_model_checkpoint_timestamps: when each was written, in seconds since 1970.
      last_preserved_timestamp: when the last one was written that is never deleted.

    Returns:
      The proto.  Its paths are relative to `save_dir` if that is relative.

    Raises:
      ValueError: the numbers of paths and timestamps differ.

    Example:
      >>> tf.train.generate_checkpoint_state_proto("logs", "logs/model-7")

    Source: python/training/checkpoint_management.py.
    """
    newest = os.fspath(model_checkpoint_path)
    paths = [os.fspath(path) for path in all_model_checkpoint_paths or ()]
    times = all_model_checkpoint_timestamps
    if not paths or paths[-1] != newest:
        get_logger().info(
            f"{newest} is not in all_model_checkpoint_paths. Manually adding it."
        )
        paths.append(newest)
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got "
            f"paths {paths} and timestamps {list(times)})"
        )
    folder = os.fspath(save_dir)
    if not _is_absolute(folder):
        paths = [_relative(path, folder) for path in paths]
        newest = _relative(newest, folder)
    return pool.message("CheckpointState")(
        model_checkpoint_path=newest,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def _relative(path: str, folder: str) -> str:
    return path if _is_absolute(path) else os.path.relpath(path, folder)


def _is_absolute(path: str) -> bool:
    return os.path.isabs(path) or file_system.is_remote(path)


@export("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the file that lists a model's checkpoints.

    Args:
      save_dir: its directory.
      latest_filename: its name ("checkpoint").
      model_checkpoint_path, all_model_checkpoint_paths,
        all_model_checkpoint_timestamps, last_preserved_timestamp: as in
        `tf.train.generate_checkpoint_state_proto`.

    Raises:
      RuntimeError: the file would replace a checkpoint of the same name.

    Source: python/training/checkpoint_management.py.
    """
    write_checkpoint_state(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        False,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def write_checkpoint_state(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """`update_checkpoint_state`, whose paths may be relative to an absolute directory.

    Args:
      save_relative_paths: whether absolute paths become relative to `save_dir`.
    """
    folder, newest = os.fspath(save_dir), os.fspath(model_checkpoint_path)
    state_path = os.path.join(folder, latest_filename or STATE_FILE)
    paths: Sequence[Any] = all_model_checkpoint_paths or ()
    if save_relative_paths:
        newest = os.path.relpath(newest, folder) if _is_absolute(newest) else newest
        paths = [
            os.path.relpath(p, folder) if _is_absolute(p) else p
            for p in map(os.fspath, paths)
        ]
    state = generate_checkpoint_state_proto(
        folder,
        newest,
        paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    if state_path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{newest}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    write_file(state_path, message_text(state).encode())


@export("train.get_checkpoint_state")
def get_checkpoint_state(
    checkpoint_dir: PathLike, latest_filename: str | None = None
) -> Proto | None:
    """The CheckpointState proto of a directory; its paths lead there from here.

    Args:
      checkpoint_dir: the directory.
      latest_filename: the name of the file ("checkpoint").

    Returns:
      The proto; None if there is no such file, or it cannot be read.

    Source: python/training/checkpoint_management.py.
    """
    from google.protobuf import text_format

    folder = os.fspath(checkpoint_dir)
    path = os.path.join(folder, latest_filename or STATE_FILE)
    name = resolve(path)
    if not file_system.exists(name):
        return None
    try:
        with open_file(name, "rb") as file:
            text = file.read().decode()
        state: Any = text_format.Merge(text, pool.message("CheckpointState")())
    except (OSError, OpError, text_format.ParseError, UnicodeDecodeError) as error:
        get_logger().warning(f"{type(error).__name__}: {error}")
        get_logger().warning(f"{path}: Checkpoint ignored")
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    state.model_checkpoint_path = _joined(folder, state.model_checkpoint_path)
    joined = [_joined(folder, p) for p in state.all_model_checkpoint_paths]
    state.all_model_checkpoint_paths[:] = joined
    return state


def _joined(folder: str, path: str) -> str:
    return path if _is_absolute(path) else os.path.join(folder, path)


@export("train.latest_checkpoint")
def latest_checkpoint(
    checkpoint_dir: PathLike, latest_filename: str | None = None
) -> str | None:
    """The path of a directory's newest checkpoint.

    Args:
      checkpoint_dir: the directory.
      latest_filename: the name of the file that lists the checkpoints ("checkpoint").

    Returns:
      What `Saver.restore` accepts; None if there is no checkpoint.

    Example:
      >>> path = tf.train.latest_checkpoint("logs")
      >>> if path:
      ...     saver.restore(session, path)

    Source: python/training/checkpoint_management.py.
    """
    state: Proto = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not state.model_checkpoint_path:
        return None
    path: str = state.model_checkpoint_path
    if is_checkpoint(path):
        return path
    get_logger().error(f"Couldn't match files for checkpoint {path}")
    return None


# ---- the files of a checkpoint


def is_checkpoint(prefix: str) -> bool:
    """Whether there is a checkpoint of that prefix, of either version."""
    return _main_file(prefix) is not None


def _main_file(prefix: str) -> str | None:
    """The file that shows that a checkpoint exists; None if there is none."""
    path = resolve(prefix)
    for exact in (index_path(path), path):
        if file_system.exists(exact) and not file_system.isdir(exact):
            return exact
    # Files of version 1 may be several: "model-?????-of-00002".
    for pattern in (index_path(path), path):
        found = file_system.glob(pattern)
        if found:
            return found[0]
    return None


def modification_times(prefixes: Sequence[PathLike]) -> list[float]:
    """When the checkpoints that exist were written, in seconds since 1970."""
    files = [_main_file(os.fspath(prefix)) for prefix in prefixes]
    return [file_system.stat(file).mtime_nsec / 1e9 for file in files if file]


def meta_graph_filename(checkpoint: str, meta_graph_suffix: str = "meta") -> str:
    """The file of a checkpoint's graph; of version 1, all files share one."""
    prefix = re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint)
    return f"{prefix}.{meta_graph_suffix}"


def delete_checkpoint(
    prefix: str, version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Delete a checkpoint's files, and that of its graph; missing ones are ignored."""
    path = resolve(prefix)
    _delete(meta_graph_filename(path, meta_graph_suffix))
    if version == 2:
        _delete(index_path(path))
        _delete_matching(f"{glob.escape(path)}.data-?????-of-?????")
    elif file_system.exists(path):
        _delete(path)
    else:
        _delete_matching(path)


def delete_data_files(prefix: str) -> None:
    """Delete a checkpoint of version 2, but not the file of its graph."""
    path = resolve(prefix)
    _delete(index_path(path))
    _delete_matching(f"{glob.escape(path)}.data-?????-of-?????")


def _delete_matching(pattern: str) -> None:
    for name in file_system.glob(pattern):
        _delete(name)


def _delete(path: str) -> None:
    with contextlib.suppress(NotFoundError):
        file_system.remove(path)


@export("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix: PathLike) -> bool:
    """Whether there is a checkpoint of that prefix, of either version.

    Args:
      checkpoint_prefix: the path that `Saver.save` returned.

    Example:
      >>> tf.train.checkpoint_exists("logs/model-7")
      False

    Source: python/training/checkpoint_management.py.
    """
    return is_checkpoint(os.fspath(checkpoint_prefix))


@export("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[PathLike]) -> list[float]:
    """When checkpoints were written, in seconds since 1970.

    Args:
      checkpoint_prefixes: their paths.

    Returns:
      The times of those that exist.

    Source: python/training/checkpoint_management.py.
    """
    return modification_times(checkpoint_prefixes)


@export("train.remove_checkpoint")
def remove_checkpoint(
    checkpoint_prefix: PathLike,
    checkpoint_format_version: int = 2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Delete a checkpoint's files; missing ones are ignored.

    Args:
      checkpoint_prefix: its path.
      checkpoint_format_version: `tf.train.SaverDef.V2` or V1.
      meta_graph_suffix: the ending of the file with its graph, which is deleted, too.

    Raises:
      PermissionDeniedError: the directory cannot be written to.

    Source: python/training/checkpoint_management.py.
    """
    delete_checkpoint(
        os.fspath(checkpoint_prefix), checkpoint_format_version, meta_graph_suffix
    )
