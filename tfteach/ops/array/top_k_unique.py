"""Order and sameness: the largest, the distinct, where values belong; raw bits.

Source: core/ops/array_ops.cc, core/ops/nn_ops.cc (TopKV2).
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.ops.array.gather import gather
from tfteach.ops.array.jit_row_scatter import distinct
from tfteach.ops.array.row_access import groups_of
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.array.top_k_heap import top_of_row
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import all_axes, cast, range_of, shape, size
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.reduce_ops import Prod

_REAL = (
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)
_BITS = (
    "bfloat16 float16 float32 float64 int64 int32 uint8 uint16 uint32 uint64 int8 "
    "int16 complex64 complex128 qint8 quint8 qint16 quint16 qint32"
)

_NUMBERS = np.dtype(np.int32), np.dtype(np.int64)


# The functions' results bear the ops' names, as TF's do.
_TopK: Any = namedtuple("TopKV2", "values indices")  # type: ignore[name-match]
_Unique: Any = namedtuple("Unique", "y idx")  # type: ignore[name-match]
_UniqueWithCounts: Any = namedtuple(  # type: ignore[name-match]
    "UniqueWithCounts", "y idx count"
)
_ListDiff: Any = namedtuple("ListDiff", "out idx")  # type: ignore[name-match]


# A look for the largest costs a hundredth of sorting a row of 8000 numbers.
_MOST_LOOKS = 32


def _largest_one_by_one(xp: Any, input: Any, count: int) -> Any:
    """The places of each row's largest, found one after the other.

    None where the least number of the type is among them: what was found is replaced
    by it.
    """
    kind, columns = input.dtype, input.shape[-1]
    least = kind.type(-np.inf if kind.kind == "f" else np.iinfo(kind).min)
    rest = input.reshape(-1, columns).copy()
    rows, places = xp.arange(len(rest)), []
    for _ in range(count):
        place = rest.argmax(-1)
        if (rest[rows, place] == least).any():
            return None
        rest[rows, place] = least
        places.append(place)
    return xp.stack(places, -1).reshape(*input.shape[:-1], count)


class TopKV2(Op):
    """The k largest elements of every row.  Source: core/ops/nn_ops.cc, TopKV2."""

    signature = "input: T, k: int32 -> values: T, indices: int32"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"k": 0}
    sorted: bool = True
    T = dtypes_of(_REAL)
    by_value: ClassVar[tuple[str, ...]] = ("k",)
    host_inputs: ClassVar[tuple[str, ...]] = ("k",)
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape, k: Any) -> list[Shape]:
        shapes.with_rank_at_least(input, 1)
        if input is None:
            return [None, None]
        count = None if k is None else int(k)
        if count is not None and count < 0:
            raise ValueError(f"Need k >= 0, got {count}")
        if None not in (count, input[-1]) and input[-1] < count:  # type: ignore[operator]
            raise ValueError(
                f"input must have last dimension >= k = {count} but is {input[-1]}"
            )
        return [(*input[:-1], count)] * 2

    def check_shapes(self, input: Any, k: Any) -> None:
        require_scalar(k, "k must be scalar, got shape %s")
        require(input, "input must be >= 1-D, got shape %s", input)

    def compute(self, xp: Any, input: Any, k: Any) -> Any:
        count = int(k)
        if count < 0:
            raise invalid_argument(f"Need k >= 0, got {count}")
        if not input.ndim:
            raise invalid_argument("input must be >= 1-D, got shape []")
        columns = input.shape[-1]
        if columns < count:
            raise invalid_argument(
                f"input must have at least k columns. Had {columns}, needed {count}"
            )
        indices = None
        if 0 < count <= min(_MOST_LOOKS, columns // 8) and input.dtype.kind in "fiu":
            indices = _largest_one_by_one(xp, input, count)
        if indices is None:
            # Of equal elements the first come first: a stable sort of the mirror image,
            # read from its end.
            order = xp.argsort(input[..., ::-1], axis=-1, kind="stable")
            indices = columns - 1 - order[..., ::-1][..., :count]
        if count and type(input) is np.ndarray:
            indices = self._as_tensorflow(input, indices, count)
        values = xp.take_along_axis(input, indices, -1)
        return values, indices.astype(np.int32)

    def _as_tensorflow(self, input: Any, indices: Any, count: int) -> Any:
        """The indices, as TensorFlow's kernel has them in unsorted rows or with NaN."""
        rows, found = input.reshape(-1, input.shape[-1]), indices.reshape(-1, count)
        if self.sorted or count in (1, input.shape[-1]):
            if input.dtype.kind not in "fV":
                return indices
            # Sorting puts NaN first.
            first = rows[np.arange(len(rows)), found[:, 0]]
            at = np.flatnonzero(np.isnan(first))
            if not at.size:
                return indices
        else:
            at = np.arange(len(rows))
        found = found.copy()
        for row in at.tolist():
            found[row] = top_of_row(rows[row], count, self.sorted)
        return found.reshape(indices.shape)

    def gradient(self, op: Operation, grad: Any, _: Any) -> list[Any]:
        sizes, found = shape(op.inputs[0]), shape(op.outputs[1])
        found_width = gather(cast(found, int64), size(found) - 1)
        rows = reshape(op.outputs[1], stack([-1, found_width]))
        width = gather(cast(sizes, int64), size(sizes) - 1)
        count = shape(rows)[0]
        starts = range_of(0, cast(count, int64) * width, width)
        places = reshape(rows + cast(expand_dims(starts, -1), int32), [-1])
        places, values = expand_dims(places, -1), reshape(grad, [-1])
        total = Prod()(sizes, all_axes(sizes))
        flat = scatter_nd(places, values, [total])
        return [reshape(flat, sizes), zeros([], dtype=int32)]


class Unique(Op):
    """The distinct elements, in order of appearance.  Source: array_ops.cc, Unique."""

    signature = "x: T -> y: T, idx: out_idx"
    out_idx: DType = int32
    out_idx_allowed = dtypes_of("int32 int64")
    host_types_on_gpu: ClassVar[frozenset[str]] = frozenset(("int32", "int64"))

    def infer_shape(self, x: Shape) -> list[Shape]:
        if x is not None:
            shapes.with_rank(x, 1)
        return [(None,), x]

    def compute(self, xp: Any, x: Any) -> Any:
        return _unique(xp, x, self.out_idx.numpy_dtype)


class UniqueWithCounts(Op):
    """Unique, and how often each occurs.  Source: UniqueWithCounts."""

    signature = "x: T -> y: T, idx: out_idx, count: out_idx"
    out_idx: DType = int32
    out_idx_allowed = dtypes_of("int32 int64")

    def infer_shape(self, x: Shape) -> list[Shape]:
        return [(None,), x, (None,)]

    def compute(self, xp: Any, x: Any) -> Any:
        values, inverse = _unique(xp, x, self.out_idx.numpy_dtype)
        counts = xp.bincount(inverse, minlength=values.size)
        return values, inverse, counts.astype(inverse.dtype)


def _unique(xp: Any, x: Any, dtype: Any) -> tuple[Any, Any]:
    """The distinct elements, and for each element which one it is."""
    if x.ndim != 1:
        raise invalid_argument("unique expects a 1D vector.")
    found = distinct(x) if xp is np and x.dtype in _NUMBERS else None
    if found is not None:
        return found[0].astype(x.dtype), found[1].astype(dtype)
    order, is_first = groups_of(xp, x)
    firsts = order[is_first]  # where each value appears first, by value
    appears = xp.zeros(x.size, bool)
    appears[firsts] = True
    rank = xp.cumsum(appears) - 1
    inverse = xp.empty(x.size, dtype)
    inverse[order] = rank[firsts][xp.cumsum(is_first) - 1]
    values = x[xp.flatnonzero(appears)]
    return values, inverse


class ListDiff(Op):
    """Elements of x that are not in y, and their indices.  Source: ListDiff."""

    signature = "x: T, y: T -> out: T, idx: out_idx"
    out_idx: DType = int32
    out_idx_allowed = dtypes_of("int32 int64")

    def infer_shape(self, x: Shape, y: Shape) -> list[Shape]:
        shapes.with_rank(x, 1)
        shapes.with_rank(y, 1)
        return [(None,), (None,)]

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        for name, array in (("x", x), ("y", y)):
            if array.ndim != 1:
                raise invalid_argument(f"{name} should be a 1D vector.")
        kept = xp.flatnonzero(~xp.isin(x, y))
        return x[kept], kept.astype(self.out_idx.numpy_dtype)


class _Bound(Op, abstract=True):
    side: ClassVar[str]

    def infer_shape(self, sorted_inputs: Shape, values: Shape) -> Shape:
        shapes.with_rank(sorted_inputs, 2)
        shapes.with_rank(values, 2)
        return values

    def check_shapes(self, sorted_inputs: Any, values: Any) -> None:
        message = "Leading dim_size of both tensors must match."
        require(sorted_inputs and sorted_inputs[:1] == values[:1], message)

    def compute(self, xp: Any, sorted_inputs: Any, values: Any) -> Any:
        rows = [
            xp.searchsorted(row.reshape(-1), row_values, self.side)
            for row, row_values in zip(sorted_inputs, values, strict=True)
        ]
        dtype = self.out_type.numpy_dtype  # type: ignore[attr-defined]
        if not rows:
            return xp.zeros(values.shape, dtype)
        return xp.stack(rows).astype(dtype)

    def gradient(self, op: Operation, grad: Any) -> list[Any]:
        return [None, None]


class LowerBound(_Bound):
    """Insertion points in sorted rows, before equals.  Source: LowerBound."""

    signature = "sorted_inputs: T, values: T -> output: out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    side: ClassVar[str] = "left"


class UpperBound(_Bound):
    """Insertion points in sorted rows, after equals.  Source: UpperBound."""

    signature = "sorted_inputs: T, values: T -> output: out_type"
    out_type: DType = int32
    out_type_allowed = dtypes_of("int32 int64")
    side: ClassVar[str] = "right"


class Bitcast(Op):
    """The same bytes read as another type.  Source: array_ops.cc, Bitcast."""

    signature = "input: T -> output: type"
    T = dtypes_of(_BITS)
    type: DType
    type_allowed = dtypes_of(_BITS)
    aliases: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    by_type: ClassVar[tuple[str, ...]] = ("input",)

    def infer_shape(self, input: tuple[Shape, DType]) -> Shape:
        known, old, new = input[0], input[1].size, self.type.size
        if known is None or new == old:
            return known
        if new < old:
            return (*known, old // new)
        parts = new // old
        if known and known[-1] not in (None, parts):
            raise ValueError(
                f"Cannot bitcast due to shape. {known[-1]} does not match {parts}"
            )
        return known[:-1]

    def compute(self, xp: Any, input: Any) -> Any:
        old, new = input.dtype.itemsize, self.type.numpy_dtype.itemsize
        if new > old and (not input.ndim or input.shape[-1] * old != new):
            raise invalid_argument(
                f"Cannot bitcast from {as_dtype(input.dtype).as_datatype_enum} to "
                f"{self.type.as_datatype_enum}"
            )
        flat = xp.ascontiguousarray(input).reshape(-1).view(self.type.numpy_dtype)
        if new == old:
            return flat.reshape(input.shape)
        if new < old:
            return flat.reshape((*input.shape, old // new))
        return flat.reshape(input.shape[:-1])


# ---- public functions


@export("nn.top_k", "math.top_k")
def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """The k largest elements of every row, and where they stood.

    Args:
      input: real Tensor [..., n].
      k: scalar int32 Tensor, at most n.
      sorted: whether the largest must come first (it always does here).
      name: the op's name.

    Returns:
      (values, indices): Tensors [..., k]; of equal elements the first come first.

    Raises:
      ValueError: `k` is larger than n.

    Source: TopKV2 in core/ops/nn_ops.cc.
    """
    return _TopK(*TopKV2(sorted)(input, k, name=name))


@export("unique")
def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """The distinct elements in order of appearance, and for every element which it is.

    Args:
      x: Tensor [n].
      out_idx: int32 or int64, the type of the numbers.
      name: the op's name.

    Returns:
      (y, idx) with y[idx[i]] = x[i].

    Source: Unique in core/ops/array_ops.cc.
    """
    return _Unique(*Unique(out_idx)(x, name=name))


@export("unique_with_counts")
def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """`unique`, and how often each distinct element occurs.

    Args:
      x: Tensor [n].
      out_idx: int32 or int64, the type of the numbers.
      name: the op's name.

    Returns:
      (y, idx, count).

    Source: UniqueWithCounts in core/ops/array_ops.cc.
    """
    return _UniqueWithCounts(*UniqueWithCounts(out_idx)(x, name=name))


@export("setdiff1d")
def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> Any:
    """The elements of `x` that are not in `y`, and where they stood.

    Args:
      x, y: Tensors [n], [m] of one type.
      index_dtype: int32 or int64.
      name: the op's name.

    Returns:
      (out, idx) with out[i] = x[idx[i]].

    Source: ListDiff in core/ops/array_ops.cc.
    """
    return _ListDiff(*ListDiff(index_dtype)(x, y, name=name))


@export("searchsorted")
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = int32,
    name: str | None = None,
) -> Tensor:
    """Insertion points of values in sorted rows.

    Args:
      sorted_sequence: Tensor [..., n], every row sorted.
      values: Tensor [..., m].
      side: "left" (before equal elements) or "right" (after them).
      out_type: int32 or int64.
      name: the op's name.

    Returns:
      A Tensor like `values`.

    Raises:
      ValueError: `side` is neither.

    Source: LowerBound and UpperBound in core/ops/array_ops.cc.
    """
    sequence_size = shape(sorted_sequence)[-1]
    values_size = shape(values)[-1]
    sequence_2d = reshape(sorted_sequence, [-1, sequence_size])
    values_2d = reshape(values, [-1, values_size])
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    op: Any = LowerBound if side == "left" else UpperBound
    output = op(as_dtype(out_type))(sequence_2d, values_2d, name=name)
    return reshape(output, shape(values))


@export("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bytes of a tensor, read as another type.

    Args:
      input: a Tensor.
      type: the new element type; a smaller one adds a last axis, a larger one takes
        the last axis away.
      name: the op's name.

    Returns:
      A Tensor of the new type.

    Raises:
      ValueError: the last axis does not hold one element of a larger type.

    Source: Bitcast in core/ops/array_ops.cc.
    """
    result: Tensor = Bitcast(type)(input, name=name)
    return result
