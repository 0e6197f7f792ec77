"""Rows distributed to several arrays, and interleaved again.

Source: core/ops/data_flow_ops.cc, python/ops/data_flow_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather import gather, position
from tfteach.ops.array.segment_ops import UnsortedSegmentSum
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import all_axes, shape
from tfteach.ops.core.stack_unstack import brackets
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import Prod


class DynamicPartition(MultiOutputOp):
    """Rows distributed by partition number.  Source: DynamicPartition."""

    signature = "data: T, partitions: int32 -> outputs: num_partitions*T"
    num_partitions: int
    minimum: ClassVar[dict[str, int]] = {"num_partitions": 1}

    def infer_shape(self, data: Shape, partitions: Shape) -> list[Shape]:
        if data is None or partitions is None:
            return [None] * self.num_partitions
        shapes.merge(data[: len(partitions)], partitions)
        return [(None, *data[len(partitions) :])] * self.num_partitions

    def compute(self, xp: ArrayModule, data: Array, partitions: Array) -> Any:
        depth = partitions.ndim
        if data.shape[:depth] != partitions.shape:
            raise invalid_argument(
                "data.shape must start with partitions.shape, got data.shape = "
                f"{brackets(data)}, partitions.shape = {brackets(partitions)}"
            )
        bad = (partitions < 0) | (partitions >= self.num_partitions)
        if bool(bad.any()):
            value = partitions.reshape(-1)[int(xp.argmax(bad))]
            raise invalid_argument(
                f"partitions{position(partitions, bad)} = {value} is not in "
                f"[0, {self.num_partitions})"
            )
        rows = data.reshape((partitions.size, *data.shape[depth:]))
        parts = partitions.reshape(-1)
        return tuple(rows[parts == i] for i in range(self.num_partitions))

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        data, parts = op.inputs
        prefix = shape(parts)
        count = Prod()(prefix, all_axes(prefix))
        numbers = reshape(range_of(0, count), prefix)
        dealt = self(numbers, parts)
        whole = DynamicStitch()(dealt, list(grads))
        return [reshape(whole, shape(data)), None]


class DynamicStitch(Op):
    """Rows placed by index; the last of equal indices wins.  Source: DynamicStitch."""

    signature = "indices: N*int32, data: N*T -> merged: T"

    by_value_or_shape: ClassVar[tuple[str, ...]] = ("indices",)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, indices: list[Any], data: list[Shape]) -> Shape:
        inner: Shape = None
        known = [w for w in indices if isinstance(w, np.ndarray)]
        for index, rows in zip(indices, data, strict=True):
            where = index.shape if isinstance(index, np.ndarray) else index
            if where is not None and rows is not None:
                shapes.merge(rows[: len(where)], where)
                inner = shapes.merge(inner, rows[len(where) :])
        count = max((int(w.max()) + 1 for w in known if w.size), default=0)
        whole = count if len(known) == len(indices) else None
        return None if inner is None else (whole, *inner)

    def compute(self, xp: ArrayModule, *arrays: Any) -> Any:
        count = len(arrays) // 2
        indices, data = arrays[:count], arrays[count:]
        inner = data[0].shape[indices[0].ndim :]
        for i in range(count):
            depth = indices[i].ndim
            if data[i].shape[:depth] != indices[i].shape:
                raise invalid_argument(
                    f"data[{i}].shape = {brackets(data[i])} does not start with "
                    f"indices[{i}].shape = {brackets(indices[i])}"
                )
            if data[i].shape[depth:] != inner:
                raise invalid_argument(
                    f"Need data[0].shape[{indices[0].ndim}:] = "
                    f"data[{i}].shape[{depth}:], "
                    f"got data[0].shape = {brackets(data[0])}, data[{i}].shape = "
                    f"{brackets(data[i])}, indices[0].shape = {brackets(indices[0])}, "
                    f"indices[{i}].shape = {brackets(indices[i])}"
                )
        for i, where in enumerate(indices):
            if where.size and int(where.min()) < 0:
                at = position(where, where < 0)
                raise invalid_argument(f"indices[{at[1:-1] or i}] is out of range")
        rows = max((int(w.max()) + 1 for w in indices if w.size), default=0)
        empty = b"" if data[0].dtype.hasobject else 0
        merged = xp.full((rows, *inner), empty, data[0].dtype)
        for where, part in zip(indices, data, strict=True):
            merged[where] = part
        return merged

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        count = len(op.inputs) // 2
        if isinstance(grad, IndexedSlices):
            rows = shape(op.outputs[0])[0]
            grad = UnsortedSegmentSum()(grad.values, grad.indices, rows)
        return [*[None] * count, *(gather(grad, op.inputs[i]) for i in range(count))]


@export("dynamic_partition")
def dynamic_partition(
    data: TensorLike,
    partitions: TensorLike,
    num_partitions: int,
    name: str | None = None,
) -> list[Tensor]:
    """Rows distributed to several tensors.

    Args:
      data: Tensor of shape partitions.shape + [...].
      partitions: int32 Tensor, the partition number of each row.
      num_partitions: the number of partitions.
      name: the op's name.

    Returns:
      A list of Tensors [?, ...].

    Raises:
      InvalidArgumentError: a partition number is not below `num_partitions`.

    Source: DynamicPartition in core/ops/data_flow_ops.cc.
    """
    return DynamicPartition(num_partitions)(data, partitions, name=name)


@export("dynamic_stitch")
def dynamic_stitch(
    indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None
) -> Tensor:
    """Rows of several tensors, placed by index.

    `merged[indices[m][i], ...] = data[m][i, ...]`; of equal indices the last wins.

    Args:
      indices: a list of int32 Tensors.
      data: a list of Tensors of shape indices[m].shape + [...].
      name: the op's name.

    Returns:
      A Tensor [largest index + 1, ...].

    Raises:
      ValueError: the lists differ in length.

    Source: DynamicStitch in core/ops/data_flow_ops.cc.
    """
    if len(indices) != len(data):
        raise ValueError(
            f"List argument 'data' to 'dynamic_stitch' Op with length {len(data)} must "
            f"match length {len(indices)} of argument 'indices'."
        )
    return DynamicStitch()(indices, data, name=name)
