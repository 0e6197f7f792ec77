"""The uniform distribution.

Source: python/ops/distributions/uniform.py.
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import assert_less
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED, Scalar
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.array.broadcast_to import broadcast_dynamic_shape
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.fill import ones, ones_like, zeros, zeros_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.compare import logical_or
from tfteach.ops.math.exponential import log
from tfteach.ops.math.rounding import is_nan
from tfteach.ops.math.unary import square
from tfteach.ops.random.random_ops import random_uniform


@export("distributions.Uniform", "contrib.distributions.Uniform")
class Uniform(Scalar):
    """The uniform distribution on [low, high).

    Args:
      low, high: float Tensors that broadcast, low < high.
      validate_args: check in every run that low < high.
      allow_nan_stats: return nan for undefined moments instead of an error.
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
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(locals())
        message = "uniform not defined when low >= high."
        with name_scope(name, values=[low, high]) as scope:
            checks = [assert_less(low, high, message=message)] if validate_args else []
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

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        samples = random_uniform(sizes, dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x: Any) -> Tensor:
        wide = x * ones(self.batch_shape_tensor(), dtype=x.dtype)
        unknown = is_nan(wide)
        outside = logical_or(wide < self.low, wide >= self.high)
        none = zeros_like(wide)
        inside = ones_like(wide) / self.range()
        return where_v2(unknown, wide, where_v2(outside, none, inside))

    def _cdf(self, x: Any) -> Tensor:
        sizes = broadcast_dynamic_shape(shape(x), self.batch_shape_tensor())
        nothing = zeros(sizes, dtype=self.dtype)
        all_of_it = ones(sizes, dtype=self.dtype)
        wide = x * all_of_it
        is_below = x < self.low
        below = where_v2(is_below, nothing, (wide - self.low) / self.range())
        return where_v2(x >= self.high, all_of_it, below)

    def _entropy(self) -> Tensor:
        return log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12.0)
