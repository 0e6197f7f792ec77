"""`tf.math.top_k`.  Source: core/ops/nn_ops.cc, TopKV2."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather import gather
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.array.top_k_heap import top_of_row
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import all_axes, cast, shape, size
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import Prod

_REAL = (
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)


# The result type is named like the op, as in TF.
_TopK: Any = namedtuple("TopKV2", "values indices")  # type: ignore[name-match]


# Finding the maximum costs a hundredth of sorting a row of 8000 numbers.
_MOST_SEARCHES = 32


def _largest_one_by_one(xp: ArrayModule, input: Any, count: int) -> Any:
    """The indices of each row's largest elements, found one by one.

    None if the type's least number is among them, because found elements are
    overwritten with it.
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


def _values_at(xp: ArrayModule, input: Any, indices: Any) -> tuple[Any, Any]:
    return xp.take_along_axis(input, indices, -1), indices.astype(np.int32)


class TopKV2(MultiOutputOp):
    """The k largest elements of every row.  Source: core/ops/nn_ops.cc, TopKV2."""

    signature = "input: T, k: int32 -> values: T, indices: int32"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"k": 0}
    sorted: bool = True
    T = dtypes_of(_REAL)
    by_value: ClassVar[tuple[str, ...]] = ("k",)
    host_inputs: ClassVar[tuple[str, ...]] = ("k",)
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, input: Shape, k: Any) -> list[Shape]:
        shapes.with_rank_at_least(input, 1)
        if input is None:
            return [None, None]
        count = None if k is None else int(k)
        if count is not None and count < 0:
            raise ValueError(
                "Dimension size, given by scalar input 1, must be non-negative but is "
                f"{count}"
            )
        if None not in (count, input[-1]) and input[-1] < count:  # type: ignore[operator]
            raise ValueError(
                f"input must have last dimension >= k = {count} but is {input[-1]}"
            )
        return [(*input[:-1], count)] * 2

    def check_shapes(self, input: tuple[int, ...], k: tuple[int, ...]) -> None:
        require_scalar(k, "k must be scalar, got shape %s")
        require(input, "input must be >= 1-D, got shape %s", input)

    def compute(self, xp: ArrayModule, input: Array, k: Any) -> Any:
        indices = self._largest(xp, input, int(k))
        if indices.size:
            indices = self._as_tensorflow(input, indices, indices.shape[-1])
        return _values_at(xp, input, indices)

    def compute_on_card(self, xp: ArrayModule, input: Any, k: Any) -> Any:
        return _values_at(xp, input, self._largest(xp, input, int(k)))

    def _largest(self, xp: ArrayModule, input: Any, count: int) -> Any:
        """The indices of the largest elements of each row, equal ones in order."""
        if count < 0:
            raise invalid_argument(f"Need k >= 0, got {count}")
        columns = input.shape[-1]
        if columns < count:
            raise invalid_argument(
                f"input must have at least k columns. Had {columns}, needed {count}"
            )
        indices = None
        if 0 < count <= min(_MOST_SEARCHES, columns // 8) and input.dtype.kind in "fiu":
            indices = _largest_one_by_one(xp, input, count)
        if indices is None:
            # Equal elements stay in order: a stable sort of the reversed row, read from
            # its end.
            order = xp.argsort(input[..., ::-1], axis=-1, kind="stable")
            indices = columns - 1 - order[..., ::-1][..., :count]
        return indices

    def _as_tensorflow(self, input: Any, indices: Any, count: int) -> Any:
        """The indices in the order of TensorFlow's kernel for unsorted rows or NaN."""
        rows, found = input.reshape(-1, input.shape[-1]), indices.reshape(-1, count)
        if self.sorted or count in (1, input.shape[-1]):
            if input.dtype.kind not in "fV":
                return indices
            # NaN is sorted first.
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

    def gradient(self, op: Operation, grad: Tensor, _: Any) -> list[Gradient]:
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


# ---- public functions


@export("nn.top_k", "math.top_k")
def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, name: str | None = None
) -> Any:
    """The k largest elements of every row, and their indices.

    Args:
      input: real Tensor [..., n].
      k: scalar int32 Tensor, at most n.
      sorted: whether the largest must come first (they always do here).
      name: the op's name.

    Returns:
      (values, indices): Tensors [..., k]; equal elements stay in order.

    Raises:
      ValueError: `k` is larger than n.

    Source: TopKV2 in core/ops/nn_ops.cc.
    """
    return _TopK(*TopKV2(sorted)(input, k, name=name))
