"""Shapes, ranks and sizes; the answers are written out."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.sample_arrays import Z, f32, i32
from tfteach.framework.dtypes import int64
from tfteach.ops.core.shape_ops import EnsureShape, Rank, Shape_, ShapeN, Size

CASES = [
    Case(EnsureShape((None, 3, 5)), (Z,), Z),
    Case(Shape_(), (Z,), i32(4, 3, 5), gradient=False),
    Case(Shape_(int64), (Z,), [4, 3, 5], "int64", gradient=False),
    Case(ShapeN(), ([Z, f32(2, 7, 1)],), (i32(4, 3, 5), i32(2, 7, 1)), gradient=False),
    Case(Size(), (Z,), 60, gradient=False),
    Case(Rank(), (Z,), 3, gradient=False),
]  # fmt: skip
