"""Special functions, without SciPy: erf, erfc, lgamma, digamma, polygamma, zeta.

erf, erfc and lgamma come from C's mathematical library, element by element; digamma and
zeta from the recurrence that moves x up and an asymptotic series there
(Abramowitz & Stegun 6.3.18, 23.2.9 and 6.4.10; coefficients are Bernoulli's numbers).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.adjoint import after, dynamic_sums
from tfteach.ops.constant import constant
from tfteach.ops.exponential import exp
from tfteach.ops.math import Binary
from tfteach.ops.sparse import also_sparse
from tfteach.ops.unary import REAL, Unary, conj, square

# Bernoulli's numbers B2, B4, ... B24
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
    43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
ASYMPTOTIC_FROM = 10


def each(function: Callable[[float], float], x: Any) -> Any:
    """A function of one float on every element, in x's type."""
    x = np.asarray(x)
    values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
    return values.reshape(x.shape).astype(x.dtype)


def on_card(name: str, *arrays: Any) -> Any:
    """CuPy has these functions as kernels of its own."""
    from importlib import import_module

    special = import_module("cupyx.scipy.special")
    wide = [a.astype(np.float32) if a.dtype.itemsize == 2 else a for a in arrays]
    return getattr(special, name)(*wide).astype(arrays[0].dtype)


class Erf(Unary):
    """The error function.  Source: math_ops.cc, Erf."""

    T = REAL

    def compute(self, xp: Any, x: Any) -> Any:
        return each(math.erf, x) if xp is np else on_card("erf", x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        factor = constant(2 / math.sqrt(math.pi), dtype=grad.dtype)
        with after(grad):
            x = conj(op.inputs[0])
            return [grad * factor * exp(-square(x))]


@export("math.erf", "erf")
@also_sparse
def erf(x: Any, name: str | None = None) -> Tensor:
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
    """1 - erf(x), exact for large x.  Source: math_ops.cc, Erfc."""

    T = REAL

    def compute(self, xp: Any, x: Any) -> Any:
        return each(math.erfc, x) if xp is np else on_card("erfc", x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        factor = constant(-2 / math.sqrt(math.pi), dtype=grad.dtype)
        with after(grad):
            x = conj(op.inputs[0])
            return [grad * factor * exp(-square(x))]


@export("math.erfc", "erfc")
def erfc(x: Any, name: str | None = None) -> Tensor:
    """The complementary error function, exact for large x.

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


def log_gamma(x: float) -> float:
    """ln |Γ(x)|; inf at the poles."""
    if math.isnan(x) or math.isinf(x):
        return abs(x)
    if x <= 0 and x == math.floor(x):
        return math.inf
    return math.lgamma(x)


class Lgamma(Unary):
    """ln |Γ(x)|.  Source: math_ops.cc, Lgamma."""

    T = REAL

    def compute(self, xp: Any, x: Any) -> Any:
        return each(log_gamma, x) if xp is np else on_card("gammaln", x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        with after(grad):
            return [grad * digamma(conj(op.inputs[0]))]


@export("math.lgamma", "lgamma")
def lgamma(x: Any, name: str | None = None) -> Tensor:
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


def psi(x: Any) -> Any:
    """Γ'(x) / Γ(x) in float64; inf at the poles."""
    x = np.asarray(x, np.float64)
    pole = (x <= 0) & (x == np.floor(x))
    mirrored = x <= 0
    up = np.where(mirrored, 1 - x, x)
    total = np.zeros_like(up)
    for _ in range(ASYMPTOTIC_FROM):
        low = up < ASYMPTOTIC_FROM
        total = np.where(low, total - 1 / up, total)
        up = np.where(low, up + 1, up)
    inverse = 1 / (up * up)
    series, power = np.zeros_like(up), np.ones_like(up)
    for k, number in enumerate(BERNOULLI, 1):
        power = power * inverse
        series = series + number / (2 * k) * power
    total = total + np.log(up) - 0.5 / up - series
    # psi(1 - x) - psi(x) = π cot(πx); the tangent of the fraction keeps its digits.
    part = x - np.round(x)
    total = np.where(mirrored, total - np.pi / np.tan(np.pi * part), total)
    return np.where(pole, np.inf, total)


class Digamma(Unary):
    """The derivative of lgamma.  Source: math_ops.cc, Digamma."""

    T = REAL

    def compute(self, xp: Any, x: Any) -> Any:
        return psi(x).astype(x.dtype) if xp is np else on_card("digamma", x)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        with after(grad):
            x = conj(op.inputs[0])
            one = constant(1, dtype=x.dtype)
            return [grad * polygamma(one, x)]


@export("math.digamma", "digamma")
def digamma(x: Any, name: str | None = None) -> Tensor:
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


def hurwitz(s: Any, q: Any) -> Any:
    """Σ 1 / (q + k)ˢ over k = 0, 1, ..., by Euler and Maclaurin's formula."""
    s, q = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(q, np.float64))
    total = np.zeros(s.shape)
    for k in range(ASYMPTOTIC_FROM):
        total = total + np.power(q + k, -s)
    far = q + ASYMPTOTIC_FROM
    total = total + np.power(far, 1 - s) / (s - 1) + 0.5 * np.power(far, -s)
    rising, power = s.copy(), np.power(far, -s - 1)
    for k, number in enumerate(BERNOULLI, 1):
        total = total + number / math.factorial(2 * k) * rising * power
        rising = rising * (s + 2 * k - 1) * (s + 2 * k)
        power = power / (far * far)
    pole = (q <= 0) & (q == np.floor(q))
    lost = (s < 1) | ((q < 0) & (s != np.floor(s)))
    total = np.where(pole | (s == 1), np.inf, total)
    return np.where(lost, np.nan, total)


class Zeta(Binary):
    """Hurwitz's zeta function.  Source: math_ops.cc, Zeta."""

    signature = "x: T, q: T -> z: T"
    T = dtypes_of("float double")

    def compute(self, xp: Any, x: Any, q: Any) -> Any:
        return hurwitz(x, q).astype(x.dtype) if xp is np else on_card("zeta", x, q)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        x, q = op.inputs
        _, to_q = dynamic_sums(x, q)
        with after(grad):
            x, q = conj(x), conj(q)
            partial_q = -x * zeta(x + 1, q)
            return [None, to_q(partial_q * grad)]


@export("math.zeta", "zeta")
def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Hurwitz's zeta function.

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

    def compute(self, xp: Any, a: Any, x: Any) -> Any:
        if xp is not np:
            return on_card("polygamma", a, x)
        order = np.asarray(a, np.float64)
        factorial = each(lambda n: math.gamma(n + 1) if n >= 0 else math.nan, order)
        sign = np.where(order % 2 == 1, 1.0, -1.0)
        higher = sign * factorial * hurwitz(order + 1, x)
        found = np.where(order == 0, psi(x), higher)
        return np.where(order == np.floor(order), found, np.nan).astype(a.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        n, x = op.inputs
        _, to_x = dynamic_sums(n, x)
        with after(grad):
            n, x = conj(n), conj(x)
            partial_x = polygamma(n + 1, x)
            return [None, to_x(partial_x * grad)]


@export("math.polygamma", "polygamma")
def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative of order `a` of the digamma function.

    z = ψ⁽ᵃ⁾(x), a a whole number >= 0

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
