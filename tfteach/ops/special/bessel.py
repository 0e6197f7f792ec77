"""More functions of numbers: Bessel's, neighbours, polynomials, cross products.

Source: core/ops/math_ops.cc, python/ops/{math_ops,special_math_ops}.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.ops.array.where_select import where
from tfteach.ops.core import fill
from tfteach.ops.core.broadcast_gradients import BroadcastGradientArgs, after
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import also_sparse
from tfteach.ops.math.binary import Binary
from tfteach.ops.math.compare import REAL_NUMBERS
from tfteach.ops.math.complex import abs as size_of
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.operator_overloads import div_no_nan
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import REAL, Unary, negative, reciprocal, sign
from tfteach.ops.nn.activations import softplus
from tfteach.ops.special.erf_lgamma import special


class BesselI0e(Unary):
    """exp(-|x|) I₀(x).  Source: math_ops.cc, BesselI0e."""

    T = REAL

    def compute(self, xp: Any, x: Any) -> Any:
        return special(xp, "i0e", x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x, y = op.inputs[0], op.outputs[0]
        with after(grad):
            return [grad * (bessel_i1e(x) - sign(x) * y)]


class BesselI1e(Unary):
    """exp(-|x|) I₁(x).  Source: math_ops.cc, BesselI1e."""

    T = REAL

    def compute(self, xp: Any, x: Any) -> Any:
        return special(xp, "i1e", x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x, y = op.inputs[0], op.outputs[0]
        with after(grad):
            # At 0, where the formula divides by it, the derivative is 1/2.
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


def _described(what: str, formula: str, source: str) -> Any:
    def note(function: Any) -> Any:
        function.__doc__ = _BESSEL.format(what=what, formula=formula, source=source)
        return function

    return note


@export("math.bessel_i0e")
@_described("Bessel's modified function of order 0, scaled", "exp(-|x|) I₀(x)",
            "BesselI0e in core/ops/math_ops.cc")  # fmt: skip
@also_sparse
def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    return BesselI0e()(x, name=name)


@export("math.bessel_i1e")
@_described("Bessel's modified function of order 1, scaled", "exp(-|x|) I₁(x)",
            "BesselI1e in core/ops/math_ops.cc")  # fmt: skip
@also_sparse
def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    return BesselI1e()(x, name=name)


@export("math.bessel_i0")
@_described("Bessel's modified function of order 0",
            "I₀(x) = 1/π ∫ exp(x cos t) dt from 0 to π",
            "python/ops/special_math_ops.py")  # fmt: skip
def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "bessel_i0", [x]):
        return exp(size_of(x)) * bessel_i0e(x)


@export("math.bessel_i1")
@_described("Bessel's modified function of order 1",
            "I₁(x) = 1/π ∫ exp(x cos t) cos t dt from 0 to π",
            "python/ops/special_math_ops.py")  # fmt: skip
def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "bessel_i1", [x]):
        return exp(size_of(x)) * bessel_i1e(x)


class NextAfter(Binary):
    """The next number of the type on the way to another.  Source: NextAfter."""

    signature = "x1: T, x2: T -> output: T"
    T = dtypes_of("double float")
    T_default = float32

    def compute(self, xp: Any, x1: Any, x2: Any) -> Any:
        return xp.nextafter(x1, x2)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x1, x2 = op.inputs
        s1, s2 = shape(x1), shape(x2)
        r1, r2 = BroadcastGradientArgs()(s1, s2)
        with after(grad):
            by_x1 = ones(s1, dtype=x1.dtype)
            by_x2 = fill.zeros(s2, dtype=x2.dtype)
            to_x1 = reshape(reduce_sum(by_x1 * grad, r1), s1)
            return [to_x1, reshape(reduce_sum(by_x2 * grad, r2), s2)]


@export("math.nextafter")
def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next number of the type after `x1` in the direction of `x2`, element-wise.

    Args:
      x1: float32 or float64 Tensor of any shape.
      x2: Tensor of the type of `x1`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Source: NextAfter in core/ops/math_ops.cc.
    """
    return NextAfter()(x1, x2, name=name)


@export("math.polyval")
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The value of a polynomial, element-wise.

    p(x) = coeffs[n] + x * (coeffs[n-1] + ... + x * coeffs[0])

    Args:
      coeffs: list of Tensors, the coefficient of the highest power first.
      x: Tensor that they broadcast against.
      name: the name of the scope.

    Returns:
      A Tensor of the broadcast shape; zeros if there are no coefficients.

    Example:
      >>> tf.Session().run(tf.math.polyval([1.0, 2.0, 3.0], 2.0))
      11.0

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert(x, name="x")
        if len(coeffs) < 1:
            return zeros_like(x, name=scope)
        parts = [convert(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        total = parts[0]
        for part in parts[1:]:
            total = part + total * x
        return total


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0, element-wise.

    Args:
      x: float or complex Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Source: python/ops/math_ops.py; DivNoNan.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert(x, name="x")
        one = constant(1, dtype=x.dtype.base_dtype, name="one")
        return div_no_nan(one, x, name=scope)


@export("math.log_sigmoid", "log_sigmoid")
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the sigmoid, without underflow, element-wise.

    y = ln(1 / (1 + exp(-x))) = -softplus(-x)

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert(x, name="x")
        return negative(softplus(-x), name=scope)


class Cross(Op):
    """Cross products of vectors of three.  Source: core/ops/math_ops.cc, Cross."""

    signature = "a: T, b: T -> product: T"
    T = REAL_NUMBERS

    def infer_shape(self, a: Shape, b: Shape) -> Shape:
        shapes.with_rank_at_least(a, 1)
        shapes.with_rank_at_least(b, 1)
        for own in (a, b):
            if own is not None and own[-1] not in (None, 3):
                raise ValueError(f"Dimension must be 3 but is {own[-1]}")
        return shapes.merge(a, b)

    def compute(self, xp: Any, a: Any, b: Any) -> Any:
        if a.shape != b.shape:
            raise invalid_argument(
                f"Both inputs must be of same shape: {shapes.text(a.shape)} vs. "
                f"{shapes.text(b.shape)}"
            )
        if a.shape[-1] != 3:
            raise FailedPreconditionError(
                None, None, "Cross-products are only defined for 3-element vectors."
            )
        turn, back = [1, 2, 0], [2, 0, 1]
        return a[..., turn] * b[..., back] - a[..., back] * b[..., turn]

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        u, v = op.inputs
        return [cross(v, grad), cross(grad, u)]


@export("linalg.cross", "cross")
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross products of vectors of three numbers.

    Args:
      a: float or int Tensor [..., 3].
      b: Tensor of the shape and type of `a`.
      name: the op's name.

    Returns:
      A Tensor of that shape and type.

    Raises:
      FailedPreconditionError: (in a run) the last axis is not of size 3.

    Example:
      >>> tf.Session().run(tf.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
      array([0., 0., 1.], dtype=float32)

    Source: Cross in core/ops/math_ops.cc.
    """
    return Cross()(a, b, name=name)
