"""Indices where a condition holds, and selection between two arrays.

Source: core/ops/math_ops.cc (Select), core/ops/array_ops.cc (Where).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import BroadcastGradientArgs
from tfteach.ops.core.fill import zeros, zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import brackets
from tfteach.ops.math.reduce_ops import Sum


def merge_by_size(a: Shape, b: Shape) -> Shape:
    """`shapes.merge`, with TF's message about the first size that differs."""
    try:
        return shapes.merge(a, b)
    except ValueError:
        pass
    assert a is not None and b is not None
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    i = next(
        i
        for i, (m, n) in enumerate(zip(a, b, strict=True))
        if None not in (m, n) and m != n
    )
    raise ValueError(
        f"Dimension {i} in both shapes must be equal, but are {a[i]} and {b[i]}. "
        f"Shapes are {shapes.text(a)} and {shapes.text(b)}."
    )


class Where(Op):
    """The coordinates of the nonzero elements.  Source: array_ops.cc."""

    signature = "input: T -> index: int64"
    T = dtypes_of(
        "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
        "bfloat16 uint16 complex128 float16 uint32 uint64 bool"
    )
    T_default = dtypes.as_dtype("bool")
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, input: Shape) -> Shape:
        return (None, None if input is None else len(input))

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        if not input.ndim:
            raise invalid_argument("WhereOp : Unhandled input dimensions: 0")
        return xp.argwhere(input).astype(np.int64, copy=False)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class Select(Op):
    """Elements of `t` where the condition holds, otherwise of `e`.

    The condition has the shape of both, or is a scalar, or a vector with an entry per
    row.
    Source: core/ops/math_ops.cc, Select.
    """

    signature = "condition: bool, t: T, e: T -> output: T"
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, condition: Shape, t: Shape, e: Shape) -> Shape:
        both = merge_by_size(t, e)
        if condition is None or not condition or both is None:
            return both
        if len(condition) == 1:
            if not both:
                merge_by_size(condition, both)
            merge_by_size(condition, both[:1])
            return both
        return merge_by_size(both, condition)

    def compute(self, xp: ArrayModule, condition: Any, t: Any, e: Any) -> Any:
        by_row = condition.ndim == 1 and t.ndim > 1
        if by_row and len(condition) != len(t):
            raise invalid_argument(
                "Number of batches of 'then' must match size of 'cond', but saw: "
                f"{len(t)} vs. {len(condition)}"
            )
        if (by_row or not condition.ndim) and t.shape != e.shape:
            raise invalid_argument(
                "'then' and 'else' must have the same size.  but received: "
                f"{brackets(t)} vs. {brackets(e)}"
            )
        if by_row:
            condition = condition.reshape((-1,) + (1,) * (t.ndim - 1))
        elif condition.ndim:
            for i, other in enumerate((t, e), 1):
                if condition.shape != other.shape:
                    raise invalid_argument(
                        "Inputs to operation {name} of type Select must have the same "
                        f"size and shape.  Input 0: {brackets(condition)} != input "
                        f"{i}: {brackets(other)}"
                    )
        return xp.where(condition, t, e)

    def scalar_expression(self, condition: str, t: str, e: str) -> str:
        return f"({t} if {condition} else {e})"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        condition, t, _ = op.inputs
        nothing = zeros_like(t)
        return [None, where(condition, grad, nothing), where(condition, nothing, grad)]


class SelectV2(Op):
    """Select with broadcasting.  Source: core/ops/math_ops.cc, SelectV2."""

    signature = "condition: bool, t: T, e: T -> output: T"
    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    card_formula: ClassVar[str | None] = "({1} if {0} else {2})"

    def infer_shape(self, condition: Shape, t: Shape, e: Shape) -> Shape:
        return shapes.broadcast(condition, shapes.broadcast(t, e))

    def compute(self, xp: ArrayModule, condition: Array, t: Array, e: Array) -> Any:
        try:
            return xp.where(condition, t, e)
        except ValueError:
            raise invalid_argument(
                f"condition {brackets(condition)}, then {brackets(t)}, and else "
                f"{brackets(e)} must be broadcastable"
            ) from None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        condition, t, e = op.inputs
        nothing = zeros([], dtype=grad.dtype.base_dtype)
        t_grad = where_v2(condition, grad, nothing)
        t_shape, whole = shape(t), shape(op.outputs[0])
        t_grad = _reduced(t_grad, t_shape, whole)
        e_grad = where_v2(condition, nothing, grad)
        return [None, t_grad, _reduced(e_grad, shape(e), whole)]


def _reduced(grad: Tensor, wanted: Tensor, whole: Tensor) -> Tensor:
    axes, _ = BroadcastGradientArgs()(wanted, whole)
    return reshape(Sum(keep_dims=True)(grad, axes), wanted)


@export("where")
def where(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The coordinates where a condition holds, or a selection between two tensors.

    Args:
      condition: bool Tensor; with `x` and `y` of their shape, or a scalar, or a vector
        that selects whole rows.
      x, y: Tensors of one shape and type, or both None.
      name: the op's name.

    Returns:
      int64 Tensor [n, rank] of coordinates in row-major order; with `x` and `y` a
      Tensor like them.

    Raises:
      ValueError: only one of `x` and `y` is given, or the shapes are incompatible.

    Source: Where in core/ops/array_ops.cc, Select in core/ops/math_ops.cc.
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert(condition, None, "condition", dtypes.as_dtype("bool"))
            return Where()(condition, name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return Select()(condition, x, y, name=name)


@export("where_v2", v2="where")
def where_v2(
    condition: TensorLike,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`where` with broadcasting of its three inputs.

    Args:
      condition: bool Tensor.
      x, y: Tensors of one type, or both None.
      name: the op's name.

    Returns:
      As `where`.

    Raises:
      ValueError: only one of `x` and `y` is given.

    Source: SelectV2 in core/ops/math_ops.cc.
    """
    if x is None or y is None:
        return where(condition, x, y, name)
    return SelectV2()(condition, x, y, name=name)
