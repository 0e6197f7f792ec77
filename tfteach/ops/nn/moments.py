"""Means and variances: `tf.nn.moments` and others.  Source: python/ops/nn_impl.py."""

from __future__ import annotations

from collections.abc import Iterable

from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import float16, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.gather import gather
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import squeeze, stop_gradient
from tfteach.ops.math.binary import add, squared_difference, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_prod, reduce_sum
from tfteach.ops.math.unary import reciprocal, square


@export("nn.moments")
def moments(
    x: Tensor,
    axes: TensorLike,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over some axes.

    `mean = sum(x) / n`, `variance = sum((x - mean) ** 2) / n`

    Args:
      x: float Tensor.
      axes: a list of ints, the axes to reduce.
      shift: ignored, as in TF.
      name: the name scope of the ops.
      keep_dims: deprecated name of `keepdims`.
      keepdims: whether to keep those axes, with size 1.

    Returns:
      Two Tensors of `x`'s type.

    Example:
      >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), [0])  # 2., 1.

    Source: python/ops/nn_impl.py.
    """
    keep = bool(
        deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    )
    with name_scope(name, "moments", [x, axes]):
        is_short = x.dtype.base_dtype == float16
        y = cast(x, float32) if is_short else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        # The variance's gradient with respect to the mean is zero anyway.
        squares = squared_difference(y, stop_gradient(mean))
        variance = reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keep:
            mean = squeeze(mean, axes)
            variance = squeeze(variance, axes)
        if is_short:
            return cast(mean, float16), cast(variance, float16)
        return mean, variance


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike,
    axes: Iterable[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Sufficient statistics for mean and variance over some axes.

    Args:
      x: float Tensor.
      axes: a list of ints.
      shift: a number near the mean, for accuracy; None is 0.
      keep_dims, keepdims: whether to keep those axes, with size 1.
      name: the name scope of the ops.

    Returns:
      The number of elements, the sum of `x - shift`, the sum of its squares, the shift.

    Source: python/ops/nn_impl.py.
    """
    axes = list(set(axes))
    keep = bool(
        deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    )
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
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike | None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance from the results of `tf.nn.sufficient_statistics`.

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
    x: TensorLike,
    axes: TensorLike,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over some axes, with a weight per element.

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
    keep = bool(
        deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    )
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
