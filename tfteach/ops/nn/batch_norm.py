"""Batch normalization from elementary ops, and the moments it needs.

Source: python/ops/nn_impl.py; Ioffe and Szegedy 2015.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float16, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.array.gather import gather
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import either, squeeze
from tfteach.ops.math.binary import add, multiply, squared_difference, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_prod, reduce_sum
from tfteach.ops.math.unary import reciprocal, rsqrt, square


@export("nn.batch_normalization")
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`.

    Args:
      x: float Tensor of any shape.
      mean, variance: Tensors that broadcast to `x`, as from `tf.nn.moments`.
      offset, scale: the same, or None.
      variance_epsilon: a small float, against divisions by zero.
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
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """`tf.nn.batch_normalization` by an old name.

    Args:
      t, input: float Tensor.
      m, mean, v, variance: its moments.
      beta: the offset.
      gamma: the scale, used if `scale_after_normalization`.
      variance_epsilon, name: as for `tf.nn.batch_normalization`.

    Source: python/ops/nn_impl.py.
    """
    t = either("input", input, "t", t)
    m = either("mean", mean, "m", m)
    v = either("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: Any = None,
    name: str | None = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Statistics from which mean and variance over some axes are computed.

    Args:
      x: float Tensor.
      axes: a list of ints.
      shift: a number near the mean, for precision; None is 0.
      keep_dims, keepdims: whether to keep those axes, with size 1.
      name: the name scope of the ops.

    Returns:
      The number of elements, the sum of `x - shift`, the sum of its squares, the shift.

    Source: python/ops/nn_impl.py.
    """
    axes = list(set(axes))
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert(x, name="x")
        sizes = None if x._shape is None else [x._shape[axis] for axis in axes]
        if sizes is not None and None not in sizes:
            number = 1
            for n in sizes:
                number *= n or 0
            count = constant(number, dtype=x.dtype)
        else:
            of_axes = gather(cast(shape_ops.shape(x), x.dtype), axes)
            count = reduce_prod(of_axes, name="count")
        if shift is None:
            values, squares = x, square(x)
        else:
            shift = convert(shift, name="shift")
            values, squares = subtract(x, shift), squared_difference(x, shift)
        values = reduce_sum(values, axes, keepdims=keep, name="mean_ss")
        squares = reduce_sum(squares, axes, keepdims=keep, name="var_ss")
        return count, values, squares, shift


@export("nn.normalize_moments")
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from what `tf.nn.sufficient_statistics` returns.

    Args:
      counts, mean_ss, variance_ss, shift: those Tensors.
      name: the name scope of the ops.

    Returns:
      Two Tensors like `mean_ss`.

    Source: python/ops/nn_impl.py.
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = reciprocal(counts, name="divisor")
        if shift is None:
            mean = shifted = multiply(mean_ss, divisor, name="mean")
        else:
            shifted = multiply(mean_ss, divisor, name="shifted_mean")
            mean = add(shifted, shift, name="mean")
        squares = multiply(variance_ss, divisor)
        return mean, subtract(squares, square(shifted), name="variance")


@export("nn.weighted_moments")
def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: Any = None,
    keepdims: Any = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over some axes, each element counted by its weight.

    `mean = sum(w * x) / sum(w)`, `variance = sum(w * (x - mean) ** 2) / sum(w)`

    Args:
      x: float Tensor.
      axes: a list of ints.
      frequency_weights: Tensor that broadcasts to `x`.
      name: the name scope of the ops.
      keep_dims, keepdims: whether to keep those axes, with size 1.

    Returns:
      Two Tensors of `x`'s type.

    Example:
      >>> tf.nn.weighted_moments(tf.constant([1.0, 3.0]), [0], [3.0, 1.0])  # 1.5, 0.75

    Source: python/ops/nn_impl.py.
    """
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert(x, name="x")
        weights = convert(frequency_weights, name="frequency_weights")
        is_short = x.dtype.base_dtype == float16
        if is_short:
            x = cast(x, float32)
        if weights.dtype.base_dtype != x.dtype.base_dtype:
            weights = cast(weights, x.dtype)
        total = reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        wide = weights + fill.zeros_like(x)
        weight = reduce_sum(wide, axes, name="sum_of_weights", keepdims=True)
        divisor = reciprocal(weight, name="inv_weight_sum")
        mean = multiply(total, divisor)
        squares = weights * squared_difference(x, mean)
        squares = reduce_sum(squares, axes, name="weighted_distsq", keepdims=True)
        variance = multiply(squares, divisor)
        if not keep:
            mean = squeeze(mean, axis=axes)
            variance = squeeze(variance, axis=axes)
        if is_short:
            return cast(mean, float16), cast(variance, float16)
        return mean, variance
