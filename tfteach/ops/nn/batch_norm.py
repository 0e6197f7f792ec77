"""Batch normalization composed of elementary ops, and the moments it requires.

Source: python/ops/nn_impl.py; Ioffe and Szegedy 2015.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.math.cast import cast
from tfteach.ops.math.unary import rsqrt


@export("nn.batch_normalization")
def batch_normalization(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`.

    Args:
      x: float Tensor of any shape.
      mean, variance: Tensors that broadcast to `x`, as from `tf.nn.moments`.
      offset, scale: the same, or None.
      variance_epsilon: a small float that prevents division by zero.
      name: the name scope of the ops.

    Returns:
      A Tensor like `x`.

    Example:
      >>> x = tf.constant([[1.0], [3.0]])
      >>> mean, variance = tf.nn.moments(x, [0])
      >>> tf.nn.batch_normalization(x, mean, variance, None, None, 0.0)  # -1, 1

    Source: python/ops/nn_impl.py.
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse *= scale
        scaled = x * cast(inverse, x.dtype)
        shift = -mean * inverse if offset is None else offset - mean * inverse
        return scaled + cast(shift, x.dtype)


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: Tensor | None = None,
    m: Tensor | None = None,
    v: Tensor | None = None,
    beta: TensorLike | None = None,
    gamma: TensorLike | None = None,
    variance_epsilon: TensorLike | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: Tensor | None = None,
    mean: Tensor | None = None,
    variance: Tensor | None = None,
) -> Tensor:
    """`tf.nn.batch_normalization` under an older name.

    Args:
      t, input: float Tensor.
      m, mean, v, variance: its moments.
      beta: the offset.
      gamma: the scale, used if `scale_after_normalization`.
      variance_epsilon, name: as for `tf.nn.batch_normalization`.

    Source: python/ops/nn_impl.py.
    """
    t = deprecated_argument_lookup("input", input, "t", t)
    m = deprecated_argument_lookup("mean", mean, "m", m)
    v = deprecated_argument_lookup("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)
