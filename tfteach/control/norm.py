"""`tf.norm` and `tf.linalg.normalize`.

Source: python/ops/linalg_ops.py, nn_impl.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.functional import map_fn
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array import transpose_reverse
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.unique import setdiff1d
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core import shape_ops
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.math.binary import pow as power
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.complex import abs as tf_abs
from tfteach.ops.math.complex import conj
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_max, reduce_sum
from tfteach.ops.math.unary import sqrt


@export("norm", "linalg.norm")
def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors, matrices or a whole tensor.

    y = (Σ |x|ᵖ)^(1/p) for ord = p; max |x| for infinity

    Args:
      tensor: float or complex Tensor of any shape.
      ord: "euclidean", "fro" (matrices), 1, 2, infinity or another positive number.
      axis: the axis of the vectors, a pair for matrices; None: the flat tensor.
      keepdims: keep the reduced axes with size 1.
      name: the name of the scope of its ops.
      keep_dims: older name of `keepdims`.

    Returns:
      A Tensor of that type, without the reduced axes.

    Raises:
      ValueError: `ord` or `axis` is not supported.

    Example:
      >>> tf.Session().run(tf.norm([3.0, 4.0]))
      array(5., dtype=float32)

    Source: python/ops/linalg_ops.py.
    """
    keep = bool(
        deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    )
    axis, is_matrix = _norm_axis(ord, axis)
    with name_scope(name, "norm", [tensor]):
        x = convert(tensor)
        if ord in ("fro", "euclidean", 2):
            if is_matrix and ord == 2:
                result = _spectral_norm(x, axis)
            else:
                result = sqrt(reduce_sum(x * conj(x), axis, True))
        else:
            result = _absolute_norm(tf_abs(x), ord, axis, is_matrix)
        return result if keep else squeeze(result, axis)


def _spectral_norm(x: Tensor, axis: Any) -> Tensor:
    """The largest singular values, with the two axes kept as size 1."""
    from tfteach.ops.linalg.svd import Svd

    rank = shape_ops.rank(x)

    def positive(i: Any) -> Any:
        return cond(i >= 0, lambda: i, lambda: i + rank)

    def place(i: Any) -> Any:
        found = where_v2(equal(before, i))
        return cast(squeeze(found), int32)

    last = map_fn(positive, convert(axis))
    axes = range_of(rank)
    before = concat([setdiff1d(axes, last)[0], last], axis=0)
    after = map_fn(place, axes)
    turned = transpose_reverse.transpose(x, perm=before)
    sizes = tf_abs(Svd(False, False)(turned)[0])
    largest = expand_dims(reduce_max(sizes, axis=-1, keepdims=True), axis=-1)
    return transpose_reverse.transpose(largest, perm=after)


def _norm_axis(ord: Any, axis: Any) -> tuple[tuple[int, ...] | None, bool]:
    """The axes of a norm, and whether it is a matrix norm."""
    if isinstance(axis, tuple | list) and len(axis) == 2:
        if not all(isinstance(a, int) for a in axis) or axis[0] == axis[1]:
            raise ValueError(
                "'axis' must be None, an integer, or a tuple of 2 unique integers"
            )
        supported = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in supported:
            raise ValueError(
                f"'ord' must be a supported matrix norm in {supported}, got {ord}"
            )
        return tuple(axis), True
    if axis is not None and not isinstance(axis, int):
        raise ValueError(
            "'axis' must be None, an integer, or a tuple of 2 unique integers"
        )
    if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return (None if axis is None else (axis,)), False


def _absolute_norm(size: Tensor, ord: Any, axis: Any, is_matrix: bool) -> Tensor:
    first = None if axis is None else axis[0]
    if ord == 1:
        result = reduce_sum(size, first, True)
        return reduce_max(result, axis[-1], True) if is_matrix else result
    if ord == np.inf:
        if is_matrix:
            size = reduce_sum(size, axis[1], True)
        return reduce_max(size, first, True)
    return power(reduce_sum(power(size, ord), axis, True), 1.0 / ord)


@export("linalg.normalize")
def normalize(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """A tensor divided by its norm, and the norm.

    Args:
      tensor: float or complex Tensor.
      ord, axis: as for `tf.norm`.
      name: the name of the scope.

    Returns:
      (normalized, norm): a Tensor of the shape and type of `tensor`, and its norms,
      with the reduced axes kept as size 1.

    Source: python/ops/nn_impl.py.
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert(tensor)
        length = shape_ops.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / length, length
