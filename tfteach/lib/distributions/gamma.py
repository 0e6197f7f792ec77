"""The gamma distribution.

Source: python/ops/distributions/gamma.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import assert_less, assert_positive
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.normalized import Normalized
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.division import xlogy
from tfteach.ops.math.exponential import log
from tfteach.ops.math.unary import sqrt, square
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.special.erf_lgamma import digamma, lgamma
from tfteach.ops.special.incomplete_gamma_beta import igamma


@export("distributions.Gamma", "contrib.distributions.Gamma")
class Gamma(Normalized):
    """The gamma distribution.

    density(x) = rateᶜ xᶜ⁻¹ exp(-rate x) / Γ(c), c the concentration

    Args:
      concentration: float Tensor, the shape, above 0.
      rate: Tensor of that type, the inverse scale, above 0; they broadcast.
      validate_args: check in every run that parameters and values are positive.
      allow_nan_stats: return nan for an undefined mode instead of an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Source: python/ops/distributions/gamma.py.
    """

    _own = ("concentration", "rate")

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
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

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _cdf(self, x: Any) -> Tensor:
        x = self._valid(x)
        return igamma(self.concentration, self.rate * x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._valid(x)
        return xlogy(self.concentration - 1.0, x) - self.rate * x

    def _log_normalization(self) -> Tensor:
        return lgamma(self.concentration) - self.concentration * log(self.rate)

    def _entropy(self) -> Tensor:
        level = self.concentration - log(self.rate) + lgamma(self.concentration)
        return level + (1.0 - self.concentration) * digamma(self.concentration)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / square(self.rate)

    def _stddev(self) -> Tensor:
        return sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = self._undefined()
            return where_v2(self.concentration > 1.0, mode, nan)
        message = "mode not defined when any concentration <= 1"
        one = ones([], self.dtype)
        check = assert_less(one, self.concentration, message=message)
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
        concentration: TensorLike,
        rate: TensorLike,
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
