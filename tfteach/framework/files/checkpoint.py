"""Checkpoints of either version, told apart by their files.

Source: core/util/tensor_slice_reader.cc, core/kernels/save_restore_v2_ops.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.saved_tensor_slices import TensorSliceReader
from tfteach.framework.files.tensor_bundle import (
    index_path,
    read_bundle,
)
from tfteach.framework.files.tensor_slice import SliceSpec

_T = TypeVar("_T", covariant=True)


class CheckpointReader(Protocol):
    """What can be asked of an open checkpoint of either version."""

    def __contains__(self, name: str) -> bool: ...
    def types_and_shapes(self) -> Mapping[str, tuple[DType, tuple[int, ...]]]: ...
    def dtype_of(self, name: str) -> DType: ...
    def read(self, name: str) -> np.ndarray[Any, Any]: ...
    def read_slice(self, name: str, spec: SliceSpec) -> np.ndarray[Any, Any]: ...


def is_version_2(prefix: str) -> bool:
    """Whether a checkpoint of that prefix has an index."""
    return file_system.exists(index_path(resolve(prefix)))


def read_checkpoint(prefix: str, read: Callable[[Any], _T]) -> _T:
    """`read(reader)` of a checkpoint of either version.

    Args:
      prefix: its path, as it was given to `save`; of version 1 also a pattern.
      read: reads all that is wanted; the checkpoint is then closed.

    Raises:
      NotFoundError: there is no such checkpoint.
      DataLossError: it is damaged, or is none.
    """
    if is_version_2(prefix):
        return read_bundle(prefix, read)
    with TensorSliceReader(prefix) as reader:
        return read(reader)
