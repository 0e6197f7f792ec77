"""The multinomial distribution.

Source: python/ops/distributions/multinomial.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.values import (
    assert_equal,
)
from tfteach.control.functional import map_fn
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import (
    NOT_REPARAMETERIZED,
    Distribution,
)
from tfteach.lib.distributions.probabilities import (
    check_counts,
    log_combinations,
    logits_and_probs,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import matrix_set_diag
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.softmax import log_softmax
from tfteach.ops.random.random_ops import multinomial


@export("distributions.Multinomial", "contrib.distributions.Multinomial")
class Multinomial(Distribution):
    """Counts of each class in a number of draws.

    Args:
      total_count: float Tensor, the number of draws.
      logits: float Tensor [..., k], unnormalized log-probabilities; or
      probs: float Tensor [..., k], probabilities.
      validate_args: check parameters and values in every run.
      allow_nan_stats: return nan for undefined moments instead of an error.
      name: the prefix of all ops.

    Raises:
      ValueError: both `logits` and `probs` are given, or neither.

    Source: python/ops/distributions/multinomial.py.
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            count = convert(total_count, name="total_count")
            self._total_count = check_counts(count) if validate_args else count
            self._logits, self._probs = logits_and_probs(
                logits, probs, True, validate_args, scope
            )
            self._mean_val = self._total_count[..., None] * self._probs
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._total_count, self._logits, self._probs], scope,
        )  # fmt: skip

    @property
    def total_count(self) -> Tensor:
        """The number of draws."""
        return self._total_count

    @property
    def logits(self) -> Tensor:
        """Log-probabilities of the classes."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """Probabilities of the classes."""
        return self._probs

    def _batch_shape_tensor(self) -> Tensor:
        return shape(self._mean_val)[:-1]

    def _batch_shape(self) -> Any:
        return self._mean_val.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return shape(self._mean_val)[-1:]

    def _event_shape(self) -> Any:
        return self._mean_val.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        draws = cast(self.total_count, int32)
        k = self.event_shape_tensor()[0]
        draws = ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        logits = ones_like(draws[..., None], dtype=self.logits.dtype) * self.logits
        rows = reshape(logits, [-1, k])
        counts = n * reshape(draws, [-1])

        def one(row: Any) -> Tensor:
            classes = multinomial(row[0][None, ...], row[1], seed)
            classes = reshape(classes, [n, -1])
            return reduce_sum(one_hot(classes, depth=k), axis=-2)

        x = transpose(map_fn(one, [rows, counts], dtype=self.dtype), [1, 0, 2])
        return reshape(x, concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts: Any) -> Tensor:
        valid = self._valid(counts)
        level = reduce_sum(valid * log_softmax(self.logits), -1)
        return level - -log_combinations(self.total_count, self._valid(counts))

    def _mean(self) -> Tensor:
        return identity(self._mean_val)

    def _covariance(self) -> Tensor:
        p = self.probs * ones_like(self.total_count)[..., None]
        product = matmul(self._mean_val[..., None], p[..., None, :])
        return matrix_set_diag(-product, self._variance())

    def _variance(self) -> Tensor:
        p = self.probs * ones_like(self.total_count)[..., None]
        return self._mean_val - self._mean_val * p

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = check_counts(counts)
        message = "counts must sum to `self.total_count`"
        total = reduce_sum(counts, -1)
        check = assert_equal(self.total_count, total, message=message)
        return with_dependencies([check], counts)
