"""The Laplace distribution.

Source: python/ops/distributions/laplace.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.base import FULLY_REPARAMETERIZED
from tfteach.lib.distributions.location_scale import LocationScale
from tfteach.lib.distributions.normal_cdf import log_cdf_laplace
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.math.complex import abs
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.math.unary import sign
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_ops import random_uniform


@export("distributions.Laplace", "contrib.distributions.Laplace")
class Laplace(LocationScale):
    """The Laplace distribution.

    density(x) = exp(-|x - loc| / scale) / (2 scale)

    The arguments are those of `tf.distributions.Normal`.

    Source: python/ops/distributions/laplace.py.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        parameters = dict(locals())
        scope = self._place(name, loc, scale, validate_args)
        super().__init__(
            self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self._loc, self._scale], scope,
        )  # fmt: skip

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        kind = self.dtype.numpy_dtype.type
        least = np.nextafter(kind(-1.0), kind(0.0))  # -1 would map to infinity
        u = random_uniform(sizes, least, 1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * sign(u) * log1p(-abs(u))

    def _prob(self, x: Any) -> Tensor:
        return exp(self._log_prob(x))

    def _log_cdf(self, x: Any) -> Tensor:
        return log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Any) -> Tensor:
        return log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-abs(z)))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -abs(self._z(x))

    def _log_normalization(self) -> Tensor:
        return math.log(2.0) + log(self.scale)

    def _entropy(self) -> Tensor:
        scale = self.scale + zeros_like(self.loc)
        return math.log(2.0) + 1.0 + log(scale)

    def _mean(self) -> Tensor:
        return self.loc + zeros_like(self.scale)

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self.scale + zeros_like(self.loc)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale


@export("contrib.distributions.LaplaceWithSoftplusScale")
class LaplaceWithSoftplusScale(Laplace):
    """A Laplace distribution whose scale is softplus(scale)."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as scope:
            width = softplus(scale, name="softplus_scale")
            super().__init__(loc, width, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
