"""Statistics composed of reductions: logsumexp, variance, norms, counts.

Source: python/ops/math_ops.py.
"""

from __future__ import annotations

from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import is_full
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import zeros, zeros_like
from tfteach.ops.core.identity_reshape import reshape, stop_gradient
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import Add, Sub
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import not_equal
from tfteach.ops.math.exponential import Exp, Log
from tfteach.ops.math.reduce_functions import (
    both,
    reduce,
    reduce_max,
    reduce_mean,
    reduce_sum,
)
from tfteach.ops.math.reduce_ops import EuclideanNorm
from tfteach.ops.math.rounding import IsFinite
from tfteach.ops.math.unary import Sqrt, Square


@export("math.reduce_logsumexp", "reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The logarithm of a sum of exponentials, without overflow.

    y = ln Σ exp(x) = m + ln Σ exp(x - m), m = max x

    Args:
      input_tensor: float Tensor of any shape.
      axis: the axis or axes to sum over; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of that type, without the reduced axes.

    Example:
      >>> tf.Session().run(tf.reduce_logsumexp([0.0, 0.0]))
      0.6931472

    Source: python/ops/math_ops.py.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    x = convert(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]):
        raw = reduce_max(x, axis, True)
        finite = where(IsFinite()(raw), raw, zeros_like(raw))
        largest = stop_gradient(finite)
        total = reduce_sum(Exp()(Sub()(x, largest)), axis, keepdims)
        result = Log()(total)
        if not keepdims:
            largest = reshape(largest, shape(result))
        result = Add()(result, largest)
        if axis is None and not keepdims and not is_full(result._shape):
            result.set_shape(())
        return result


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Euclidean norm along axes.

    y = √Σ|x|²

    Args:
      input_tensor: number Tensor of any shape.
      axis: the axis or axes to sum over; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.

    Returns:
      A Tensor of that type, without the reduced axes.  As in TF 1.15 it has no
      gradient: for training use `tf.norm`.

    Example:
      >>> tf.Session().run(tf.math.reduce_euclidean_norm([3.0, 4.0]))
      5.0

    Source: EuclideanNorm in core/ops/math_ops.cc.
    """
    return reduce(EuclideanNorm, input_tensor, axis, keepdims, name)


@export("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The variance along axes (population variance).

    y = Σ (x - mean x)² / n

    Args:
      input_tensor: float Tensor of any shape.
      axis: the axis or axes to reduce; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the name of the scope of its ops.

    Returns:
      A Tensor of that type, without the reduced axes.

    Example:
      >>> tf.Session().run(tf.math.reduce_variance(tf.constant([1.0, 3.0])))
      1.0

    Source: python/ops/math_ops.py.
    """
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis, True)
        return reduce_mean(Square()(input_tensor - means), axis, keepdims)


@export("math.reduce_std")
def reduce_std(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation along axes (of the population).

    y = √(Σ (x - mean x)² / n)

    Args:
      input_tensor: float Tensor of any shape.
      axis: the axis or axes to reduce; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the name of the scope of its ops.

    Returns:
      A Tensor of that type, without the reduced axes.

    Example:
      >>> tf.Session().run(tf.math.reduce_std(tf.constant([1.0, 3.0])))
      1.0

    Source: python/ops/math_ops.py.
    """
    with name_scope(name or "reduce_std"):
        return Sqrt()(reduce_variance(input_tensor, axis, keepdims))


@export("math.count_nonzero", "count_nonzero")
def count_nonzero(
    input_tensor: TensorLike | None = None,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = int64,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The number of nonzero elements along axes.

    y = Σ (x ≠ 0)

    Args:
      input_tensor: number, bool or string Tensor of any shape.
      axis: the axis or axes to count along; all if None.
      keepdims: keep the reduced axes with size 1.
      dtype: the type of the count.
      name: the name of the scope of its ops.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.
      input: alias of `input_tensor`.

    Returns:
      A Tensor of type `dtype`, without the reduced axes.

    Example:
      >>> tf.Session().run(tf.count_nonzero([[0, 1], [2, 3]], 0))
      array([1, 2])

    Source: python/ops/math_ops.py.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    x = deprecated_argument_lookup("input", input, "input_tensor", input_tensor)
    with name_scope(name, "count_nonzero", [x]):
        x = convert(x, name="input")
        zero = zeros([], dtype=x.dtype)
        counted = cast(not_equal(x, zero), int64)
        return cast(reduce_sum(counted, axis, keepdims), dtype)
