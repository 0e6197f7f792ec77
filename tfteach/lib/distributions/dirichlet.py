"""The Dirichlet distribution.

Source: python/ops/distributions/dirichlet.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.control.checks.values import (
    assert_less,
    assert_near,
    assert_positive,
)
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import (
    FULLY_REPARAMETERIZED,
    Distribution,
)
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import fill, ones
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import matrix_set_diag
from tfteach.ops.math.cast import cast
from tfteach.ops.math.division import xlogy
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.reduce_functions import reduce_all, reduce_sum
from tfteach.ops.math.unary import rsqrt
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.special.erf_lgamma import digamma
from tfteach.ops.special.incomplete_gamma_beta import lbeta


class Shares(Distribution):
    """Base of distributions of vectors with a `concentration`."""

    _concentration: Tensor
    _total_concentration: Tensor

    @property
    def concentration(self) -> Tensor:
        """The concentration of each component."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the concentrations."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Tensor:
        return shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.shape

    def _event_shape_tensor(self) -> Tensor:
        return shape(self.concentration)[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.shape.with_rank_at_least(1)[-1:]


@export("distributions.Dirichlet", "contrib.distributions.Dirichlet")
class Dirichlet(Shares):
    """The Dirichlet distribution on vectors of non-negative components with sum 1.

    density(x) = Π xᵢ^(cᵢ - 1) / B(c), c the concentration

    Args:
      concentration: float Tensor [..., k], above 0.
      validate_args: check parameters and values in every run.
      allow_nan_stats: return nan for an undefined mode instead of an error.
      name: the prefix of all ops.

    Source: python/ops/distributions/dirichlet.py.
    """

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as scope:
            own = convert(concentration, name="concentration")
            self._concentration = _valid_shares(own) if validate_args else own
            self._total_concentration = reduce_sum(self._concentration, -1)
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args,
            allow_nan_stats, parameters,
            [self._concentration, self._total_concentration], scope,
        )  # fmt: skip

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        draws = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return draws / reduce_sum(draws, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Tensor:
        if self.validate_args:
            x = self._valid(x)
        level = reduce_sum(xlogy(self.concentration - 1.0, x), -1)
        return level - lbeta(self.concentration)

    def _prob(self, x: Any) -> Tensor:
        return exp(self._log_prob(x))

    def _entropy(self) -> Any:
        own, total = self.concentration, self.total_concentration
        k = cast(self.event_shape_tensor()[0], self.dtype)
        level = lbeta(own) + (total - k) * digamma(total)
        return level - reduce_sum((own - 1.0) * digamma(own), axis=-1)

    def _mean(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _covariance(self) -> Tensor:
        x = self._spread() * self._mean()
        product = matmul(x[..., None], x[..., None, :])
        return matrix_set_diag(-product, self._variance())

    def _variance(self) -> Tensor:
        spread = self._spread()
        x = spread * self._mean()
        return x * (spread - x)

    def _spread(self) -> Tensor:
        return rsqrt(1.0 + self.total_concentration[..., None])

    def _mode(self) -> Any:
        own = self.concentration
        k = cast(self.event_shape_tensor()[0], self.dtype)
        mode = (own - 1.0) / (self.total_concentration[..., None] - k)
        if self.allow_nan_stats:
            undefined = np.array(np.nan, self.dtype.numpy_dtype)
            nan = fill(shape(mode), undefined, name="nan")
            return where_v2(reduce_all(own > 1.0, axis=-1), mode, nan)
        message = "Mode undefined when any concentration <= 1"
        check = assert_less(ones([], self.dtype), own, message=message)
        return with_dependencies([check], mode)

    def _valid(self, x: Any) -> Any:
        checks = [assert_positive(x, message="samples must be positive")]
        one, total = ones([], dtype=self.dtype), reduce_sum(x, -1)
        message = "sample last-dimension must sum to `1`"
        checks.append(assert_near(one, total, message=message))
        return with_dependencies(checks, x)


def _valid_shares(concentration: Tensor) -> Tensor:
    prefix = "Concentration parameter must"
    checks = [
        assert_positive(concentration, message=f"{prefix} be positive."),
        assert_rank_at_least(
            concentration, 1, message=f"{prefix} have >=1 dimensions."
        ),
        assert_less(
            1, shape(concentration)[-1], message=f"{prefix} have event_size >= 2."
        ),
    ]
    return with_dependencies(checks, concentration)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    values = [a.concentration, b.concentration]
    with name_scope(name, "kl_dirichlet_dirichlet", values=values):
        level = digamma(reduce_sum(a.concentration, axis=-1, keepdims=True))
        levels = digamma(a.concentration) - level
        apart = a.concentration - b.concentration
        total = reduce_sum(apart * levels, axis=-1) - lbeta(a.concentration)
        return total + lbeta(b.concentration)
