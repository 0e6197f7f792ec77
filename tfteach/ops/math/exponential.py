"""Exponentials, logarithms, sigmoid and hyperbolic tangent.

Source: core/ops/math_ops.cc, core/kernels/cwise_ops.h, python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.op_rules import Piece
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import after
from tfteach.ops.core.sparse_tensor import also_sparse
from tfteach.ops.math import vector_exp
from tfteach.ops.math.unary import (
    FIELD,
    Adjoint,
    Unary,
    by_all_threads,
    conj,
    number,
    reciprocal,
)


class Exp(Unary):
    """e to the power x.  Source: math_ops.cc, Exp."""

    T = FIELD
    card_formula: ClassVar[str | None] = "exp({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return by_all_threads(xp, "exp", x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * conj(op.outputs[0])]


@export("math.exp", "exp")
def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise exponential.

    y = eˣ

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.exp([0.0, 1.0]))
      array([1.      , 2.718282], dtype=float32)

    Source: Exp in core/ops/math_ops.cc.
    """
    return Exp()(x, name=name)


class Expm1(Unary):
    """eˣ - 1, accurate near 0.  Source: math_ops.cc, Expm1."""

    T = FIELD
    card_formula: ClassVar[str | None] = "expm1({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.expm1(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * exp(conj(op.inputs[0]))]


@export("math.expm1", "expm1")
def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """Exponential minus one, accurate for small x.

    y = eˣ - 1

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.expm1([0.0, 1.0]))
      array([0.       , 1.7182819], dtype=float32)

    Source: Expm1 in core/ops/math_ops.cc.
    """
    return Expm1()(x, name=name)


class Log(Unary):
    """The natural logarithm.  Source: math_ops.cc, Log."""

    T = FIELD
    card_formula: ClassVar[str | None] = "log({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.log(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * reciprocal(conj(op.inputs[0]))]


@export("math.log", "log")
def log(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise natural logarithm.

    y = ln x; -inf at 0, nan below

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.log([1.0, 2.0]))
      array([0.       , 0.6931472], dtype=float32)

    Source: Log in core/ops/math_ops.cc.
    """
    return Log()(x, name=name)


class Log1p(Unary):
    """ln(1 + x), accurate near 0.  Source: math_ops.cc, Log1p."""

    T = FIELD
    card_formula: ClassVar[str | None] = "log1p({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return xp.log1p(x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            x = conj(op.inputs[0])
            return [grad * reciprocal(1 + x)]


@export("math.log1p", "log1p")
def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """Logarithm of one plus x, accurate for small x.

    y = ln(1 + x)

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.log1p([0.0, 1.0]))
      array([0.       , 0.6931472], dtype=float32)

    Source: Log1p in core/ops/math_ops.cc.
    """
    return Log1p()(x, name=name)


class Sigmoid(Unary):
    """1 / (1 + e⁻ˣ).  Source: math_ops.cc, Sigmoid."""

    T = FIELD
    card_formula: ClassVar[str | None] = "1 / (1 + exp(-{0}))"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        if vector_exp.applies(x.size, x.dtype):
            return vector_exp.sigmoid(x)
        return self.compute_on_card(xp, x)

    def compute_on_card(self, xp: ArrayModule, x: Array) -> Any:
        one = number(x, 1)
        if not getattr(x, "ndim", 0):
            return one / (one + xp.exp(-x))
        y = xp.negative(x)  # one array, reused for all four steps
        xp.exp(y, out=y)
        y += one
        return xp.divide(one, y, out=y)

    def pieces(self, size: int, dtype: np.dtype[Any]) -> tuple[Piece, ...]:
        if vector_exp.applies(size, dtype):
            return ()
        return (
            Piece(np.negative, "-{0}"),
            Piece(lambda y: np.exp(y, out=y), None),
            Piece(lambda y: number(y, 1) / (number(y, 1) + y), "1 / (1 + {0})"),
        )

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [SigmoidGrad()(conj(op.outputs[0]), grad)]


class SigmoidGrad(Adjoint):
    """dy * y * (1 - y).  Source: math_ops.cc, SigmoidGrad."""

    def compute(self, xp: ArrayModule, y: Array, dy: Array) -> Any:
        return dy * y * (number(y, 1) - y)

    def scalar_expression(self, y: str, dy: str) -> str:
        return f"{dy} * {y} * (1 - {y})"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            a, b = conj(op.inputs[0]), conj(op.inputs[1])
            gb = grad * b
            return [gb - 2.0 * gb * a, SigmoidGrad()(a, grad)]


@export("math.sigmoid", "nn.sigmoid", "sigmoid")
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logistic function of each element.

    y = 1 / (1 + e⁻ˣ)

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.sigmoid([0.0, 2.0]))
      array([0.5     , 0.880797], dtype=float32)

    Source: Sigmoid in core/ops/math_ops.cc.
    """
    return Sigmoid()(x, name=name)


class Tanh(Unary):
    """The hyperbolic tangent.  Source: math_ops.cc, Tanh."""

    T = FIELD
    card_formula: ClassVar[str | None] = "tanh({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return by_all_threads(xp, "tanh", x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [TanhGrad()(conj(op.outputs[0]), grad)]


class TanhGrad(Adjoint):
    """dy * (1 - y²).  Source: math_ops.cc, TanhGrad."""

    def compute(self, xp: ArrayModule, y: Array, dy: Array) -> Any:
        return dy * (number(y, 1) - y * y)

    def scalar_expression(self, y: str, dy: str) -> str:
        return f"{dy} * (1 - {y} * {y})"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            a, b = conj(op.inputs[0]), conj(op.inputs[1])
            return [grad * -2.0 * b * a, TanhGrad()(a, grad)]


@export("math.tanh", "nn.tanh", "tanh")
@also_sparse
def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise hyperbolic tangent.

    y = (eˣ - e⁻ˣ) / (eˣ + e⁻ˣ)

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.tanh([0.0, 1.0]))
      array([0.       , 0.7615942], dtype=float32)

    Source: Tanh in core/ops/math_ops.cc.
    """
    return Tanh()(x, name=name)
