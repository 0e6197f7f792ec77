"""Normal, uniform and Laplace distributions.

Source: python/ops/distributions/{normal,uniform,laplace}.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import assert_less, assert_positive
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED, Scalar
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.normal_cdf import log_cdf_laplace, log_ndtr, ndtr, ndtri
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile_broadcast import broadcast_dynamic_shape
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, ones_like, zeros, zeros_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import squared_difference
from tfteach.ops.math.compare import logical_or
from tfteach.ops.math.complex import abs
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.math.rounding import is_nan
from tfteach.ops.math.unary import sign, square
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_ops import random_normal, random_uniform


class _LocationScale(Scalar):
    """Distributions of loc + scale * Z."""

    _own = ("loc", "scale")

    def _place(self, name: str, loc: Any, scale: Any, validate_args: bool) -> str:
        """Make the parameter tensors; the name scope that they are in."""
        with name_scope(name, values=[loc, scale]) as scope:
            checks = [assert_positive(scale)] if validate_args else []
            with control_dependencies(checks):
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
                assert_same_float_dtype([self._loc, self._scale])
        return scope

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return same_shapes(sample_shape, "loc", "scale")

    @property
    def loc(self) -> Tensor:
        """The location parameter."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale parameter."""
        return self._scale

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _mode(self) -> Any:
        return self._mean()

    def _log_unnormalized_prob(self, x: Any) -> Any:
        raise NotImplementedError

    def _log_normalization(self) -> Any:
        raise NotImplementedError


@export("distributions.Normal", "contrib.distributions.Normal")
class Normal(_LocationScale):
    """The normal distribution.

    density(x) = exp(-((x - loc) / scale)² / 2) / (scale √(2π))

    Args:
      loc: float Tensor, the mean.
      scale: Tensor of that type, the standard deviation, above 0; they broadcast.
      validate_args: check in every run that `scale` is positive.
      allow_nan_stats: moments that do not exist are nan, else an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Example:
      >>> normal = tf.distributions.Normal(0.0, [1.0, 2.0])
      >>> tf.Session().run(normal.prob(0.0))
      array([0.3989423 , 0.19947115], dtype=float32)

    Source: python/ops/distributions/normal.py.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        parameters = dict(locals())
        scope = self._place(name, loc, scale, validate_args)
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._loc, self._scale], scope,
        )  # fmt: skip

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        dtype = self.loc.dtype
        sampled = random_normal(sizes, mean=0.0, stddev=1.0, dtype=dtype, seed=seed)
        return sampled * self.scale + self.loc

    def _log_cdf(self, x: Any) -> Any:
        return log_ndtr(self._z(x))

    def _cdf(self, x: Any) -> Any:
        return ndtr(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_ndtr(-self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -0.5 * square(self._z(x))

    def _log_normalization(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi) + log(self.scale)

    def _entropy(self) -> Any:
        scale = self.scale * ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(scale)

    def _mean(self) -> Any:
        return self.loc * ones_like(self.scale)

    def _quantile(self, p: Any) -> Any:
        z = ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _stddev(self) -> Any:
        return self.scale * ones_like(self.loc)

    def _z(self, x: Any) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@export("contrib.distributions.NormalWithSoftplusScale")
class NormalWithSoftplusScale(Normal):
    """A normal distribution whose standard deviation is softplus(scale)."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as scope:
            width = softplus(scale, name="softplus_scale")
            super().__init__(loc, width, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


@RegisterKL(Normal, Normal)
def _kl_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two = constant(1, dtype=a.dtype), constant(2, dtype=a.dtype)
        half = constant(0.5, dtype=a.dtype)
        own, other = square(a.scale), square(b.scale)
        ratio = own / other
        apart = squared_difference(a.loc, b.loc) / (two * other)
        return apart + half * (ratio - one - log(ratio))


@export("distributions.Uniform", "contrib.distributions.Uniform")
class Uniform(Scalar):
    """The uniform distribution on [low, high).

    Args:
      low, high: float Tensors that broadcast, low < high.
      validate_args: check that in every run.
      allow_nan_stats: moments that do not exist are nan, else an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Example:
      >>> uniform = tf.distributions.Uniform(0.0, 4.0)
      >>> tf.Session().run([uniform.prob(1.0), uniform.cdf(1.0)])
      [0.25, 0.25]

    Source: python/ops/distributions/uniform.py.
    """

    _own = ("low", "high")

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(locals())
        words = "uniform not defined when low >= high."
        with name_scope(name, values=[low, high]) as scope:
            checks = [assert_less(low, high, message=words)] if validate_args else []
            with control_dependencies(checks):
                self._low = identity(low, name="low")
                self._high = identity(high, name="high")
                assert_same_float_dtype([self._low, self._high])
        super().__init__(
            self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._low, self._high], scope,
        )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return same_shapes(sample_shape, "low", "high")

    @property
    def low(self) -> Tensor:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper bound."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """high - low."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        samples = random_uniform(sizes, dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x: Any) -> Any:
        wide = x * ones(self.batch_shape_tensor(), dtype=x.dtype)
        unknown = is_nan(wide)
        outside = logical_or(wide < self.low, wide >= self.high)
        none = zeros_like(wide)
        inside = ones_like(wide) / self.range()
        return where_v2(unknown, wide, where_v2(outside, none, inside))

    def _cdf(self, x: Any) -> Any:
        sizes = broadcast_dynamic_shape(shape(x), self.batch_shape_tensor())
        nothing = zeros(sizes, dtype=self.dtype)
        all_of_it = ones(sizes, dtype=self.dtype)
        wide = x * all_of_it
        is_below = x < self.low
        below = where_v2(is_below, nothing, (wide - self.low) / self.range())
        return where_v2(x >= self.high, all_of_it, below)

    def _entropy(self) -> Any:
        return log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)


@export("distributions.Laplace", "contrib.distributions.Laplace")
class Laplace(_LocationScale):
    """Laplace's distribution.

    density(x) = exp(-|x - loc| / scale) / (2 scale)

    The arguments are those of `tf.distributions.Normal`.

    Source: python/ops/distributions/laplace.py.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        parameters = dict(locals())
        scope = self._place(name, loc, scale, validate_args)
        super().__init__(
            self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._loc, self._scale], scope,
        )  # fmt: skip

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        kind = self.dtype.numpy_dtype.type
        least = np.nextafter(kind(-1.0), kind(0.0))  # -1 itself would be at infinity
        u = random_uniform(sizes, least, 1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * sign(u) * log1p(-abs(u))

    def _prob(self, x: Any) -> Any:
        return exp(self._log_prob(x))

    def _log_cdf(self, x: Any) -> Any:
        return log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-abs(z)))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -abs(self._z(x))

    def _log_normalization(self) -> Any:
        return math.log(2.0) + log(self.scale)

    def _entropy(self) -> Any:
        scale = self.scale + zeros_like(self.loc)
        return math.log(2.0) + 1.0 + log(scale)

    def _mean(self) -> Any:
        return self.loc + zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + zeros_like(self.loc)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale


@export("contrib.distributions.LaplaceWithSoftplusScale")
class LaplaceWithSoftplusScale(Laplace):
    """A Laplace distribution whose scale is softplus(scale)."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as scope:
            width = softplus(scale, name="softplus_scale")
            super().__init__(loc, width, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
