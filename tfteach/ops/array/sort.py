"""`tf.sort` and `tf.argsort`.  Source: python/ops/sort_ops.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.top_k import top_k
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.math.range import range as range_of

_DIRECTIONS = ("ASCENDING", "DESCENDING")


@export("sort", "contrib.framework.sort")
def sort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    name: str | None = None,
) -> Tensor:
    """The elements sorted along an axis.

    Args:
      values: float or int Tensor of at least one axis (signed, for "ASCENDING").
      axis: the axis, a constant.
      direction: "ASCENDING" or "DESCENDING".
      name: the name of the scope.

    Returns:
      A Tensor of that shape and type.

    Raises:
      ValueError: `axis` is not a constant scalar, or `direction` is unknown.

    Example:
      >>> tf.Session().run(tf.sort([3.0, 1.0, 2.0]))
      array([1., 2., 3.], dtype=float32)

    Source: python/ops/sort_ops.py.
    """
    with name_scope(name, "sort"):
        return _in_order(values, axis, direction, 0)


@export("argsort", "contrib.framework.argsort")
def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """Indices of the elements in sorted order.

    Args:
      values, axis, direction: as for `tf.sort`.
      stable: whether equal elements stay in order; as in TF they always do.
      name: the name of the scope.

    Returns:
      An int32 Tensor of the shape of `values`.

    Raises:
      ValueError: `axis` is not a constant scalar, or `direction` is unknown.

    Example:
      >>> tf.Session().run(tf.argsort([3.0, 1.0, 2.0]))
      array([1, 2, 0], dtype=int32)

    Source: python/ops/sort_ops.py.
    """
    with name_scope(name, "argsort"):
        return _in_order(values, axis, direction, 1)


def _in_order(values: Any, axis: Any, direction: str, which: int) -> Tensor:
    """The sorted values (which = 0) or their indices (which = 1), by TopKV2."""
    if direction not in _DIRECTIONS:
        raise ValueError(f"{direction} should be one of {', '.join(_DIRECTIONS)}")
    axis = convert(axis, name="axis")
    known = constant_value(axis)
    if axis.shape.rank != 0 or known is None:
        raise ValueError("axis must be a constant scalar")
    values = convert(values, name="values")
    if direction == "DESCENDING":
        return _falling(values, int(known), which)
    found = _falling(-values, int(known), which)
    return found if which else -found


def _falling(values: Tensor, axis: int, which: int) -> Tensor:
    size = shape(values)[axis]
    axes, known = rank(values), values.shape.rank
    if axis == -1 or axis + 1 == known:
        result: Tensor = top_k(values, size)[which]
        return result
    place: Any = axis if axis >= 0 else axis + (known or axes)
    if known is not None:
        order = [*range(known)]
        order[place], order[-1] = order[-1], place
        swap: Any = constant(np.array(order), name="transposition")
    else:
        swap = concat(
            [
                range_of(0, place),
                [axes - 1],
                range_of(place + 1, axes - 1),
                [place],
            ],
            axis=0,
        )
    found = top_k(transpose(values, swap), size)[which]
    return transpose(found, swap)


# ---- distinct slices
