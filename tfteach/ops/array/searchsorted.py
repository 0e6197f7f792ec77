"""`tf.searchsorted`: binary search in sorted rows.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, int32
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape


class _Bound(Op, abstract=True):
    side: ClassVar[str]
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, sorted_inputs: Shape, values: Shape) -> Shape:
        shapes.with_rank(sorted_inputs, 2)
        shapes.with_rank(values, 2)
        return values

    def check_shapes(
        self, sorted_inputs: tuple[int, ...], values: tuple[int, ...]
    ) -> None:
        message = "Leading dim_size of both tensors must match."
        require(sorted_inputs and sorted_inputs[:1] == values[:1], message)

    def compute(self, xp: ArrayModule, sorted_inputs: Array, values: Array) -> Any:
        rows = [
            xp.searchsorted(row.reshape(-1), row_values, self.side)
            for row, row_values in zip(sorted_inputs, values, strict=True)
        ]
        dtype = self.out_type.numpy_dtype  # type: ignore[attr-defined]
        if not rows:
            return xp.zeros(values.shape, dtype)
        return xp.stack(rows).astype(dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None]


class LowerBound(_Bound):
    """Insertion points in sorted rows, before equals.  Source: LowerBound."""

    signature = "sorted_inputs: T, values: T -> output: out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    side: ClassVar[str] = "left"


class UpperBound(_Bound):
    """Insertion points in sorted rows, after equals.  Source: UpperBound."""

    signature = "sorted_inputs: T, values: T -> output: out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    side: ClassVar[str] = "right"


@export("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Insertion points of values in sorted rows.

    Args:
      sorted_sequence: Tensor [..., n], every row sorted.
      values: Tensor [..., m].
      side: "left" (before equal elements) or "right" (after them).
      out_type: int32 or int64.
      name: the op's name.

    Returns:
      A Tensor like `values`.

    Raises:
      ValueError: `side` is neither "left" nor "right".

    Source: LowerBound and UpperBound in core/ops/array_ops.cc.
    """
    sequence_size = shape(sorted_sequence)[-1]
    values_size = shape(values)[-1]
    sequence_2d = reshape(sorted_sequence, [-1, sequence_size])
    values_2d = reshape(values, [-1, values_size])
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    op: Any = LowerBound if side == "left" else UpperBound
    output = op(as_dtype(out_type))(sequence_2d, values_2d, name=name)
    return reshape(output, shape(values))
