"""The normal distribution.

Source: python/ops/distributions/normal.py.
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED
from tfteach.lib.distributions.divergence import RegisterKL
from tfteach.lib.distributions.location_scale import LocationScale
from tfteach.lib.distributions.normal_cdf import log_ndtr, ndtr, ndtri
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones_like
from tfteach.ops.math.binary import squared_difference
from tfteach.ops.math.exponential import log
from tfteach.ops.math.unary import square
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_ops import random_normal


@export("distributions.Normal", "contrib.distributions.Normal")
class Normal(LocationScale):
    """The normal distribution.

    density(x) = exp(-((x - loc) / scale)² / 2) / (scale √(2π))

    Args:
      loc: float Tensor, the mean.
      scale: Tensor of that type, the standard deviation, above 0; they broadcast.
      validate_args: check in every run that `scale` is positive.
      allow_nan_stats: return nan for undefined moments instead of an error.
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
        loc: TensorLike,
        scale: TensorLike,
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

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        dtype = self.loc.dtype
        sampled = random_normal(sizes, mean=0.0, stddev=1.0, dtype=dtype, seed=seed)
        return sampled * self.scale + self.loc

    def _log_cdf(self, x: Any) -> Tensor:
        return log_ndtr(self._z(x))

    def _cdf(self, x: Any) -> Tensor:
        return ndtr(self._z(x))

    def _log_survival_function(self, x: Any) -> Tensor:
        return log_ndtr(-self._z(x))

    def _survival_function(self, x: Any) -> Tensor:
        return ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -0.5 * square(self._z(x))

    def _log_normalization(self) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi) + log(self.scale)

    def _entropy(self) -> Tensor:
        scale = self.scale * ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(scale)

    def _mean(self) -> Tensor:
        return self.loc * ones_like(self.scale)

    def _quantile(self, p: Any) -> Tensor:
        z = ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _stddev(self) -> Tensor:
        return self.scale * ones_like(self.loc)

    def _z(self, x: Any) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@export("contrib.distributions.NormalWithSoftplusScale")
class NormalWithSoftplusScale(Normal):
    """A normal distribution whose standard deviation is softplus(scale)."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
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
