"""Bucketize: numbers as the buckets they fall into.  Source: core/ops/math_ops.cc."""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient


class Bucketize(Op):
    """The number of boundaries that are at most x.  Source: math_ops.cc, Bucketize."""

    signature = "input: T -> output: int32"
    boundaries: tuple[float, ...]
    T = dtypes_of("int32 int64 float32 float64")

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        limits = xp.asarray(self.boundaries, xp.float32)
        if (limits[1:] < limits[:-1]).any():
            raise invalid_argument("Expected sorted boundaries")
        # As in C++, boundaries are float32, and integers are rounded to it.
        numbers = input.astype(xp.float32) if input.dtype.kind == "i" else input
        return xp.searchsorted(limits, numbers, side="right").astype(xp.int32)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]
