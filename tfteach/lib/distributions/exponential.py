"""The exponential distribution.

Source: python/ops/distributions/exponential.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.distributions.gamma import Gamma
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import ones
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.exponential import log
from tfteach.ops.nn.activations import softplus
from tfteach.ops.random.random_ops import random_uniform


@export("distributions.Exponential", "contrib.distributions.Exponential")
class Exponential(Gamma):
    """The exponential distribution: gamma with concentration 1.

    density(x) = rate exp(-rate x)

    Args:
      rate: float Tensor, the inverse mean, above 0.
      validate_args: check in every run that `rate` and values are positive.
      allow_nan_stats: return nan for undefined moments instead of an error.
      name: the prefix of all ops.

    Source: python/ops/distributions/exponential.py.
    """

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            self._rate = convert(rate, name="rate")
        one = ones([], dtype=self._rate.dtype)
        super().__init__(one, self._rate, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
        self._graph_parents += [self._rate]

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return {"rate": convert(sample_shape, int32)}

    def _log_survival_function(self, value: Any) -> Tensor:
        result: Tensor = self._log_prob(value) - log(self._rate)
        return result

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        sizes = concat([[n], shape(self._rate)], 0)
        least = np.finfo(self.dtype.numpy_dtype).tiny  # 0 would map to infinity
        draws = random_uniform(sizes, least, 1.0, seed=seed, dtype=self.dtype)
        return -log(draws) / self._rate


@export("contrib.distributions.ExponentialWithSoftplusRate")
class ExponentialWithSoftplusRate(Exponential):
    """An exponential distribution whose rate is softplus(rate)."""

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            speed = softplus(rate, name="softplus_rate")
            super().__init__(speed, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
