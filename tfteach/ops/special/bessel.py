"""Modified Bessel functions.

Source: core/ops/math_ops.cc, python/ops/special_math_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, T, TensorLike
from tfteach.ops.array.where_select import where
from tfteach.ops.core.broadcast_gradients import after
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.sparse_tensor import also_sparse
from tfteach.ops.math.complex import abs as size_of
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.unary import REAL, Unary, reciprocal, sign
from tfteach.ops.special.erf_lgamma import special


class BesselI0e(Unary):
    """exp(-|x|) I₀(x).  Source: math_ops.cc, BesselI0e."""

    T = REAL

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return special(xp, "i0e", x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = op.inputs[0], op.outputs[0]
        with after(grad):
            return [grad * (bessel_i1e(x) - sign(x) * y)]


class BesselI1e(Unary):
    """exp(-|x|) I₁(x).  Source: math_ops.cc, BesselI1e."""

    T = REAL

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return special(xp, "i1e", x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y = op.inputs[0], op.outputs[0]
        with after(grad):
            # At 0 the formula would divide by 0; the derivative is 1/2.
            least = np.finfo(x.dtype.numpy_dtype).eps
            zeros = zeros_like(x)
            is_large = size_of(x) > least
            safe = where(is_large, x, least + zeros)
            slope = bessel_i0e(safe) - y * (sign(safe) + reciprocal(safe))
            return [grad * where(is_large, slope, 0.5 + zeros)]


_BESSEL = """{what}, element-wise.

    y = {formula}

    Args:
      x: float Tensor of any shape.
      name: the name of the op or its scope.

    Returns:
      A Tensor of the same shape and type.

    Source: {source}.
    """


def _described(what: str, formula: str, source: str) -> Callable[[T], T]:
    def note(function: T) -> T:
        function.__doc__ = _BESSEL.format(what=what, formula=formula, source=source)
        return function

    return note


@export("math.bessel_i0e")
@_described("Bessel's modified function of order 0, scaled", "exp(-|x|) I₀(x)",
            "BesselI0e in core/ops/math_ops.cc")  # fmt: skip
@also_sparse
def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    return BesselI0e()(x, name=name)


@export("math.bessel_i1e")
@_described("Bessel's modified function of order 1, scaled", "exp(-|x|) I₁(x)",
            "BesselI1e in core/ops/math_ops.cc")  # fmt: skip
@also_sparse
def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    return BesselI1e()(x, name=name)


@export("math.bessel_i0")
@_described("Bessel's modified function of order 0",
            "I₀(x) = 1/π ∫ exp(x cos t) dt from 0 to π",
            "python/ops/special_math_ops.py")  # fmt: skip
def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    with name_scope(name, "bessel_i0", [x]):
        return exp(size_of(x)) * bessel_i0e(x)


@export("math.bessel_i1")
@_described("Bessel's modified function of order 1",
            "I₁(x) = 1/π ∫ exp(x cos t) cos t dt from 0 to π",
            "python/ops/special_math_ops.py")  # fmt: skip
def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    with name_scope(name, "bessel_i1", [x]):
        return exp(size_of(x)) * bessel_i1e(x)
