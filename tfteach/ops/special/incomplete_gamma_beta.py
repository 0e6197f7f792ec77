"""Incomplete gamma and beta functions, and derivatives by their parameters.

SciPy lacks the derivative of P(a, x) by a.  Below x = a it is computed from the terms
of the series, above from the steps of a continued fraction (Abramowitz & Stegun 6.5.29,
6.5.31).
Source: core/ops/math_ops.cc, python/ops/math_grad.py.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.core.broadcast_gradients import (
    BroadcastGradientArgs,
    after,
    dynamic_sums,
)
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.math.binary import Binary
from tfteach.ops.math.exponential import exp, log
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.special import erf_lgamma
from tfteach.ops.special.erf_lgamma import Lgamma, special

_FLOATS = dtypes_of("float double")
_ENOUGH = 1e-16
_MOST_STEPS = 10_000
_RESCALE = 2.0**52


def _inside(xp: ArrayModule, found: Any, a: Any, x: Any) -> Any:
    """The values where a > 0 and x >= 0, otherwise nan."""
    return xp.where((a > 0) & (x >= 0), found, a.dtype.type(math.nan))


class _Terms:
    """Sums over n and their derivatives by a, for the elements not yet converged.

    Attributes:
      total, derivative: the results so far, for all elements.
    """

    def __init__(self, a: Any, x: Any) -> None:
        self.total, self.derivative = np.ones(a.size), np.zeros(a.size)
        self._pending = np.arange(a.size)
        self._a, self._x = a, x

    def series(self) -> None:
        """Σ xⁿ / ((a + 1) ... (a + n))."""
        r, x = self._a.copy(), self._x
        term, slope = np.ones(x.size), np.zeros(x.size)
        total, derivative = self.total.copy(), self.derivative.copy()
        for _ in range(_MOST_STEPS):
            r += 1
            slope = (slope - term / r) * x / r
            term = term * x / r
            total += term
            derivative += slope
            on = (np.abs(slope) > _ENOUGH * np.abs(derivative)) | (
                term > _ENOUGH * total
            )
            if not on.all():
                self._store(on, total, derivative)
                r, x, term, slope = r[on], x[on], term[on], slope[on]
                total, derivative = total[on], derivative[on]
            if not x.size:
                return
        self._store(np.zeros(x.size, bool), total, derivative)

    def fraction(self) -> None:
        """Γ(a, x) / (xᵃ e⁻ˣ), by convergents p / q."""
        a, x = self._a, self._x
        y, z = 1 - a, x - a + 2
        old_p, old_q, p, q = np.ones(x.size), x.copy(), x + 1, z * x
        slopes = [np.zeros(x.size), np.zeros(x.size), np.zeros(x.size), -x]
        total = p / q
        derivative = (slopes[2] - total * slopes[3]) / q
        for step in range(1, _MOST_STEPS):
            y, z = y + 1, z + 2
            n = y * step
            old_dp, old_dq, dp, dq = slopes
            new_dp = dp * z - p - old_dp * n + old_p * step
            new_dq = dq * z - q - old_dq * n + old_q * step
            old_p, p = p, p * z - old_p * n
            old_q, q = q, q * z - old_q * n
            before, total = derivative, p / q
            derivative = (new_dp - total * new_dq) / q
            slopes = [dp, dq, new_dp, new_dq]
            scale = np.where(np.abs(p) > _RESCALE, 1 / _RESCALE, 1.0)
            old_p, old_q, p, q = (v * scale for v in (old_p, old_q, p, q))
            slopes = [v * scale for v in slopes]
            on = np.abs(derivative - before) > _ENOUGH * np.abs(derivative)
            if not on.all():
                self._store(on, total, derivative)
                y, z, old_p, old_q, p, q, total, derivative, *slopes = (
                    v[on]
                    for v in (y, z, old_p, old_q, p, q, total, derivative, *slopes)
                )
            if not z.size:
                return
        self._store(np.zeros(z.size, bool), total, derivative)

    def _store(self, on: Any, total: Any, derivative: Any) -> None:
        """Store the results of the elements that are no longer `on`."""
        done = self._pending[~on]
        self.total[done], self.derivative[done] = total[~on], derivative[~on]
        self._pending = self._pending[on]


def _by_parameter(a: Any, x: Any) -> tuple[Any, Any]:
    """dP(a, x) / da, and its ratio to -dP(a, x) / dx; nan unless a > 0 and x >= 0."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    shape, a, x = a.shape, a.ravel(), x.ravel()
    share, moved = np.full(a.size, np.nan), np.full(a.size, np.nan)
    ends = (x == 0) | (x == math.inf) & (a > 0) & np.isfinite(a)
    share[ends] = moved[ends] = 0
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    below = (x <= 1) | (x <= a)
    for near in (True, False):
        at = np.flatnonzero(inside & (below == near))
        if not at.size:
            continue
        a_at, x_at = a[at], x[at]
        terms = _Terms(a_at, x_at)
        if near:
            terms.series()
            order, factor = a_at + 1, -x_at / a_at
        else:
            terms.fraction()
            order, factor = a_at, x_at
        logarithm = np.log(x_at)
        slope = logarithm - special(np, "psi", order)
        slope = terms.derivative + terms.total * slope
        weight = np.exp(a_at * logarithm - x_at - special(np, "gammaln", order))
        share[at] = (1 if near else -1) * weight * slope
        moved[at] = factor * slope
    return share.reshape(shape), moved.reshape(shape)


class Igamma(Binary):
    """P(a, x), the lower incomplete gamma function.  Source: math_ops.cc, Igamma."""

    signature = "a: T, x: T -> z: T"
    T = _FLOATS

    def compute(self, xp: ArrayModule, a: Array, x: Array) -> Any:
        found = _inside(xp, special(xp, "gammainc", a, x), a, x)
        return xp.where(x == 0, a.dtype.type(0), found)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [*_share_gradient(op, grad)]


class Igammac(Binary):
    """Q(a, x) = 1 - P(a, x).  Source: math_ops.cc, Igammac."""

    signature = "a: T, x: T -> z: T"
    T = _FLOATS

    def compute(self, xp: ArrayModule, a: Array, x: Array) -> Any:
        return _inside(xp, special(xp, "gammaincc", a, x), a, x)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        to_a, to_x = _share_gradient(op, grad)
        return [-to_a, -to_x]


class IgammaGradA(Binary):
    """dP(a, x) / da.  Source: math_ops.cc, IgammaGradA."""

    signature = "a: T, x: T -> z: T"
    T = _FLOATS
    on_gpu: ClassVar[bool] = False

    def compute(self, xp: ArrayModule, a: Array, x: Array) -> Any:
        return _by_parameter(a, x)[0].astype(a.dtype)


def _share_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    a, x = op.inputs
    own_a, own_x = dynamic_sums(a, x)
    with after(grad):
        by_a = IgammaGradA()(a, x)
        by_x = exp(-x + (a - 1) * log(x) - Lgamma()(a))
        return [own_a(by_a * grad), own_x(by_x * grad)]


class RandomGammaGrad(Binary):
    """The derivative of a gamma sample by `alpha`, at a fixed probability.

    d sample / d alpha = -(dP / d alpha) / (dP / d sample)

    Paper: Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients" (2018).
    Source: core/ops/random_ops.cc, RandomGammaGrad.
    """

    signature = "alpha: T, sample: T -> output: T"
    T = _FLOATS
    on_gpu: ClassVar[bool] = False

    def compute(self, xp: ArrayModule, alpha: Array, sample: Array) -> Any:
        return _by_parameter(alpha, sample)[1].astype(alpha.dtype)


@export("math.igamma", "igamma")
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularized lower incomplete gamma function.

    z = P(a, x) = 1 / Γ(a) ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt

    Args:
      a: float32 or float64 Tensor of any shape, above 0.
      x: Tensor of the type of `a`, at least 0, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type; nan outside the domain.

    Example:
      >>> tf.Session().run(tf.igamma(1.0, [0.0, 1.0]))
      array([0.       , 0.6321205], dtype=float32)

    Source: Igamma in core/ops/math_ops.cc.
    """
    return Igamma()(a, x, name=name)


@export("math.igammac", "igammac")
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularized upper incomplete gamma function, Q(a, x) = 1 - P(a, x).

    The arguments are those of `tf.igamma`.
    """
    return Igammac()(a, x, name=name)


# ---- beta


class Betainc(Op):
    """The regularized incomplete beta function.  Source: math_ops.cc, Betainc."""

    signature = "a: T, b: T, x: T -> z: T"
    T = _FLOATS

    def infer_shape(self, a: Shape, b: Shape, x: Shape) -> Shape:
        known = [own for own in (a, b, x) if own]  # scalars excluded
        whole = known[0] if known else () if None not in (a, b, x) else None
        for own in known[1:]:
            whole = shapes.merge(whole, own)
        return whole

    def compute(self, xp: ArrayModule, a: Any, b: Any, x: Any) -> Any:
        named = ("a", a), ("b", b), ("x", x)
        for (name, first), (other, second) in combinations(named, 2):
            if first.ndim and second.ndim and first.shape != second.shape:
                raise invalid_argument(
                    f"Shapes of {name} and {other} are inconsistent: "
                    f"{shapes.text(first.shape)} vs. {shapes.text(second.shape)}"
                )
        found = special(xp, "betainc", a, b, x)
        found = xp.where((x == 0) | (x == 1), x, found)
        return xp.where((a <= 0) | (b <= 0), a.dtype.type(math.nan), found)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        a, b, x = op.inputs
        sa, sx = shape_ops.shape(a), shape_ops.shape(x)
        _, axes = BroadcastGradientArgs()(sa, sx)
        lgamma = Lgamma()
        log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
        by_x = exp((b - 1) * log(1 - x) + (a - 1) * log(x) - log_beta)
        total = reduce_sum(by_x * grad, axes)
        return [None, None, reshape(total, sx)]


@export("math.betainc", "betainc")
def betainc(
    a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None
) -> Tensor:
    """The regularized incomplete beta function.

    z = I_x(a, b) = ∫₀ˣ tᵃ⁻¹ (1 - t)ᵇ⁻¹ dt / B(a, b)

    Args:
      a, b: float32 or float64 Tensors of one shape, or scalars; above 0.
      x: Tensor of that shape, or a scalar, from 0 to 1.
      name: the op's name.

    Returns:
      A Tensor of that shape and type; nan outside the domain.  As in TF, only `x` has a
      gradient.

    Example:
      >>> tf.Session().run(tf.betainc(1.0, 1.0, 0.25))
      0.25

    Source: Betainc in core/ops/math_ops.cc.
    """
    return Betainc()(a, b, x, name=name)


@export("math.lbeta", "lbeta")
def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """ln |B(x)| for the vectors along the last axis.

    B(x) = Π Γ(xᵢ) / Γ(Σ xᵢ)

    Args:
      x: float Tensor [..., k].
      name: the name of the scope.

    Returns:
      A Tensor [...] of that type; -inf for k = 0.

    Example:
      >>> tf.Session().run(tf.lbeta([1.0, 2.0]))  # ln 1/2
      -0.6931472

    Source: python/ops/special_math_ops.py.
    """
    with name_scope(name, "lbeta", [x]):
        x = convert(x, name="x")
        products = reduce_sum(erf_lgamma.lgamma(x), axis=[-1])
        total = reduce_sum(x, axis=[-1])
        return products - erf_lgamma.lgamma(total)
