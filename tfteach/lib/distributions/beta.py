"""The beta distribution.

Source: python/ops/distributions/beta.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import assert_less, assert_positive
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.normalized import Normalized
from tfteach.lib.distributions.probabilities import another_seed
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import ones, ones_like
from tfteach.ops.math.compare import logical_and
from tfteach.ops.math.division import xlogy
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.special.erf_lgamma import digamma, lgamma
from tfteach.ops.special.incomplete_gamma_beta import betainc


def valid_concentration(concentration: Any, validate_args: bool) -> Any:
    """The concentration, checked in every run if requested."""
    if not validate_args:
        return concentration
    message = "Concentration parameter must be positive."
    check = assert_positive(concentration, message=message)
    return with_dependencies([check], concentration)


@export("distributions.Beta", "contrib.distributions.Beta")
class Beta(Normalized):
    """The beta distribution on [0, 1].

    density(x) = xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)

    Args:
      concentration1: float Tensor, a, above 0.
      concentration0: Tensor of that type, b, above 0; the two broadcast.
      validate_args: check parameters and values in every run.
      allow_nan_stats: return nan for an undefined mode instead of an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Source: python/ops/distributions/beta.py.
    """

    _own = ("total_concentration",)

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
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
        result: Tensor = self._concentration1
        return result

    @property
    def concentration0(self) -> Tensor:
        """The weight of 0."""
        result: Tensor = self._concentration0
        return result

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both concentrations."""
        result: Tensor = self._total_concentration
        return result

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        total, dtype = self.total_concentration, self.dtype
        alphas = [
            ones_like(total, dtype=dtype) * own
            for own in (self.concentration1, self.concentration0)
        ]
        one = random_gamma([n], alphas[0], dtype=dtype, seed=seed)
        other = another_seed(seed, "beta")
        zero = random_gamma([n], alphas[1], dtype=dtype, seed=other)
        return one / (one + zero)

    def _prob(self, x: Any) -> Tensor:
        return exp(self._log_prob(x))

    def _log_cdf(self, x: Any) -> Tensor:
        return log(self._cdf(x))

    def _cdf(self, x: Any) -> Tensor:
        return betainc(self.concentration1, self.concentration0, x)

    def _log_unnormalized_prob(self, x: Any) -> Tensor:
        x = self._valid(x)
        ones_part = xlogy(self.concentration1 - 1.0, x)
        return ones_part + (self.concentration0 - 1.0) * log1p(-x)

    def _log_normalization(self) -> Tensor:
        parts = lgamma(self.concentration1) + lgamma(self.concentration0)
        return parts - lgamma(self.total_concentration)

    def _entropy(self) -> Tensor:
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
        message = "sample must be less than `1`."
        checks.append(assert_less(x, ones([], self.dtype), message=message))
        return with_dependencies(checks, x)


@export("contrib.distributions.BetaWithSoftplusConcentration")
class BetaWithSoftplusConcentration(Beta):
    """A beta distribution whose concentrations are passed through softplus."""

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
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
