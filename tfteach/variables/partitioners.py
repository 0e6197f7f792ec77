"""Partitioners, which determine the number of partitions for `tf.get_variable`.

Source: python/ops/partitioned_variables.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import DType, string
from tfteach.framework.export import export
from tfteach.framework.shape import TensorShape

Partitioner = Callable[..., list[int]]


def _element_bytes(dtype: DType, of_strings: int) -> int:
    return of_strings if dtype.base_dtype is string else dtype.size


@export("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner with `num_shards` partitions along `axis`.

    Example:
      >>> cut = tf.fixed_size_partitioner(3)
      >>> table = tf.get_variable("table", [10, 4], partitioner=cut)
      >>> [part.shape.as_list() for part in table]
      [[4, 4], [3, 4], [3, 4]]
    """

    def partitioner(shape: TensorShape, **_: Any) -> list[int]:
        parts = [1] * len(shape)
        length: Any = shape.as_list()[axis]
        parts[axis] = min(num_shards, length)
        return parts

    return partitioner


@export("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """A partitioner with partitions of at most `max_shard_bytes` along `axis`.

    Args:
      max_shard_bytes: the maximum size of a partition.
      axis: the axis to partition.
      bytes_per_string_element: the assumed size of a string.
      max_shards: the maximum number of partitions, if any.

    Raises:
      ValueError: a size is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive."
        )
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if not isinstance(dtype, DType):
            raise ValueError(f"dtype is not a DType: {dtype}")
        length: Any = shape.as_list()[axis]
        element = _element_bytes(dtype, bytes_per_string_element)
        slice_bytes = (shape.num_elements() or 0) / length * element
        slices = max(1, math.floor(max_shard_bytes / slice_bytes))
        parts = [1] * len(shape)
        parts[axis] = math.ceil(length / slices)
        if max_shards:
            parts[axis] = min(max_shards, parts[axis])
        return parts

    return partitioner


@export("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """A partitioner with at most `max_partitions` of at least `min_slice_size` bytes.

    Args:
      max_partitions: the maximum number of partitions.
      axis: the axis to partition.
      min_slice_size: the minimum size of a partition in bytes.
      bytes_per_string_element: the assumed size of a string.
    """

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Can not partition variable along axis {axis} when shape is only "
                f"{shape}"
            )
        element = _element_bytes(dtype, bytes_per_string_element)
        wanted = math.ceil((shape.num_elements() or 0) * element / min_slice_size)
        length: Any = shape.as_list()[axis]
        parts = [1] * len(shape)
        parts[axis] = max(1, min(length, max_partitions, wanted))
        return parts

    return partitioner
