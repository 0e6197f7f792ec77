"""Gamma, exponential and beta distributions.

Source: python/ops/distributions/{gamma,exponential,beta}.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import assert_less, assert_positive
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED, Scalar
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.probabilities import another_seed
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import fill, ones, ones_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.compare import logical_and
from tfteach.ops.math.division import xlogy
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.math.unary import sqrt, square
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.random.random_ops import random_uniform
from tfteach.ops.special.erf_lgamma import digamma, lgamma
from tfteach.ops.special.incomplete_gamma_beta import betainc, igamma


class _Normalized(Scalar):
    """Distributions that know their density up to a factor, and the factor."""

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x: Any) -> Any:
        raise NotImplementedError

    def _log_normalization(self) -> Any:
        raise NotImplementedError

    def _undefined(self) -> Any:
        """nan in the batch's shape."""
        nan = np.array(np.nan, self.dtype.numpy_dtype)
        return fill(self.batch_shape_tensor(), nan, name="nan")


@export("distributions.Gamma", "contrib.distributions.Gamma")
class Gamma(_Normalized):
    """The gamma distribution.

    density(x) = rateᶜ xᶜ⁻¹ exp(-rate x) / Γ(c), c the concentration

    Args:
      concentration: float Tensor, the shape, above 0.
      rate: Tensor of that type, the inverse scale, above 0; they broadcast.
      validate_args: check in every run that parameters and values are positive.
      allow_nan_stats: the mode is nan where there is none, else an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Source: python/ops/distributions/gamma.py.
    """

    _own = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as scope:
            checks = []
            if validate_args:
                checks = [assert_positive(concentration), assert_positive(rate)]
            with control_dependencies(checks):
                self._concentration = identity(concentration, name="concentration")
                self._rate = identity(rate, name="rate")
                assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args,
            allow_nan_stats, parameters, [self._concentration, self._rate], scope,
        )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return same_shapes(sample_shape, "concentration", "rate")

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scale."""
        return self._rate

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _cdf(self, x: Any) -> Any:
        x = self._valid(x)
        return igamma(self.concentration, self.rate * x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._valid(x)
        return xlogy(self.concentration - 1.0, x) - self.rate * x

    def _log_normalization(self) -> Any:
        return lgamma(self.concentration) - self.concentration * log(self.rate)

    def _entropy(self) -> Any:
        level = self.concentration - log(self.rate) + lgamma(self.concentration)
        return level + (1.0 - self.concentration) * digamma(self.concentration)

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / square(self.rate)

    def _stddev(self) -> Any:
        return sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = self._undefined()
            return where_v2(self.concentration > 1.0, mode, nan)
        words = "mode not defined when any concentration <= 1"
        one = ones([], self.dtype)
        check = assert_less(one, self.concentration, message=words)
        return with_dependencies([check], mode)

    def _valid(self, x: Any) -> Any:
        assert_same_float_dtype([x], self.dtype)
        if not self.validate_args:
            return x
        return with_dependencies([assert_positive(x)], x)


@export("contrib.distributions.GammaWithSoftplusConcentrationRate")
class GammaWithSoftplusConcentrationRate(Gamma):
    """A gamma distribution of softplus(concentration) and softplus(rate)."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as scope:
            own = softplus(concentration, name="softplus_concentration")
            speed = softplus(rate, name="softplus_rate")
            super().__init__(own, speed, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


@RegisterKL(Gamma, Gamma)
def _kl_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    values = [a.concentration, a.rate, b.concentration, b.rate]
    with name_scope(name, "kl_gamma_gamma", values=values):
        return (
            (a.concentration - b.concentration) * digamma(a.concentration)
            + lgamma(b.concentration)
            - lgamma(a.concentration)
            + b.concentration * log(a.rate)
            - b.concentration * log(b.rate)
            + a.concentration * (b.rate / a.rate - 1.0)
        )


@export("distributions.Exponential", "contrib.distributions.Exponential")
class Exponential(Gamma):
    """The exponential distribution: gamma with concentration 1.

    density(x) = rate exp(-rate x)

    Args:
      rate: float Tensor, the inverse mean, above 0.
      validate_args: check in every run that `rate` and values are positive.
      allow_nan_stats: moments that do not exist are nan, else an error.
      name: the prefix of all ops.

    Source: python/ops/distributions/exponential.py.
    """

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            self._rate = convert(rate, name="rate")
        one = ones([], dtype=self._rate.dtype)
        super().__init__(one, self._rate, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
        self._graph_parents += [self._rate]

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return {"rate": convert(sample_shape, int32)}

    def _log_survival_function(self, value: Any) -> Any:
        return self._log_prob(value) - log(self._rate)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sizes = concat([[n], shape(self._rate)], 0)
        least = np.finfo(self.dtype.numpy_dtype).tiny  # 0 itself would be at infinity
        draws = random_uniform(sizes, least, 1.0, seed=seed, dtype=self.dtype)
        return -log(draws) / self._rate


@export("contrib.distributions.ExponentialWithSoftplusRate")
class ExponentialWithSoftplusRate(Exponential):
    """An exponential distribution whose rate is softplus(rate)."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            speed = softplus(rate, name="softplus_rate")
            super().__init__(speed, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


def valid_concentration(concentration: Any, validate_args: bool) -> Any:
    """The concentration; checked in every run, if that is asked for."""
    if not validate_args:
        return concentration
    words = "Concentration parameter must be positive."
    check = assert_positive(concentration, message=words)
    return with_dependencies([check], concentration)


@export("distributions.Beta", "contrib.distributions.Beta")
class Beta(_Normalized):
    """The beta distribution of shares between 0 and 1.

    density(x) = xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)

    Args:
      concentration1: float Tensor, a, above 0.
      concentration0: Tensor of that type, b, above 0; they broadcast.
      validate_args: check in every run that parameters and values can be such.
      allow_nan_stats: the mode is nan where there is none, else an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Source: python/ops/distributions/beta.py.
    """

    _own = ("total_concentration",)

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            one = convert(concentration1, name="concentration1")
            self._concentration1 = valid_concentration(one, validate_args)
            zero = convert(concentration0, name="concentration0")
            self._concentration0 = valid_concentration(zero, validate_args)
            assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        parents = [
            self._concentration1, self._concentration0, self._total_concentration
        ]  # fmt: skip
        super().__init__(
            self._total_concentration.dtype, FULLY_REPARAMETERIZED, validate_args,
            allow_nan_stats, parameters, parents, scope,
        )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return same_shapes(sample_shape, "concentration1", "concentration0")

    @property
    def concentration1(self) -> Tensor:
        """The weight of 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The weight of 0."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both."""
        return self._total_concentration

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        total, dtype = self.total_concentration, self.dtype
        alphas = [
            ones_like(total, dtype=dtype) * own
            for own in (self.concentration1, self.concentration0)
        ]
        one = random_gamma([n], alphas[0], dtype=dtype, seed=seed)
        other = another_seed(seed, "beta")
        zero = random_gamma([n], alphas[1], dtype=dtype, seed=other)
        return one / (one + zero)

    def _prob(self, x: Any) -> Any:
        return exp(self._log_prob(x))

    def _log_cdf(self, x: Any) -> Any:
        return log(self._cdf(x))

    def _cdf(self, x: Any) -> Any:
        return betainc(self.concentration1, self.concentration0, x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._valid(x)
        ones_part = xlogy(self.concentration1 - 1.0, x)
        return ones_part + (self.concentration0 - 1.0) * log1p(-x)

    def _log_normalization(self) -> Any:
        parts = lgamma(self.concentration1) + lgamma(self.concentration0)
        return parts - lgamma(self.total_concentration)

    def _entropy(self) -> Any:
        one, zero = self.concentration1, self.concentration0
        total = self.total_concentration
        level = self._log_normalization() - (one - 1.0) * digamma(one)
        level = level - (zero - 1.0) * digamma(zero)
        return level + (total - 2.0) * digamma(total)

    def _mean(self) -> Any:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Any:
        spread = self._mean() * (1.0 - self._mean())
        return spread / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        one, zero = self.concentration1, self.concentration0
        mode = (one - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            nan = self._undefined()
            return where_v2(logical_and(one > 1.0, zero > 1.0), mode, nan)
        checks = [
            assert_less(
                ones([], dtype=self.dtype),
                own,
                message=f"Mode undefined for concentration{digit} <= 1.",
            )
            for digit, own in ((1, one), (0, zero))
        ]
        return with_dependencies(checks, mode)

    def _valid(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        checks = [assert_positive(x, message="sample must be positive")]
        words = "sample must be less than `1`."
        checks.append(assert_less(x, ones([], self.dtype), message=words))
        return with_dependencies(checks, x)


@export("contrib.distributions.BetaWithSoftplusConcentration")
class BetaWithSoftplusConcentration(Beta):
    """A beta distribution of softplus of both concentrations."""

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            one = softplus(concentration1, name="softplus_concentration1")
            zero = softplus(concentration0, name="softplus_concentration0")
            super().__init__(one, zero, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


@RegisterKL(Beta, Beta)
def _kl_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    values = [
        getattr(own, f"{which}concentration{digit}")
        for own in (a, b)
        for which, digit in (("", 1), ("", 0), ("total_", ""))
    ]
    with name_scope(name, "kl_beta_beta", values=values):
        level = b._log_normalization() - a._log_normalization()
        one = digamma(a.concentration1) * (b.concentration1 - a.concentration1)
        level = level - one
        zero = digamma(a.concentration0) * (b.concentration0 - a.concentration0)
        level = level - zero
        total = digamma(a.total_concentration)
        return level + total * (b.total_concentration - a.total_concentration)
