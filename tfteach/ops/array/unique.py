"""Distinct values, and the difference of two lists.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import DType, dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, DTypeLike, TensorLike
from tfteach.ops.array.jit_row_scatter import distinct
from tfteach.ops.array.row_access import groups_of
from tfteach.ops.core.identity_reshape import INDICES

_NUMBERS = np.dtype(np.int32), np.dtype(np.int64)

# The result types are named like the ops, as in TF.
_Unique: Any = namedtuple("Unique", "y idx")  # type: ignore[name-match]

_UniqueWithCounts: Any = namedtuple(  # type: ignore[name-match]
    "UniqueWithCounts", "y idx count"
)

_ListDiff: Any = namedtuple("ListDiff", "out idx")  # type: ignore[name-match]


class Unique(MultiOutputOp):
    """The distinct elements, in order of appearance.  Source: array_ops.cc, Unique."""

    signature = "x: T -> y: T, idx: out_idx"
    out_idx: DType = int32
    out_idx_allowed = dtypes_of("int32 int64")
    host_types_on_gpu: ClassVar[frozenset[str]] = frozenset(("int32", "int64"))

    def infer_shape(self, x: Shape) -> list[Shape]:
        if x is not None:
            shapes.with_rank(x, 1)
        return [(None,), x]

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        return _unique(xp, x, self.out_idx.numpy_dtype)

    def of_fixed_size(self) -> Op | None:
        return _PaddedUnique(self.out_idx)


class _PaddedUnique(Unique, abstract=True):
    """Unique in a step of a card, which needs outputs of one size."""

    def infer_shape(self, x: Shape) -> list[Shape]:
        return [x, x]

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        found, index = super().compute(xp, x)
        values = xp.full(x.shape, -1, x.dtype)
        values[: found.size] = found
        return values, index

    def of_fixed_size(self) -> Op | None:
        return None


class UniqueWithCounts(MultiOutputOp):
    """Unique, and each element's number of occurrences.  Source: UniqueWithCounts."""

    signature = "x: T -> y: T, idx: out_idx, count: out_idx"
    out_idx: DType = int32
    out_idx_allowed = dtypes_of("int32 int64")

    def infer_shape(self, x: Shape) -> list[Shape]:
        return [(None,), x, (None,)]

    def compute(self, xp: ArrayModule, x: Array) -> Any:
        values, inverse = _unique(xp, x, self.out_idx.numpy_dtype)
        counts = xp.bincount(inverse, minlength=values.size)
        return values, inverse, counts.astype(inverse.dtype)


def _nothing_compiled(xp: ArrayModule, x: Any) -> tuple[Any, Any] | None:
    return None


@with_card_kernel(_nothing_compiled)
def _compiled_distinct(xp: ArrayModule, x: Any) -> tuple[Any, Any] | None:
    """The distinct numbers and their indices, if a compiled loop finds them."""
    return distinct(x) if x.dtype in _NUMBERS else None


def _unique(xp: ArrayModule, x: Any, dtype: Any) -> tuple[Any, Any]:
    """The distinct elements, and each element's index among them."""
    if x.ndim != 1:
        raise invalid_argument("unique expects a 1D vector.")
    found = _compiled_distinct(xp, x)
    if found is not None:
        return found[0].astype(x.dtype), found[1].astype(dtype)
    order, is_first = groups_of(xp, x)
    firsts = order[is_first]  # the index of each value's first occurrence, by value
    appears = xp.zeros(x.size, bool)
    appears[firsts] = True
    rank = xp.cumsum(appears) - 1
    inverse = xp.empty(x.size, dtype)
    inverse[order] = rank[firsts][xp.cumsum(is_first) - 1]
    values = x[xp.flatnonzero(appears)]
    return values, inverse


class ListDiff(MultiOutputOp):
    """Elements of x that are not in y, and their indices.  Source: ListDiff."""

    signature = "x: T, y: T -> out: T, idx: out_idx"
    out_idx: DType = int32
    out_idx_allowed = dtypes_of("int32 int64")

    def infer_shape(self, x: Shape, y: Shape) -> list[Shape]:
        shapes.with_rank(x, 1)
        shapes.with_rank(y, 1)
        return [(None,), (None,)]

    def compute(self, xp: ArrayModule, x: Array, y: Array) -> Any:
        for name, array in (("x", x), ("y", y)):
            if array.ndim != 1:
                raise invalid_argument(f"{name} should be a 1D vector.")
        kept = xp.flatnonzero(~xp.isin(x, y))
        return x[kept], kept.astype(self.out_idx.numpy_dtype)


@export("unique")
def unique(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> Any:
    """The distinct elements in order of appearance, and each element's index in them.

    Args:
      x: Tensor [n].
      out_idx: int32 or int64, the type of the indices.
      name: the op's name.

    Returns:
      (y, idx) with y[idx[i]] = x[i].

    Source: Unique in core/ops/array_ops.cc.
    """
    op = Unique(out_idx)  # type: ignore[arg-type]  # converted by the op
    return _Unique(*op(x, name=name))


@export("unique_with_counts")
def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None
) -> Any:
    """`unique`, and the number of occurrences of each distinct element.

    Args:
      x: Tensor [n].
      out_idx: int32 or int64, the type of the indices.
      name: the op's name.

    Returns:
      (y, idx, count).

    Source: UniqueWithCounts in core/ops/array_ops.cc.
    """
    op = UniqueWithCounts(out_idx)  # type: ignore[arg-type]  # converted by the op
    return _UniqueWithCounts(*op(x, name=name))


@export("setdiff1d")
def setdiff1d(
    x: TensorLike,
    y: TensorLike,
    index_dtype: DTypeLike = int32,
    name: str | None = None,
) -> Any:
    """The elements of `x` that are not in `y`, and their indices.

    Args:
      x, y: Tensors [n], [m] of one type.
      index_dtype: int32 or int64.
      name: the op's name.

    Returns:
      (out, idx) with out[i] = x[idx[i]].

    Source: ListDiff in core/ops/array_ops.cc.
    """
    op = ListDiff(index_dtype)  # type: ignore[arg-type]  # converted by the op
    return _ListDiff(*op(x, y, name=name))


class UniqueV2(MultiOutputOp):
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

    def check_shapes(self, axis: tuple[int, ...]) -> None:
        require_vector(axis, "axis expects a 1D vector.")

    def compute(self, xp: ArrayModule, x: Array, axis: Any) -> tuple[Any, Any]:
        return _distinct(x, axis, self.out_idx.numpy_dtype)[:2]


class UniqueWithCountsV2(MultiOutputOp):
    """UniqueV2, and the number of occurrences of each slice.

    Source: UniqueWithCountsV2.
    """

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

    def check_shapes(self, axis: tuple[int, ...]) -> None:
        require_vector(axis, "axis expects a 1D vector.")

    def compute(self, xp: ArrayModule, x: Array, axis: Any) -> tuple[Any, Any, Any]:
        return _distinct(x, axis, self.out_idx.numpy_dtype)


def _slice_shapes(x: Shape, axis: Any) -> tuple[Shape, Shape]:
    if axis is not None and not axis.size:
        shapes.with_rank(x, 1)
        return (None,), (None,) if x is None else x
    if x is None or axis is None:
        return None, (None,)
    place = int(axis.reshape(-1)[0])
    if not -len(x) <= place < len(x):
        return None, (None,)  # TensorFlow rejects it only at run time
    place %= len(x)
    return (*x[:place], None, *x[place + 1 :]), (x[place],)


def _distinct(x: Any, axis: Any, dtype: Any) -> tuple[Any, Any, Any]:
    if axis.size > 1:
        raise invalid_argument(
            "axis does not support input tensors larger than 1 elements"
        )
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
