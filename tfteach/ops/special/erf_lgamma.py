"""SciPy's special functions (CuPy's on GPUs), with TensorFlow's results at the edges.

SciPy and TensorFlow agree inside the domains, and differ at poles and infinities.
"""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.broadcast_gradients import after, dynamic_sums
from tfteach.ops.core.constant import constant
from tfteach.ops.core.sparse_tensor import also_sparse
from tfteach.ops.math.binary import Binary
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.unary import REAL, Unary, conj, square


def _special_on_card(xp: ArrayModule) -> Any:
    from cupyx.scipy import special

    return special


@functools.cache
@with_card_kernel(_special_on_card)
def special_of(xp: ArrayModule) -> Any:
    """The module of special functions for arrays of `xp`; importing it takes 0.1 s."""
    from scipy import special

    return special


def special(xp: ArrayModule, name: str, *arrays: Any) -> Any:
    """A special function in the arrays' type; halves are computed in float32."""
    function = getattr(special_of(xp), name)
    dtype = arrays[0].dtype
    if dtype.itemsize > 2:
        return function(*arrays)
    return function(*(a.astype(xp.float32) for a in arrays)).astype(dtype)


class Erf(Unary):
    """The error function.  Source: math_ops.cc, Erf."""

    T = REAL
    card_formula: ClassVar[str | None] = "erf({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return special(xp, "erf", x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        factor = constant(2 / math.sqrt(math.pi), dtype=grad.dtype)
        with after(grad):
            x = conj(op.inputs[0])
            return [grad * factor * exp(-square(x))]


@export("math.erf", "erf")
@also_sparse
def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """Element-wise error function.

    y = 2/√π ∫₀ˣ exp(-t²) dt

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.erf([0.0, 1.0]))
      array([0.       , 0.8427008], dtype=float32)

    Source: Erf in core/ops/math_ops.cc.
    """
    return Erf()(x, name=name)


class Erfc(Unary):
    """1 - erf(x), accurate for large x.  Source: math_ops.cc, Erfc."""

    T = REAL
    card_formula: ClassVar[str | None] = "erfc({0})"

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return special(xp, "erfc", x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        factor = constant(-2 / math.sqrt(math.pi), dtype=grad.dtype)
        with after(grad):
            x = conj(op.inputs[0])
            return [grad * factor * exp(-square(x))]


@export("math.erfc", "erfc")
def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """The complementary error function, accurate for large x.

    y = 1 - erf(x)

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.erfc([0.0, 1.0]))
      array([1.       , 0.1572992], dtype=float32)

    Source: Erfc in core/ops/math_ops.cc.
    """
    return Erfc()(x, name=name)


_LOWEST = {t.numpy_dtype: t.numpy_dtype.type(t.min) for t in REAL}


class Lgamma(Unary):
    """ln |Γ(x)|.  Source: math_ops.cc, Lgamma."""

    T = REAL

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        # At -inf SciPy returns -inf, TensorFlow inf, as for all large negative numbers.
        return special(xp, "gammaln", xp.maximum(x, _LOWEST[x.dtype]))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            return [grad * digamma(conj(op.inputs[0]))]


@export("math.lgamma", "lgamma")
def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    y = ln |Γ(x)|; inf at 0, -1, -2, ...

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.lgamma([1.0, 4.0]))
      array([0.       , 1.7917595], dtype=float32)

    Source: Lgamma in core/ops/math_ops.cc.
    """
    return Lgamma()(x, name=name)


def psi(xp: ArrayModule, x: Any) -> Any:
    """Γ'(x) / Γ(x); inf at the poles."""
    pole = (x <= 0) & (x == xp.floor(x))
    return xp.where(pole, x.dtype.type(math.inf), special(xp, "psi", x))


class Digamma(Unary):
    """The derivative of lgamma.  Source: math_ops.cc, Digamma."""

    T = REAL

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return psi(xp, x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        with after(grad):
            x = conj(op.inputs[0])
            one = constant(1, dtype=x.dtype)
            return [grad * polygamma(one, x)]


@export("math.digamma", "digamma")
def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of the logarithm of the gamma function.

    y = Γ'(x) / Γ(x)

    Args:
      x: float Tensor of any shape.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.digamma([1.0, 4.0]))
      array([-0.5772157,  1.2561177], dtype=float32)

    Source: Digamma in core/ops/math_ops.cc.
    """
    return Digamma()(x, name=name)


def hurwitz(xp: ArrayModule, s: Any, q: Any) -> Any:
    """Σ 1 / (q + k)ˢ over k = 0, 1, ...; as in TensorFlow nan for infinite q."""
    found = special(xp, "zeta", s, q)
    found = xp.where(xp.isinf(q) & (s != 1), s.dtype.type(math.nan), found)
    pole = (q <= 0) & (q == xp.floor(q)) & ~(s < 1)
    return xp.where(pole, s.dtype.type(math.inf), found)


class Zeta(Binary):
    """The Hurwitz zeta function.  Source: math_ops.cc, Zeta."""

    signature = "x: T, q: T -> z: T"
    T = dtypes_of("float double")

    def compute(self, xp: ArrayModule, x: Array, q: Array) -> Any:
        return hurwitz(xp, x, q)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, q = op.inputs
        _, to_q = dynamic_sums(x, q)
        with after(grad):
            x, q = conj(x), conj(q)
            partial_q = -x * zeta(x + 1, q)
            return [None, to_q(partial_q * grad)]


@export("math.zeta", "zeta")
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function.

    z = Σ 1 / (q + k)ˣ over k = 0, 1, 2, ...

    Args:
      x: float Tensor of any shape.
      q: Tensor of the type of `x`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.zeta([2.0, 3.0], 1.0))
      array([1.644934 , 1.2020569], dtype=float32)

    Source: Zeta in core/ops/math_ops.cc.
    """
    return Zeta()(x, q, name=name)


class Polygamma(Binary):
    """The a-th derivative of digamma.  Source: math_ops.cc, Polygamma."""

    signature = "a: T, x: T -> z: T"
    T = dtypes_of("float double")

    def compute(self, xp: ArrayModule, a: Array, x: Array) -> Any:
        sign = xp.where(a % 2 == 1, a.dtype.type(1), a.dtype.type(-1))
        higher = sign * special(xp, "gamma", a + 1) * hurwitz(xp, a + 1, x)
        found = xp.where(a == 0, psi(xp, x), higher)
        return xp.where(a == xp.floor(a), found, a.dtype.type(math.nan))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        n, x = op.inputs
        _, to_x = dynamic_sums(n, x)
        with after(grad):
            n, x = conj(n), conj(x)
            partial_x = polygamma(n + 1, x)
            return [None, to_x(partial_x * grad)]


@export("math.polygamma", "polygamma")
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` of the digamma function.

    z = ψ⁽ᵃ⁾(x), with an integer a >= 0

    Args:
      a: float Tensor of any shape.
      x: Tensor of the type of `a`, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type.

    Example:
      >>> tf.Session().run(tf.polygamma([0.0, 1.0], 1.0))
      array([-0.5772157,  1.644934 ], dtype=float32)

    Source: Polygamma in core/ops/math_ops.cc.
    """
    return Polygamma()(a, x, name=name)
