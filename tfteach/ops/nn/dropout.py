"""Dropout: random zeros as regularization.  Source: python/ops/nn_ops.py."""

from __future__ import annotations

from numbers import Real
from typing import Any

from tfteach.framework.constant_values import python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape, as_shape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.math.cast import cast
from tfteach.ops.random.random_ops import random_uniform


@export("nn.dropout")
def dropout(
    x: TensorLike,
    keep_prob: Any = None,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike | None = None,
) -> Tensor:
    """`x / (1 - rate)` where a random number is at least `rate`, otherwise 0.

    Args:
      x: float Tensor.
      keep_prob: deprecated, `1 - rate`.
      noise_shape: shape of the random numbers, broadcast over `x`; `x`'s if None.
      seed: the op's random seed.
      name: the name scope of the ops.
      rate: the probability of a zero, a number in [0, 1) or a scalar Tensor.

    Returns:
      A Tensor like `x`, with the same expected value.

    Raises:
      ValueError: `rate` is out of range or missing, or `x` is not a float tensor.

    Example:
      >>> tf.nn.dropout(tf.ones([4]), rate=0.5)  # such as [2., 0., 0., 2.]

    Source: Srivastava et al. 2014; python/ops/nn_ops.py.
    """
    try:
        drop = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(
            f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
        ) from None
    rate = deprecated_argument_lookup("rate", rate, "keep_prob", drop)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        x = convert(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. "
                f"Got a {x.dtype} tensor instead."
            )
        if isinstance(rate, Real):
            if not 0 <= rate < 1:  # type: ignore[operator]
                raise ValueError(
                    "rate must be a scalar tensor or a float in the range [0, 1), got "
                    f"{rate:g}"
                )
            if rate == 0:
                return x
        rate = convert(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.shape.assert_has_rank(0)
        value = python_constant_value(rate)
        if value is not None and value == 0:
            return x
        return _drop(x, rate, _noise_shape(x, noise_shape), seed)


def _drop(x: Tensor, rate: Tensor, noise_shape: Any, seed: int | None) -> Tensor:
    dtype = x.dtype.base_dtype
    noise = random_uniform(noise_shape, seed=seed, dtype=dtype)
    scale = 1 / (1 - rate)
    keep = noise >= rate
    result = x * scale * cast(keep, dtype)
    result.set_shape(x.shape)
    return result


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the noise; unknown sizes are copied from `x`."""
    if noise_shape is None:
        return shape_ops.shape(x)
    try:
        wanted = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    own = x._shape
    if own is None or wanted is None or len(own) != len(wanted):
        return noise_shape
    return TensorShape(
        [m if n is None else n for m, n in zip(own, wanted, strict=True)]
    )
