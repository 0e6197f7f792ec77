"""Multinomial counts with probabilities drawn from a Dirichlet distribution.

Source: python/ops/distributions/dirichlet_multinomial.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.values import assert_equal
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import NOT_REPARAMETERIZED
from tfteach.lib.distributions.beta import valid_concentration
from tfteach.lib.distributions.dirichlet import Shares
from tfteach.lib.distributions.probabilities import (
    another_seed,
    check_classes,
    check_counts,
    log_combinations,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import matrix_set_diag
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import exp, log
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import sqrt
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.random.random_ops import multinomial
from tfteach.ops.special.incomplete_gamma_beta import lbeta


@export(
    "distributions.DirichletMultinomial", "contrib.distributions.DirichletMultinomial"
)
class DirichletMultinomial(Shares):
    """Counts of each class, with probabilities from a Dirichlet distribution.

    Args:
      total_count: float Tensor, the number of draws.
      concentration: float Tensor [..., k], the Dirichlet distribution's.
      validate_args: check parameters and values in every run.
      allow_nan_stats: return nan for undefined moments instead of an error.
      name: the prefix of all ops.

    Source: python/ops/distributions/dirichlet_multinomial.py.
    """

    def __init__(
        self,
        total_count: TensorLike,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as scope:
            count = convert(total_count, name="total_count")
            self._total_count = check_counts(count) if validate_args else count
            own = convert(concentration, name="concentration")
            if validate_args:
                own = check_classes(own)
            self._concentration = valid_concentration(own, validate_args)
            self._total_concentration = reduce_sum(self._concentration, -1)
        super().__init__(
            self._concentration.dtype, NOT_REPARAMETERIZED, validate_args,
            allow_nan_stats, parameters, [self._total_count, self._concentration],
            scope,
        )  # fmt: skip

    @property
    def total_count(self) -> Tensor:
        """The number of draws."""
        return self._total_count

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        draws = cast(self.total_count, int32)
        k = self.event_shape_tensor()[0]
        shares = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        logits = reshape(log(shares), [-1, k])
        other = another_seed(seed, "dirichlet_multinomial")
        classes = multinomial(logits, draws, seed=other)
        counts = reduce_sum(one_hot(classes, depth=k), -2)
        whole = concat([[n], self.batch_shape_tensor(), [k]], 0)
        return cast(reshape(counts, whole), self.dtype)

    def _log_prob(self, counts: Any) -> Tensor:
        if self.validate_args:
            counts = self._valid(counts)
        ordered = lbeta(self.concentration + counts) - lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, counts)

    def _prob(self, counts: Any) -> Tensor:
        return exp(self._log_prob(counts))

    def _mean(self) -> Tensor:
        shares = self.concentration / self.total_concentration[..., None]
        return self.total_count * shares

    def _covariance(self) -> Tensor:
        x = self._spread() * self._mean()
        product = matmul(x[..., None], x[..., None, :])
        return matrix_set_diag(-product, self._variance())

    def _variance(self) -> Tensor:
        spread = self._spread()
        x = spread * self._mean()
        return x * (self.total_count * spread - x)

    def _spread(self) -> Tensor:
        total = self.total_concentration[..., None]
        return sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _valid(self, counts: Any) -> Any:
        counts = check_counts(counts)
        message = "counts last-dimension must sum to `self.total_count`"
        total = reduce_sum(counts, -1)
        check = assert_equal(self.total_count, total, message=message)
        return with_dependencies([check], counts)
