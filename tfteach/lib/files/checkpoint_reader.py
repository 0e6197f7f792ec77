"""What is in a checkpoint: `tf.train.NewCheckpointReader`, `tf.train.list_variables`.

Source: python/training/checkpoint_utils.py, c/checkpoint_reader.cc.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import DataLossError, NotFoundError
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.checkpoint import is_version_2, read_checkpoint
from tfteach.framework.files.saved_tensor_slices import TensorSliceReader
from tfteach.framework.files.tensor_bundle import BundleReader, read_bundle
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Array, PathLike
from tfteach.lib.files import checkpoint_management as management

_DATA_TYPES = {"float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE"}
OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


class CheckpointReader:
    """Reads single tensors of a checkpoint; made by `tf.train.NewCheckpointReader`.

    If another program replaces the checkpoint meanwhile, each tensor is the old one or
    the new one.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        if is_version_2(path):
            # What others may replace at this moment, this waits for.
            self._types = read_bundle(path, lambda reader: reader.types_and_shapes())
            self._reader: Any = BundleReader(path)
        else:
            self._reader = TensorSliceReader(path)
            self._types = self._reader.types_and_shapes()

    def __del__(self) -> None:
        reader = self.__dict__.get("_reader")
        if reader is not None:
            reader.close()

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether the checkpoint has a tensor of that name."""
        return _text(tensor_str) in self._types

    def get_tensor(self, tensor_str: str) -> Array:
        """The value of a tensor; of a partitioned variable, all of it.

        Raises:
          NotFoundError: there is no tensor of that name.
          DataLossError: it is damaged.

        Example:
          >>> reader = tf.train.NewCheckpointReader("logs/model-7")
          >>> reader.get_tensor("layer/kernel")
        """
        name = _text(tensor_str)
        try:
            with self._lock:
                array = self._reader.read(name)
        except DataLossError:  # another program may have replaced one of the files
            array = read_checkpoint(self._path, lambda reader: reader.read(name))
        result: Array = array[()]
        return result

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each tensor, by name."""
        return {name: list(shape) for name, (_, shape) in self._types.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of each tensor, by name."""
        return {name: dtype for name, (dtype, _) in self._types.items()}

    def debug_string(self) -> bytes:
        """A line for each tensor: `name (DT_FLOAT) [2,3]`, perhaps `, 2 slices`."""
        lines = []
        for name, (dtype, shape) in self._types.items():
            kind = _DATA_TYPES.get(dtype.name, dtype.name.upper())
            slices = self._reader.count_slices(name)
            sizes = ",".join(map(str, shape))
            more = f", {slices} slices" if slices else ""
            lines.append(f"{name} (DT_{kind}) [{sizes}]{more}\n")
        return "".join(lines).encode()


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


@export("train.NewCheckpointReader")
def new_checkpoint_reader(filepattern: PathLike) -> CheckpointReader:
    """A reader of a checkpoint's single tensors, without a graph.

    Args:
      filepattern: the path that `Saver.save` returned.

    Returns:
      An object with the methods `has_tensor(name)`, `get_tensor(name)`,
      `get_variable_to_shape_map()`, `get_variable_to_dtype_map()` and
      `debug_string()`, a bytes object with a line for each tensor.

    Raises:
      NotFoundError: there is no such checkpoint.
      DataLossError: its index is damaged, or it is a file of another kind.

    Example:
      >>> reader = tf.train.NewCheckpointReader("logs/model-7")
      >>> reader.get_variable_to_shape_map()
      {'layer/bias': [10], 'layer/kernel': [784, 10]}

    Source: c/checkpoint_reader.cc.
    """
    return CheckpointReader(os.fsdecode(filepattern))


# ---- by the directory


def checkpoint_path(ckpt_dir_or_file: PathLike) -> str | None:
    """The path of a checkpoint; of a directory, the newest one's, or None."""
    path = os.fsdecode(ckpt_dir_or_file)
    is_folder = file_system.isdir(file_system.resolve(path))
    return management.latest_checkpoint(path) if is_folder else path


@export("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: PathLike) -> CheckpointReader:
    """A reader of a checkpoint; see `tf.train.NewCheckpointReader`.

    Args:
      ckpt_dir_or_file: the checkpoint's path, or a directory, whose newest one is read.

    Raises:
      ValueError: the directory has no checkpoint.
      NotFoundError: there is no such checkpoint.

    Example:
      >>> tf.train.load_checkpoint("logs").get_variable_to_dtype_map()

    Source: python/training/checkpoint_utils.py.
    """
    path = checkpoint_path(ckpt_dir_or_file)
    if path is None:
        raise ValueError(
            "Couldn't find 'checkpoint' file or checkpoints in given directory "
            f"{os.fsdecode(ckpt_dir_or_file)}"
        )
    return CheckpointReader(path)


@export("train.load_variable")
def load_variable(ckpt_dir_or_file: PathLike, name: str) -> Array:
    """The value of a variable in a checkpoint, an array.

    Args:
      ckpt_dir_or_file: the checkpoint's path, or a directory, whose newest one is read.
      name: the variable's name; ":0" at its end is ignored.

    Raises:
      ValueError: the directory has no checkpoint.
      NotFoundError: there is no such checkpoint, or no such variable in it.

    Example:
      >>> tf.train.load_variable("logs", "layer/bias")

    Source: python/training/checkpoint_utils.py.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@export("train.list_variables")
def list_variables(ckpt_dir_or_file: PathLike) -> list[tuple[str, list[int]]]:
    """The variables in a checkpoint, as (name, shape), sorted by name.

    Args:
      ckpt_dir_or_file: the checkpoint's path, or a directory, whose newest one is read.

    Raises:
      ValueError: the directory has no checkpoint.
      NotFoundError: there is no such checkpoint.

    Example:
      >>> for name, shape in tf.train.list_variables("logs"):
      ...     print(name, shape)

    Source: python/training/checkpoint_utils.py.
    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())


def keys_by_variable_name(path: str) -> dict[str, str]:
    """Names in the graph -> names in a checkpoint of `tf.train.Checkpoint`.

    Raises:
      NotFoundError: the checkpoint is a Saver's.
    """

    def read(reader: Any) -> Any:
        if OBJECT_GRAPH_KEY not in reader:
            raise NotFoundError(
                None, None, f"Key {OBJECT_GRAPH_KEY} not found in checkpoint"
            )
        return reader.read(OBJECT_GRAPH_KEY)[()]

    graph = pool.message("TrackableObjectGraph").FromString(read_checkpoint(path, read))
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
    }


# ---- waiting for the next


@export("contrib.training.wait_for_new_checkpoint")
def wait_for_new_checkpoint(
    checkpoint_dir: PathLike,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The path of a checkpoint in a directory once it is another than the last.

    Args:
      checkpoint_dir: the directory.
      last_checkpoint: the last known checkpoint; None if there is none.
      seconds_to_sleep: the interval of looking for it, in seconds.
      timeout: how long to wait, in seconds; None means for ever.

    Returns:
      The path; None after `timeout` seconds.

    Source: python/training/checkpoint_utils.py.
    """
    get_logger().info(f"Waiting for new checkpoint at {os.fspath(checkpoint_dir)}")
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = management.latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            get_logger().info(f"Found new checkpoint at {found}")
            return found
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


@export("train.checkpoints_iterator", "contrib.training.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: PathLike,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The paths of a directory's checkpoints as they appear, one after the other.

    Args:
      checkpoint_dir: the directory.
      min_interval_secs: how long to wait at least after each, in seconds.
      timeout: how long to wait for the next, in seconds; None means for ever.
      timeout_fn: called then: True ends the iteration, False waits again; None ends it.

    Yields:
      Paths, as `Saver.restore` accepts them.

    Example:
      >>> for path in tf.train.checkpoints_iterator("logs", timeout=60):
      ...     evaluate(path)

    Source: python/training/checkpoint_utils.py.
    """
    last: str | None = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is not None:
            start = time.monotonic()
            last = found
            yield found
            time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))
        elif timeout_fn is None:
            get_logger().info("Timed-out waiting for a checkpoint.")
            return
        elif timeout_fn():
            return
