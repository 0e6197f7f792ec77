"""Student's t distribution.

Source: python/ops/distributions/student_t.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import (
    assert_less,
    assert_positive,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import (
    FULLY_REPARAMETERIZED,
    Scalar,
)
from tfteach.lib.distributions.probabilities import (
    another_seed,
)
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import fill, ones, ones_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.compare import greater, less
from tfteach.ops.math.complex import abs
from tfteach.ops.math.exponential import log, log1p
from tfteach.ops.math.unary import rsqrt, square
from tfteach.ops.random.random_gamma_poisson import random_gamma
from tfteach.ops.random.random_ops import random_normal
from tfteach.ops.special.erf_lgamma import digamma, lgamma
from tfteach.ops.special.incomplete_gamma_beta import betainc, lbeta


@export("distributions.StudentT", "contrib.distributions.StudentT")
class StudentT(Scalar):
    """Student's t distribution with location and scale.

    density(x) ~ (1 + y² / df)^(-(df + 1) / 2), y = (x - loc) / scale

    Args:
      df: float Tensor, the degrees of freedom, above 0.
      loc, scale: Tensors of that type, location and scale; all broadcast.
      validate_args: check in every run that `df` is positive.
      allow_nan_stats: return nan for undefined moments instead of an error.
      name: the prefix of all ops.

    Raises:
      TypeError: the parameters are not floats of one type.

    Source: python/ops/distributions/student_t.py.
    """

    _own = ("df", "loc", "scale")

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
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

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
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

    def _cdf(self, x: Any) -> Tensor:
        y = (x - self.loc) / abs(self.scale)
        share = self.df / (y**2.0 + self.df)
        tail = 0.5 * betainc(0.5 * self.df, 0.5, share)
        return where_v2(less(y, 0.0), tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
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
        """A moment that exists only for more than one degree of freedom."""
        if self.allow_nan_stats:
            undefined = np.array(np.nan, self.dtype.numpy_dtype)
            exists = greater(self.df, self._ones())
            nan = fill(self.batch_shape_tensor(), undefined, name="nan")
            return where_v2(exists, value, nan)
        message = f"{what} not defined for components of df <= 1"
        check = assert_less(ones([], dtype=self.dtype), self.df, message=message)
        return with_dependencies([check], value)

    def _mode(self) -> Tensor:
        return identity(self.loc)
