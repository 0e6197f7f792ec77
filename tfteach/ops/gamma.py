"""Incomplete gamma and beta functions, without SciPy.

P(a, x) is a series below a + 1 and one minus a continued fraction above; its derivative
by a comes from the series' terms; I_x(a, b) is a continued fraction.
(Abramowitz & Stegun 6.5.29, 6.5.31, 26.5.8.)
Source: core/ops/math_ops.cc, python/ops/math_grad.py.
"""

from __future__ import annotations

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
from tfteach.ops.adjoint import BroadcastGradientArgs, after, dynamic_sums, upward
from tfteach.ops.exponential import exp, log
from tfteach.ops.math import Binary
from tfteach.ops.special import Lgamma, each, log_gamma, on_card, psi

_FLOATS = dtypes_of("float double")
_TINY = 1e-300
_ENOUGH = 1e-16
_MOST_STEPS = 20_000


def _wide(*arrays: Any) -> list[Any]:
    """Arrays in float64, broadcast."""
    return list(np.broadcast_arrays(*(np.asarray(a, np.float64) for a in arrays)))


def _lgamma(x: Any) -> Any:
    return each(log_gamma, np.asarray(x, np.float64))


def _fraction(first: Any, terms: Any, shape: Any) -> Any:
    """first + n₁ / (d₁ + n₂ / (d₂ + ...)) by Lentz's method.

    Args:
      first: array, not 0.
      terms: step -> (numerator, denominator).
    """
    value = np.where(first == 0, _TINY, first) * np.ones(shape)
    above, below = value.copy(), np.zeros(shape)
    for step in range(1, _MOST_STEPS):
        n, d = terms(step)
        below = d + n * below
        below = 1 / np.where(np.abs(below) < _TINY, _TINY, below)
        above = d + n / above
        above = np.where(np.abs(above) < _TINY, _TINY, above)
        value = value * above * below
        if not (np.abs(above * below - 1) > _ENOUGH).any():
            break
    return value


def _upper(a: Any, x: Any) -> Any:
    """Q(a, x) for x >= a + 1, the share of gamma(a) numbers above x."""

    def terms(step: int) -> tuple[Any, Any]:
        return -step * (step - a), x + 2 * step + 1 - a

    weight = np.exp(a * np.log(x) - x - _lgamma(a))
    return weight / _fraction(x + 1 - a, terms, a.shape)


def _lower(a: Any, x: Any) -> tuple[Any, Any]:
    """P(a, x) and its derivative by a, from the sum of xᵃ⁺ⁿ e⁻ˣ / Γ(a + n + 1)."""
    # Only the terms near the largest one count.
    spread = 12 * np.sqrt(np.maximum(a, x)) + 60
    first = np.floor(np.maximum(x - a - spread, 0))
    last = int(np.max(np.maximum(x - a, 0) + spread - first, initial=0))
    logarithm = np.log(x)
    order = a + first + 1
    term = np.exp((a + first) * logarithm - x - _lgamma(order))
    digamma = psi(order)
    total, derivative = np.zeros(a.shape), np.zeros(a.shape)
    for _ in range(last + 1):
        total += term
        derivative += term * (logarithm - digamma)
        term = term * x / order
        digamma = digamma + 1 / order
        order = order + 1
    return total, derivative


def _gamma_shares(a: Any, x: Any) -> tuple[Any, Any]:
    """P(a, x) and Q(a, x) in float64; nan outside a > 0, x >= 0."""
    a, x = _wide(a, x)
    lower, upper = np.full(a.shape, np.nan), np.full(a.shape, np.nan)
    near = (a > 0) & (x > 0) & (x < a + 1)
    far = (a > 0) & (x >= a + 1) & np.isfinite(x)
    if near.any():
        lower[near] = _lower(a[near], x[near])[0]
        upper[near] = 1 - lower[near]
    if far.any():
        upper[far] = _upper(a[far], x[far])
        lower[far] = 1 - upper[far]
    edges = (a > 0) & ((x == 0) | np.isposinf(x))
    lower[edges] = np.isposinf(x[edges])
    upper[edges] = 1 - lower[edges]
    return lower, upper


def _by_shape(a: Any, x: Any) -> Any:
    """dP(a, x) / da in float64."""
    a, x = _wide(a, x)
    found = np.full(a.shape, np.nan)
    inside = (a > 0) & (x > 0) & np.isfinite(x)
    if inside.any():
        found[inside] = _lower(a[inside], x[inside])[1]
    found[(a > 0) & ((x == 0) | np.isposinf(x))] = 0
    return found


class Igamma(Binary):
    """P(a, x), the lower incomplete gamma function.  Source: math_ops.cc, Igamma."""

    signature = "a: T, x: T -> z: T"
    T = _FLOATS

    def compute(self, xp: Any, a: Any, x: Any) -> Any:
        if xp is not np:
            return on_card("gammainc", a, x)
        return _gamma_shares(a, x)[0].astype(a.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return _share_gradient(op, grad)


class Igammac(Binary):
    """Q(a, x) = 1 - P(a, x).  Source: math_ops.cc, Igammac."""

    signature = "a: T, x: T -> z: T"
    T = _FLOATS

    def compute(self, xp: Any, a: Any, x: Any) -> Any:
        if xp is not np:
            return on_card("gammaincc", a, x)
        return _gamma_shares(a, x)[1].astype(a.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        to_a, to_x = _share_gradient(op, grad)
        return [-to_a, -to_x]


class IgammaGradA(Binary):
    """dP(a, x) / da.  Source: math_ops.cc, IgammaGradA."""

    signature = "a: T, x: T -> z: T"
    T = _FLOATS
    on_gpu: ClassVar[bool] = False

    def compute(self, xp: Any, a: Any, x: Any) -> Any:
        return _by_shape(a, x).astype(a.dtype)


def _share_gradient(op: Operation, grad: Any) -> list[Any]:
    a, x = op.inputs
    own_a, own_x = dynamic_sums(a, x)
    with after(grad):
        by_a = IgammaGradA()(a, x)
        by_x = exp(-x + (a - 1) * log(x) - Lgamma()(a))
        return [own_a(by_a * grad), own_x(by_x * grad)]


class RandomGammaGrad(Binary):
    """How a gamma number moves with its `alpha`, its probability fixed.

    d sample / d alpha = -(dP / d alpha) / (dP / d sample)

    Paper: Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients" (2018).
    Source: core/ops/random_ops.cc, RandomGammaGrad.
    """

    signature = "alpha: T, sample: T -> output: T"
    T = _FLOATS
    on_gpu: ClassVar[bool] = False

    def compute(self, xp: Any, alpha: Any, sample: Any) -> Any:
        a, x = _wide(alpha, sample)
        density = np.exp((a - 1) * np.log(x) - x - _lgamma(a))
        return (-_by_shape(a, x) / density).astype(alpha.dtype)


@export("math.igamma", "igamma")
def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized lower incomplete gamma function.

    z = P(a, x) = 1 / Γ(a) ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt

    Args:
      a: float32 or float64 Tensor of any shape, above 0.
      x: Tensor of the type of `a`, at least 0, broadcast against it.
      name: the op's name.

    Returns:
      A Tensor of the broadcast shape and type; nan where the arguments are outside.

    Example:
      >>> tf.Session().run(tf.igamma(1.0, [0.0, 1.0]))
      array([0.       , 0.6321205], dtype=float32)

    Source: Igamma in core/ops/math_ops.cc.
    """
    return Igamma()(a, x, name=name)


@export("math.igammac", "igammac")
def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized upper incomplete gamma function, Q(a, x) = 1 - P(a, x).

    The arguments are those of `tf.igamma`.
    """
    return Igammac()(a, x, name=name)


# ---- beta


def _beta_share(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b) in float64; nan outside a, b > 0, 0 <= x <= 1."""
    a, b, x = _wide(a, b, x)
    found = np.full(a.shape, np.nan)
    valid = (a > 0) & (b > 0)
    found[valid & (x == 0)] = 0
    found[valid & (x == 1)] = 1
    inside = valid & (x > 0) & (x < 1)
    if inside.any():
        found[inside] = _beta_fraction(a[inside], b[inside], x[inside])
    return found


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    # The fraction converges fast on the side of the mean: else its mirror image.
    mirrored = x > (a + 1) / (a + b + 2)
    a, b = np.where(mirrored, b, a), np.where(mirrored, a, b)
    x = np.where(mirrored, 1 - x, x)

    def terms(step: int) -> tuple[Any, Any]:
        m = step // 2
        if step % 2:
            n = -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            n = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
        return n * x, 1.0

    weight = np.exp(
        a * np.log(x) + b * np.log1p(-x) + _lgamma(a + b) - _lgamma(a) - _lgamma(b)
    )
    share = weight / (a * _fraction(np.ones(a.shape), terms, a.shape))
    return np.where(mirrored, 1 - share, share)


class Betainc(Op):
    """The regularized incomplete beta function.  Source: math_ops.cc, Betainc."""

    signature = "a: T, b: T, x: T -> z: T"
    T = _FLOATS

    def infer_shape(self, a: Shape, b: Shape, x: Shape) -> Shape:
        known = [own for own in (a, b, x) if own]  # no scalars
        whole = known[0] if known else () if None not in (a, b, x) else None
        for own in known[1:]:
            whole = shapes.merge(whole, own)
        return whole

    def compute(self, xp: Any, a: Any, b: Any, x: Any) -> Any:
        sizes = {value.shape for value in (a, b, x)} - {()}
        if len(sizes) > 1:
            first, second = [v.shape for v in (a, b, x) if v.shape][:2]
            raise invalid_argument(
                "Shapes of a, b and x must agree or be scalars: "
                f"{shapes.text(first)} vs. {shapes.text(second)}"
            )
        if xp is not np:
            return on_card("betainc", a, b, x)
        return _beta_share(a, b, x).astype(a.dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        a, b, x = op.inputs
        shape = upward("shape")
        sa, sx = shape(a), shape(x)
        _, axes = BroadcastGradientArgs()(sa, sx)
        lgamma = Lgamma()
        log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
        by_x = exp((b - 1) * log(1 - x) + (a - 1) * log(x) - log_beta)
        total = upward("reduce_sum")(by_x * grad, axes)
        return [None, None, upward("reshape")(total, sx)]


@export("math.betainc", "betainc")
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized incomplete beta function.

    z = I_x(a, b) = ∫₀ˣ tᵃ⁻¹ (1 - t)ᵇ⁻¹ dt / B(a, b)

    Args:
      a, b: float32 or float64 Tensors of one shape, or scalars; above 0.
      x: Tensor of that shape, or a scalar, from 0 to 1.
      name: the op's name.

    Returns:
      A Tensor of that shape and type; nan where the arguments are outside.  As in TF,
      there is a gradient for `x` only.

    Example:
      >>> tf.Session().run(tf.betainc(1.0, 1.0, 0.25))
      0.25

    Source: Betainc in core/ops/math_ops.cc.
    """
    return Betainc()(a, b, x, name=name)


@export("math.lbeta", "lbeta")
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """ln |B(x)| of the vectors along the last axis.

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
        lgamma, reduce_sum = upward("lgamma"), upward("reduce_sum")
        products = reduce_sum(lgamma(x), axis=[-1])
        total = reduce_sum(x, axis=[-1])
        return products - lgamma(total)
