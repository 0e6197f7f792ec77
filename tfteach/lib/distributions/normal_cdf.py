"""Cumulative distribution functions of normal and Laplace, accurate in the tails.

Source: python/ops/distributions/special_math.py; the rational approximations of the
normal quantile are Cephes' (Moshier), ndtri.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import fill, zeros_like
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.compare import greater, less
from tfteach.ops.math.complex import abs
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.math.unary import sqrt, square
from tfteach.ops.special.erf_lgamma import erf, erfc

# ln of the cumulative distribution: a series below the first, linear above the second.
_SEGMENTS = {np.float32: (-10.0, 5.0), np.float64: (-20.0, 8.0)}
_SERIES_TERMS = 3

# Numerator and denominator, from the highest power, for p above exp(-2), above exp(-32)
# and below.
_MIDDLE = (
    (-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1,
     1.39312609387279679503e1, -1.23916583867381258016e0),
    (1.0, 1.95448858338141759834e0, 4.67627912898881538453e0,
     8.63602421390890590575e1, -2.25462687854119370527e2, 2.00260212380060660359e2,
     -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0),
)  # fmt: skip
_OUTER = (
    (4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1,
     4.40805073893200834700e1, 1.46849561928858024014e1, 2.18663306850790267539e0,
     -1.40256079171354495875e-1, -3.50424626827848203418e-2,
     -8.57456785154685413611e-4),
    (1.0, 1.57799883256466749731e1, 4.53907635128879210584e1,
     4.13172038254672030440e1, 1.50425385692907503408e1, 2.50464946208309415979e0,
     -1.42182922854787788574e-1, -3.80806407691578277194e-2,
     -9.33259480895457427372e-4),
)  # fmt: skip
_FAR = (
    (3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0,
     1.33303460815807542389e0, 2.01485389549179081538e-1, 1.23716634817820021358e-2,
     3.01581553508235416007e-4, 2.65806974686737550832e-6,
     6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255e0, 3.67983563856160859403e0,
     1.37702099489081330271e0, 2.16236993594496635890e-1, 1.34204006088543189037e-2,
     3.28014464682127739104e-4, 2.89247864745380683936e-6,
     6.79019408009981274425e-9),
)  # fmt: skip


def _check(x: Tensor, what: str) -> Any:
    kind = x.dtype.numpy_dtype.type
    if kind not in _SEGMENTS:
        raise TypeError(
            f"{what}.dtype={x.dtype} is not handled, see docstring for supported types."
        )
    return kind


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """P(X <= x) of a standard normal X; x float32 or float64."""
    with name_scope(name, values=[x]):
        x = convert(x, name="x")
        _check(x, "x")
        return _ndtr(x)


def _ndtr(x: Tensor) -> Tensor:
    half_root = constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_root
    z = abs(w)
    is_near = less(z, half_root)
    near = 1.0 + erf(w)
    is_above = greater(w, 0.0)
    far = where_v2(is_above, 2.0 - erfc(z), erfc(z))
    return 0.5 * where_v2(is_near, near, far)


def log_ndtr(x: Any, name: str = "log_ndtr") -> Tensor:
    """ln P(X <= x) of a standard normal X, by an asymptotic series for x << 0."""
    with name_scope(name, values=[x]):
        x = convert(x, name="x")
        lower, upper = _SEGMENTS[_check(x, "x")]
        is_high = greater(x, upper)
        high = -_ndtr(-x)
        is_middle = greater(x, lower)
        middle = log(_ndtr(maximum(x, lower)))
        low = _log_series(minimum(x, lower))
        return where_v2(is_high, high, where_v2(is_middle, middle, low))


def _log_series(x: Tensor) -> Tensor:
    squared = square(x)
    scale = -0.5 * squared - log(-x) - 0.5 * np.log(2.0 * np.pi)
    kind = x.dtype.numpy_dtype.type
    squared = square(x)
    sums, power = [zeros_like(x), zeros_like(x)], squared
    for n in range(1, _SERIES_TERMS + 1):
        odd_factorial = np.prod(np.arange(2 * n - 1, 1, -2))
        sums[n % 2] += np.array(odd_factorial, kind) / power
        power *= squared
    even, odd = sums
    result: Tensor = scale + log(1.0 + even - odd)
    return result


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The x with P(X <= x) = p of a standard normal X; p float32 or float64."""
    with name_scope(name, values=[p]):
        p = convert(p, name="p")
        kind = _check(p, "p")
        mirrored = where_v2(p > -np.expm1(-2.0), 1.0 - p, p)
        is_none = mirrored <= 0.0
        q = where_v2(is_none, fill(shape(p), np.array(0.5, kind)), mirrored)
        w = q - 0.5
        ww = w**2
        middle = w + w * ww * (
            _polynomial(ww, _MIDDLE[0]) / _polynomial(ww, _MIDDLE[1])
        )
        middle *= -np.sqrt(2.0 * np.pi)
        z = sqrt(-2.0 * log(q))
        first = z - log(z) / z
        far = _over(z, _FAR)
        outer = _over(z, _OUTER)
        far, outer = first - far, first - outer
        is_middle = q > np.exp(-2.0)
        x = where_v2(is_middle, middle, where_v2(z >= 8.0, far, outer))
        x = where_v2(p > 1.0 - np.exp(-2.0), x, -x)
        scalar = constant(np.inf, dtype=p.dtype)
        infinity = fill(shape(p), scalar)
        is_zero = p <= 0.0
        below = -infinity
        return where_v2(is_zero, below, where_v2(p >= 1.0, infinity, x))


def _over(z: Tensor, parts: Any) -> Tensor:
    """numerator(1 / z) / denominator(1 / z) / z."""
    above = _polynomial(1.0 / z, parts[0])
    result: Tensor = above / _polynomial(1.0 / z, parts[1]) / z
    return result


def _polynomial(x: Tensor, coefficients: Any) -> Any:
    """Horner's scheme, which starts with a product with zeros, as in TF."""
    kind = x.dtype.numpy_dtype.type
    total: Any = zeros_like(x)
    for coefficient in np.array(coefficients, kind):
        total = coefficient + total * x
    return total


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """ln P(X <= x) of a standard Laplace X."""
    with name_scope(name, values=[x]):
        x = convert(x, name="x")
        lower = -np.log(2.0) + x
        tail = exp(-abs(x))
        upper = log1p(-0.5 * tail)
        return where_v2(x < 0.0, lower, upper)
