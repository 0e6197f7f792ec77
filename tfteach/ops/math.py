"""Element-wise arithmetic."""

from __future__ import annotations

from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.shape import Shape

NUMBERS = dtypes_of("float32 float64 int32")


class Add(Op):
    """x + y"""

    signature = "x: T, y: T -> z: T"

    def infer_shape(self, x: Shape, y: Shape) -> Shape:
        return shapes.broadcast(x, y)

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return xp.add(x, y)

    def expression(self, x: str, y: str) -> str:
        return f"{x} + {y}"


@export("add")
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y"""
    return Add()(x, y, name=name)
