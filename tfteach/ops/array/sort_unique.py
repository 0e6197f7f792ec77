"""Tensors in order, and distinct parts of them along an axis.

Source: python/ops/sort_ops.py; core/ops/array_ops.cc (UniqueV2).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_vector
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.top_k_unique import top_k
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.core.shape_ops import range_of, rank, shape

_DIRECTIONS = ("ASCENDING", "DESCENDING")


@export("sort")
def sort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    name: str | None = None,
) -> Tensor:
    """The elements in order along an axis.

    Args:
      values: float or int Tensor of at least one axis (signed, for "ASCENDING").
      axis: the axis, a constant.
      direction: "ASCENDING" or "DESCENDING".
      name: the name of the scope.

    Returns:
      A Tensor of that shape and type.

    Raises:
      ValueError: `axis` is no constant scalar or `direction` neither word.

    Example:
      >>> tf.Session().run(tf.sort([3.0, 1.0, 2.0]))
      array([1., 2., 3.], dtype=float32)

    Source: python/ops/sort_ops.py.
    """
    with name_scope(name, "sort"):
        return _in_order(values, axis, direction, 0)


@export("argsort")
def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """Indices of the elements in sorted order.

    Args:
      values, axis, direction: as for `tf.sort`.
      stable: equal elements keep their order; they do in any case, as in TF.
      name: the name of the scope.

    Returns:
      An int32 Tensor of the shape of `values`.

    Raises:
      ValueError: `axis` is no constant scalar or `direction` neither word.

    Example:
      >>> tf.Session().run(tf.argsort([3.0, 1.0, 2.0]))
      array([1, 2, 0], dtype=int32)

    Source: python/ops/sort_ops.py.
    """
    with name_scope(name, "argsort"):
        return _in_order(values, axis, direction, 1)


def _in_order(values: Any, axis: Any, direction: str, which: int) -> Tensor:
    """The values (which = 0) or their places (1) in order, by TopKV2."""
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
        return top_k(values, size)[which]
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


class UniqueV2(Op):
    """The distinct slices along an axis, in order of appearance.

    Source: core/ops/array_ops.cc, UniqueV2.
    """

    signature = "x: T, axis: Taxis -> y: T, idx: out_idx"
    Taxis = INDICES
    Taxis_default = int64
    out_idx: DType = int32
    out_idx_allowed = INDICES
    by_value: ClassVar[tuple[str, ...]] = ("axis",)
    host_inputs: ClassVar[tuple[str, ...]] = ("axis",)
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, x: Shape, axis: Any) -> list[Shape]:
        return list(_slice_shapes(x, axis))

    def check_shapes(self, axis: Any) -> None:
        require_vector(axis, "axis expects a 1D vector.")

    def compute(self, xp: Any, x: Any, axis: Any) -> tuple[Any, Any]:
        return _distinct(x, axis, self.out_idx.numpy_dtype)[:2]


class UniqueWithCountsV2(Op):
    """UniqueV2, and how often each slice occurs.  Source: UniqueWithCountsV2."""

    signature = "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx"
    Taxis = INDICES
    Taxis_default = int64
    out_idx: DType = int32
    out_idx_allowed = INDICES
    by_value: ClassVar[tuple[str, ...]] = ("axis",)
    host_inputs: ClassVar[tuple[str, ...]] = ("axis",)
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, x: Shape, axis: Any) -> list[Shape]:
        return [*_slice_shapes(x, axis), (None,)]

    def check_shapes(self, axis: Any) -> None:
        require_vector(axis, "axis expects a 1D vector.")

    def compute(self, xp: Any, x: Any, axis: Any) -> tuple[Any, Any, Any]:
        return _distinct(x, axis, self.out_idx.numpy_dtype)


def _slice_shapes(x: Shape, axis: Any) -> tuple[Shape, Shape]:
    if axis is not None and not axis.size:
        shapes.with_rank(x, 1)
        return (None,), (None,) if x is None else x
    if x is None or axis is None:
        return None, (None,)
    place = int(axis.reshape(-1)[0])
    if not -len(x) <= place < len(x):
        raise ValueError(f"axis expects to be in the range [{-len(x)}, {len(x)})")
    place %= len(x)
    return (*x[:place], None, *x[place + 1 :]), (x[place],)


def _distinct(x: Any, axis: Any, dtype: Any) -> tuple[Any, Any, Any]:
    if axis.size > 1:
        raise invalid_argument("axis does not support more than one axis")
    if not axis.size and x.ndim != 1:
        raise invalid_argument("unique expects a 1D vector.")
    place = int(axis.reshape(-1)[0]) if axis.size else 0
    if not -x.ndim <= place < x.ndim:
        raise invalid_argument(f"axis has to be between [0, {x.ndim})")
    _, firsts, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=place
    )
    order = np.argsort(firsts)
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    return (
        np.take(x, firsts[order], place),
        number[inverse.reshape(-1)].astype(dtype),
        counts[order].astype(dtype),
    )
