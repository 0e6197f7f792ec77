"""The functions `tf.reduce_*`, `tf.argmax`, and those composed of them.

Source: python/ops/math_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.attributes import dtype_attribute
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import is_full
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.core.constant import constant_sizes
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import (
    All,
    Any_,
    ArgMax,
    ArgMin,
    Max,
    Mean,
    Min,
    Prod,
    Reduction,
    Sum,
)


def reduce(
    kind: type[Reduction], x: Any, axis: Any, keepdims: Any, name: str | None
) -> Tensor:
    """A node of a `Reduction`, built as by the public functions."""
    result: Tensor = kind(keepdims)(x, _axes(x, axis), name=name)
    if axis is None and not keepdims and not is_full(result._shape):
        result.set_shape(())
    return result


def _axes(x: Any, axis: Any) -> Any:
    """The reduction indices; if `axis` is None all of them, as a constant if known."""
    if axis is not None:
        return axis
    if isinstance(x, Tensor) and x._shape is not None:
        return constant_sizes(range(len(x._shape)))
    return range_of(0, rank(x))


def both(axis: Any, indices: Any, keepdims: Any, keep_dims: Any) -> tuple[Any, Any]:
    """`axis` and `keepdims`, given by their newer or older names."""
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", indices)
    return axis, deprecated_argument_lookup(
        "keepdims", keepdims, "keep_dims", keep_dims
    )


@export("math.reduce_sum", "reduce_sum")
def reduce_sum(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sum along axes.

    y = Σ x

    Args:
      input_tensor: number Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of the type of `input_tensor`, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], 1))
      array([3., 7.], dtype=float32)

    Source: Sum in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(Sum, input_tensor, axis, keepdims, name)


@export("math.reduce_mean", "reduce_mean")
def reduce_mean(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The mean along axes.

    y = Σ x / n; for integers truncated towards zero

    Args:
      input_tensor: number Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of the type of `input_tensor`, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], 1))
      array([1.5, 3.5], dtype=float32)

    Source: Mean in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(Mean, input_tensor, axis, keepdims, name)


@export("math.reduce_prod", "reduce_prod")
def reduce_prod(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The product along axes.

    y = Π x

    Args:
      input_tensor: number Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of the type of `input_tensor`, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_prod([[1.0, 2.0], [3.0, 4.0]], 1))
      array([ 2., 12.], dtype=float32)

    Source: Prod in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(Prod, input_tensor, axis, keepdims, name)


@export("math.reduce_max", "reduce_max")
def reduce_max(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest element along axes.

    y = max x

    Args:
      input_tensor: float or int Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of the type of `input_tensor`, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_max([[1.0, 2.0], [3.0, 4.0]], 1))
      array([2., 4.], dtype=float32)

    Source: Max in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(Max, input_tensor, axis, keepdims, name)


@export("math.reduce_min", "reduce_min")
def reduce_min(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The smallest element along axes.

    y = min x

    Args:
      input_tensor: float or int Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of the type of `input_tensor`, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_min([[1.0, 2.0], [3.0, 4.0]], 1))
      array([1., 3.], dtype=float32)

    Source: Min in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(Min, input_tensor, axis, keepdims, name)


@export("math.reduce_all", "reduce_all")
def reduce_all(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether all elements along axes are true.

    y = x₁ and x₂ and ...

    Args:
      input_tensor: bool Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of type bool, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_all([[True, False], [True, True]], 1))
      array([False,  True])

    Source: All in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(All, input_tensor, axis, keepdims, name)


@export("math.reduce_any", "reduce_any")
def reduce_any(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether any element along axes is true.

    y = x₁ or x₂ or ...

    Args:
      input_tensor: bool Tensor of any shape.
      axis: the axis or axes to reduce, negative from the end; all if None.
      keepdims: keep the reduced axes with size 1.
      name: the op's name.
      reduction_indices: older name of `axis`.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of type bool, without the reduced axes.

    Raises:
      ValueError: an axis is out of range, or an argument is given by both its names.

    Example:
      >>> tf.Session().run(tf.reduce_any([[True, False], [False, False]], 1))
      array([ True, False])

    Source: Any in core/ops/math_ops.cc.
    """
    axis, keepdims = both(axis, reduction_indices, keepdims, keep_dims)
    return reduce(Any_, input_tensor, axis, keepdims, name)


@export("math.argmax", "argmax")
def argmax(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dimension: TensorLike | None = None,
    output_type: DTypeLike = int64,
) -> Tensor:
    """Index of the largest element along an axis; the first on ties.

    y = argmax x

    Args:
      input: float or int Tensor of any shape except a scalar.
      axis: the axis to search along, negative from the end; 0 if None.
      name: the op's name.
      dimension: older name of `axis`.
      output_type: tf.int32 or tf.int64.

    Returns:
      A Tensor of `output_type`, without that axis.

    Raises:
      ValueError: the axis is out of range, or given by both its names.

    Example:
      >>> tf.Session().run(tf.argmax([[1.0, 3.0], [4.0, 2.0]], 1))
      array([1, 0])

    Source: ArgMax in core/ops/math_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
    axis = 0 if axis is None else axis
    return ArgMax(dtype_attribute("output_type", output_type))(input, axis, name=name)


@export("arg_max")
def arg_max(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """`tf.argmax` under its older name."""
    return ArgMax(dtype_attribute("output_type", output_type))(
        input, dimension, name=name
    )


@export("math.argmin", "argmin")
def argmin(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dimension: TensorLike | None = None,
    output_type: DTypeLike = int64,
) -> Tensor:
    """Index of the smallest element along an axis; the first on ties.

    y = argmin x

    Args:
      input: float or int Tensor of any shape except a scalar.
      axis: the axis to search along, negative from the end; 0 if None.
      name: the op's name.
      dimension: older name of `axis`.
      output_type: tf.int32 or tf.int64.

    Returns:
      A Tensor of `output_type`, without that axis.

    Raises:
      ValueError: the axis is out of range, or given by both its names.

    Example:
      >>> tf.Session().run(tf.argmin([[1.0, 3.0], [4.0, 2.0]], 1))
      array([0, 1])

    Source: ArgMin in core/ops/math_ops.cc.
    """
    axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
    axis = 0 if axis is None else axis
    return ArgMin(dtype_attribute("output_type", output_type))(input, axis, name=name)


@export("arg_min")
def arg_min(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """`tf.argmin` under its older name."""
    return ArgMin(dtype_attribute("output_type", output_type))(
        input, dimension, name=name
    )
