"""Dropout that preserves mean and variance.

Source: contrib/nn/python/ops/alpha_dropout.py; Klambauer et al. 2017.
"""

from __future__ import annotations

from numbers import Real

from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater_equal
from tfteach.ops.random.random_ops import random_uniform

# The limit of selu for large negative inputs.
_ALPHA = -1.7580993408473766


@export("contrib.nn.alpha_dropout")
def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout for `tf.nn.selu`: dropped elements are set to selu's lower limit.

    Mean 0 and variance 1 are preserved.

    Args:
      x: float Tensor.
      keep_prob: a scalar in (0, 1], the fraction to keep.
      noise_shape: int Tensor, the shape of the random mask; that of `x` if None.
      seed: the seed of the random mask.
      name: the scope of the ops.

    Returns:
      A Tensor like `x`.

    Raises:
      ValueError: `keep_prob` is a number outside (0, 1], or not a scalar.

    Source: contrib/nn/python/ops/alpha_dropout.py.
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert(x, name="x")
        if isinstance(keep_prob, Real) and not 0 < float(keep_prob) <= 1.0:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], "
                f"got {float(keep_prob):g}"
            )
        keep_prob = convert(keep_prob, x.dtype, "keep_prob")
        keep_prob.get_shape().assert_has_rank(0)
        known = python_constant_value(keep_prob)
        if known is not None and known == 1:
            return x
        noise_shape = shape(x) if noise_shape is None else noise_shape
        chances = random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        kept = cast(greater_equal(chances, 1 - keep_prob), x.dtype)
        x = x * kept + _ALPHA * (1 - kept)
        variance = keep_prob + keep_prob * (1 - keep_prob) * _ALPHA**2
        scale = variance ** (-0.5)
        offset = -scale * _ALPHA * (1 - keep_prob)
        return scale * x + offset
