"""Xavier's and He's initializers.

Source: contrib/layers/python/layers/initializers.py.
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.framework.dtypes import DType, float32
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.layers.utils import public
from tfteach.ops.random.random_ops import random_uniform, truncated_normal
from tfteach.variables.initializers import fans


@public("xavier_initializer")
@public("xavier_initializer_conv2d")
def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DType = float32
) -> Any:
    """An initializer with variance 2 / (inputs + outputs).

    Args:
      uniform: draw uniform instead of truncated normal numbers.
      seed: see `tf.set_random_seed`.
      dtype: a float type.

    Returns:
      A function of a shape, for `tf.get_variable(initializer=...)`.

    Paper: Glorot and Bengio, "Understanding the difficulty of training deep
    feedforward neural networks" (2010).
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


@public("variance_scaling_initializer")
def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DType = float32,
) -> Any:
    """An initializer with variance factor / n; the default is He's, for ReLU.

    Args:
      factor: a positive float.
      mode: the meaning of n: "FAN_IN", "FAN_OUT" or "FAN_AVG".
      uniform: draw uniform instead of truncated normal numbers.
      seed: see `tf.set_random_seed`.
      dtype: a float type.

    Returns:
      A function of a shape, for `tf.get_variable(initializer=...)`.

    Raises:
      TypeError: `dtype` is not a float type, or `mode` is unknown.

    Paper: He et al., "Delving deep into rectifiers" (2015).
    """
    _check_float(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)

    def initializer(
        shape: Any, dtype: DType = dtype, partition_info: Any = None
    ) -> Tensor:
        _check_float(dtype)
        fan_in, fan_out = fans(shape) if shape else (1, 1)
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out}.get(mode, (fan_in + fan_out) / 2.0)
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        # 1.3 approximately compensates for the truncation.
        stddev = math.sqrt(1.3 * factor / n)
        return truncated_normal(shape, 0.0, stddev, dtype, seed=seed)

    return initializer


def _check_float(dtype: DType) -> None:
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
