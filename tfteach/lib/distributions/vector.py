"""Distributions of vectors: Dirichlet and multinomial; and Student's t.

Source: python/ops/distributions/{dirichlet,multinomial,student_t}.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import (
    assert_equal,
    assert_less,
    assert_near,
    assert_positive,
)
from tfteach.control.functional import map_fn
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    Scalar,
)
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.probabilities import (
    another_seed,
    check_counts,
    log_combinations,
    logits_and_probs,
)
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile_broadcast import one_hot
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import fill, ones, ones_like
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import matrix_set_diag
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater, less
from tfteach.ops.math.complex import abs
from tfteach.ops.math.division import xlogy
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.math.reduce_functions import reduce_all, reduce_sum
from tfteach.ops.math.unary import rsqrt, square
from tfteach.ops.nn.softmax import log_softmax
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.random.random_ops import multinomial, random_normal
from tfteach.ops.special.erf_lgamma import digamma, lgamma
from tfteach.ops.special.incomplete_gamma_beta import betainc, lbeta


class Shares(Distribution):
    """Distributions of vectors whose components have a `concentration`."""

    _concentration: Tensor
    _total_concentration: Tensor

    @property
    def concentration(self) -> Tensor:
        """The weights of the components."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """Their sum."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.shape

    def _event_shape_tensor(self) -> Any:
        return shape(self.concentration)[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.shape.with_rank_at_least(1)[-1:]


@export("distributions.Dirichlet", "contrib.distributions.Dirichlet")
class Dirichlet(Shares):
    """The Dirichlet distribution of shares that add up to 1.

    density(x) = Π xᵢ^(cᵢ - 1) / B(c), c the concentration

    Args:
      concentration: float Tensor [..., k], above 0.
      validate_args: check in every run that parameters and values can be such.
      allow_nan_stats: the mode is nan where there is none, else an error.
      name: the prefix of all ops.

    Source: python/ops/distributions/dirichlet.py.
    """

    def __init__(
        self,
        concentration: Any,
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

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        draws = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return draws / reduce_sum(draws, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Any:
        if self.validate_args:
            x = self._valid(x)
        level = reduce_sum(xlogy(self.concentration - 1.0, x), -1)
        return level - lbeta(self.concentration)

    def _prob(self, x: Any) -> Any:
        return exp(self._log_prob(x))

    def _entropy(self) -> Any:
        own, total = self.concentration, self.total_concentration
        k = cast(self.event_shape_tensor()[0], self.dtype)
        level = lbeta(own) + (total - k) * digamma(total)
        return level - reduce_sum((own - 1.0) * digamma(own), axis=-1)

    def _mean(self) -> Any:
        return self.concentration / self.total_concentration[..., None]

    def _covariance(self) -> Any:
        x = self._spread() * self._mean()
        product = matmul(x[..., None], x[..., None, :])
        return matrix_set_diag(-product, self._variance())

    def _variance(self) -> Any:
        spread = self._spread()
        x = spread * self._mean()
        return x * (spread - x)

    def _spread(self) -> Any:
        return rsqrt(1.0 + self.total_concentration[..., None])

    def _mode(self) -> Any:
        own = self.concentration
        k = cast(self.event_shape_tensor()[0], self.dtype)
        mode = (own - 1.0) / (self.total_concentration[..., None] - k)
        if self.allow_nan_stats:
            undefined = np.array(np.nan, self.dtype.numpy_dtype)
            nan = fill(shape(mode), undefined, name="nan")
            return where_v2(reduce_all(own > 1.0, axis=-1), mode, nan)
        words = "Mode undefined when any concentration <= 1"
        check = assert_less(ones([], self.dtype), own, message=words)
        return with_dependencies([check], mode)

    def _valid(self, x: Any) -> Any:
        checks = [assert_positive(x, message="samples must be positive")]
        one, total = ones([], dtype=self.dtype), reduce_sum(x, -1)
        words = "sample last-dimension must sum to `1`"
        checks.append(assert_near(one, total, message=words))
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


@export("distributions.Multinomial", "contrib.distributions.Multinomial")
class Multinomial(Distribution):
    """Counts of each class in a number of draws.

    Args:
      total_count: float Tensor, the number of draws.
      logits: float Tensor [..., k], unnormalized log-probabilities; or
      probs: float Tensor [..., k], probabilities.
      validate_args: check in every run that parameters and values can be such.
      allow_nan_stats: moments that do not exist are nan, else an error.
      name: the prefix of all ops.

    Raises:
      ValueError: both `logits` and `probs` are given, or neither.

    Source: python/ops/distributions/multinomial.py.
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
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

    def _batch_shape_tensor(self) -> Any:
        return shape(self._mean_val)[:-1]

    def _batch_shape(self) -> Any:
        return self._mean_val.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return shape(self._mean_val)[-1:]

    def _event_shape(self) -> Any:
        return self._mean_val.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        draws = cast(self.total_count, int32)
        k = self.event_shape_tensor()[0]
        draws = ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        logits = ones_like(draws[..., None], dtype=self.logits.dtype) * self.logits
        rows = reshape(logits, [-1, k])
        counts = n * reshape(draws, [-1])

        def one(row: Any) -> Any:
            classes = multinomial(row[0][None, ...], row[1], seed)
            classes = reshape(classes, [n, -1])
            return reduce_sum(one_hot(classes, depth=k), axis=-2)

        x = transpose(map_fn(one, [rows, counts], dtype=self.dtype), [1, 0, 2])
        return reshape(x, concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts: Any) -> Any:
        valid = self._valid(counts)
        level = reduce_sum(valid * log_softmax(self.logits), -1)
        return level - -log_combinations(self.total_count, self._valid(counts))

    def _mean(self) -> Any:
        return identity(self._mean_val)

    def _covariance(self) -> Any:
        p = self.probs * ones_like(self.total_count)[..., None]
        product = matmul(self._mean_val[..., None], p[..., None, :])
        return matrix_set_diag(-product, self._variance())

    def _variance(self) -> Any:
        p = self.probs * ones_like(self.total_count)[..., None]
        return self._mean_val - self._mean_val * p

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = check_counts(counts)
        words = "counts must sum to `self.total_count`"
        total = reduce_sum(counts, -1)
        check = assert_equal(self.total_count, total, message=words)
        return with_dependencies([check], counts)


@export("distributions.StudentT", "contrib.distributions.StudentT")
class StudentT(Scalar):
    """Student's t distribution, moved and stretched.

    density(x) ~ (1 + y² / df)^(-(df + 1) / 2), y = (x - loc) / scale

    Args:
      df: float Tensor, the degrees of freedom, above 0.
      loc, scale: Tensors of that type, where and how wide it is; all broadcast.
      validate_args: check in every run that `df` is positive.
      allow_nan_stats: moments that do not exist are nan, else an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Source: python/ops/distributions/student_t.py.
    """

    _own = ("df", "loc", "scale")

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as scope:
            checks = [assert_positive(df)] if validate_args else []
            with control_dependencies(checks):
                self._df = identity(df, name="df")
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
                assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._df, self._loc, self._scale], scope,
        )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return same_shapes(sample_shape, "df", "loc", "scale")

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The location parameter."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale parameter."""
        return self._scale

    def _ones(self) -> Tensor:
        return ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        normal = random_normal(sizes, dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        other = another_seed(seed, "student_t")
        draws = random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=other)
        return normal * rsqrt(draws / df) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        y = (x - self.loc) / self.scale
        level = -0.5 * (self.df + 1.0) * log1p(y**2.0 / self.df)
        return level - self._log_normalization()

    def _log_normalization(self) -> Any:
        return (
            log(abs(self.scale))
            + 0.5 * log(self.df)
            + 0.5 * np.log(np.pi)
            + lgamma(0.5 * self.df)
            - lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x: Any) -> Any:
        y = (x - self.loc) / abs(self.scale)
        share = self.df / (y**2.0 + self.df)
        tail = 0.5 * betainc(0.5 * self.df, 0.5, share)
        return where_v2(less(y, 0.0), tail, 1.0 - tail)

    def _entropy(self) -> Any:
        v = self._ones()[..., None]
        u = v * self.df[..., None]
        halves = concat([u, v], -1) / 2.0
        return (
            log(abs(self.scale))
            + 0.5 * log(self.df)
            + lbeta(halves)
            + 0.5
            * (self.df + 1.0)
            * (digamma(0.5 * (self.df + 1.0)) - digamma(0.5 * self.df))
        )

    def _mean(self) -> Any:
        return self._above_one(self.loc * self._ones(), "mean")

    def _variance(self) -> Any:
        has_one = greater(self.df, 2.0)
        denominator = where_v2(has_one, self.df - 2.0, ones_like(self.df))
        variance = self._ones() * square(self.scale) * self.df / denominator
        is_finite = self.df > fill(self.batch_shape_tensor(), 2.0)
        infinite = np.array(np.inf, self.dtype.numpy_dtype)
        infinity = fill(self.batch_shape_tensor(), infinite, name="inf")
        return self._above_one(where_v2(is_finite, variance, infinity), "variance")

    def _above_one(self, value: Any, what: str) -> Any:
        """A moment that exists for more than one degree of freedom only."""
        if self.allow_nan_stats:
            undefined = np.array(np.nan, self.dtype.numpy_dtype)
            exists = greater(self.df, self._ones())
            nan = fill(self.batch_shape_tensor(), undefined, name="nan")
            return where_v2(exists, value, nan)
        words = f"{what} not defined for components of df <= 1"
        check = assert_less(ones([], dtype=self.dtype), self.df, message=words)
        return with_dependencies([check], value)

    def _mode(self) -> Any:
        return identity(self.loc)
