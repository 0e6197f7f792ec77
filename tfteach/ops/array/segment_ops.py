"""Rows with equal ids reduced to sums, means, extremes and products.

Source: core/ops/math_ops.cc (Segment..., UnsortedSegment...), python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import are_inside, gather, position
from tfteach.ops.array.segment_kernels import reduce_rows
from tfteach.ops.array.segment_kernels import segment_sum as sum_rows
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import fill, ones_like, zeros_like
from tfteach.ops.core.identity_reshape import INDICES, expand_dims
from tfteach.ops.core.shape_ops import cast, rank, shape
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.compare import Equal, Greater, GreaterEqual, LogicalAnd

_REAL = (
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)
_NUMBERS = (
    "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
    "bfloat16 uint16 complex128 float16 uint32 uint64"
)


class _Segment(Op, abstract=True):
    """Segments with sorted ids; the last id determines their number."""

    Tindices = INDICES

    def infer_shape(self, data: Shape, segment_ids: Shape) -> Shape:
        shapes.with_rank_at_least(data, 1)
        shapes.with_rank(segment_ids, 1)
        return None if data is None else (None, *data[1:])

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        """The rows of each segment reduced to one."""
        raise NotImplementedError

    def compute(self, xp: ArrayModule, data: Array, segment_ids: Array) -> Any:
        if segment_ids.ndim != 1:
            raise invalid_argument("segment_ids should be a vector.")
        if not data.ndim or segment_ids.shape != data.shape[:1]:
            raise invalid_argument(
                "segment_ids should be the same size as dimension 0 of input."
            )
        if not len(segment_ids):
            return xp.zeros((0, *data.shape[1:]), data.dtype)
        count = int(segment_ids[-1]) + 1
        if count <= 0:
            raise invalid_argument("segment ids must be >= 0")
        if int(segment_ids[0]) < 0:
            raise invalid_argument(
                f"Segment id {int(segment_ids[0])} out of range [0, {count}), possibly "
                "because 'segment_ids' input is not sorted."
            )
        if bool((segment_ids[1:] < segment_ids[:-1]).any()):
            raise invalid_argument("segment ids are not increasing")
        return self.reduce(xp, data, segment_ids, count)


class SegmentSum(_Segment):
    """Sums of rows with equal ids.  Source: core/ops/math_ops.cc, SegmentSum."""

    signature = "data: T, segment_ids: Tindices -> output: T"
    T = dtypes_of(_NUMBERS)

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        return sum_rows(xp, data, ids, count)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [gather(grad, op.inputs[1]), None]


class SegmentMean(_Segment):
    """Means of rows with equal ids.  Source: core/ops/math_ops.cc, SegmentMean."""

    signature = "data: T, segment_ids: Tindices -> output: T"
    T = dtypes_of(_NUMBERS)

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        total = sum_rows(xp, data, ids, count)
        sizes = xp.maximum(xp.bincount(ids, minlength=count), 1)
        sizes = sizes.reshape((-1,) + (1,) * (data.ndim - 1))
        if data.dtype.kind in "iu":
            whole = xp.abs(total) // sizes  # C's division, which truncates
            return (xp.sign(total) * whole).astype(data.dtype)
        return (total / sizes).astype(data.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        data, ids = op.inputs
        axes = rank(data)
        outer = shape(ids)
        ones_shape = concat([outer, fill(expand_dims(axes - 1, 0), 1)], 0)
        ones = fill(ones_shape, constant(1, grad.dtype))
        scaled = grad / SegmentSum()(ones, ids)
        return [gather(scaled, ids), None]


def _extreme_gradient(op: Operation, grad: Tensor) -> list[Gradient]:
    """The gradient, shared equally by the elements equal to the extreme."""
    data, ids = op.inputs
    nothing = zeros_like(data, dtype=data.dtype)
    is_extreme = Equal()(data, gather(op.outputs[0], ids))
    count = SegmentSum()(cast(is_extreme, grad.dtype), ids)
    shares = gather(grad / count, ids)
    return [where(is_extreme, shares, nothing), None]


def _has_nan(found: Any) -> bool:
    return found.dtype.kind in "fV" and bool(np.isnan(found).any())


def _extreme_on_card(
    xp: ArrayModule, ufunc: str, data: Any, ids: Any, count: int
) -> Any:
    # Instead of sorting runs: reduce from the opposite limit, clear the empty rows.
    start = limit(data.dtype, largest=ufunc == "minimum")
    found = reduce_rows(xp, ufunc, data, ids, count, start)
    found[xp.bincount(ids, minlength=count) == 0] = 0
    return found


@with_card_kernel(_extreme_on_card)
def _segment_extreme(
    xp: ArrayModule, ufunc: str, data: Any, ids: Any, count: int
) -> Any:
    found = reduce_rows(xp, ufunc, data, ids, count, 0)
    if not _has_nan(found):
        return found
    # TensorFlow starts segments at infinity and skips NaN; segments of a single row are
    # copied.
    lowest = np.inf if ufunc == "minimum" else -np.inf
    meets = np.bincount(ids)[ids] > 1
    lost = np.isnan(data) & meets.reshape(-1, *(1,) * (data.ndim - 1))
    data = np.where(lost, data.dtype.type(lowest), data)
    return reduce_rows(xp, ufunc, data, ids, count, 0)


class _SegmentExtreme(_Segment, abstract=True):
    ufunc: ClassVar[str]

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        return _segment_extreme(xp, self.ufunc, data, ids, count)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _extreme_gradient(op, grad)


class SegmentMax(_SegmentExtreme):
    """Maxima of rows with equal ids.  Source: math_ops.cc, SegmentMax."""

    signature = "data: T, segment_ids: Tindices -> output: T"
    T = dtypes_of(_REAL)
    ufunc: ClassVar[str] = "maximum"


class SegmentMin(_SegmentExtreme):
    """Minima of rows with equal ids.  Source: math_ops.cc, SegmentMin."""

    signature = "data: T, segment_ids: Tindices -> output: T"
    T = dtypes_of(_REAL)
    ufunc: ClassVar[str] = "minimum"


class SegmentProd(_Segment):
    """Products of rows with equal ids.  Source: core/ops/math_ops.cc, SegmentProd."""

    signature = "data: T, segment_ids: Tindices -> output: T"
    T = dtypes_of(_NUMBERS)
    on_gpu: ClassVar[bool] = False

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        return reduce_rows(xp, "multiply", data, ids, count, 1)


def limit(dtype: np.dtype[Any], largest: bool) -> Any:
    """The largest or smallest finite number of a type."""
    if dtype.kind in "iu":
        bounds: Any = np.iinfo(dtype)
    else:
        finfo: Any = ml_dtypes.finfo
        bounds = finfo(dtype)  # supports bfloat16 too
    return bounds.max if largest else bounds.min


# ---- ids in any order


class _Unsorted(Op, abstract=True):
    """Segments with ids in any order; rows with negative ids are dropped."""

    Tindices = INDICES
    Tnumsegments = INDICES
    Tnumsegments_default = int32
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"num_segments": 0}
    by_value: ClassVar[tuple[str, ...]] = ("num_segments",)
    host_inputs: ClassVar[tuple[str, ...]] = ("num_segments",)

    def infer_shape(self, data: Shape, segment_ids: Shape, num_segments: Any) -> Shape:
        if data is None or segment_ids is None:
            return None
        for m, n in zip(data, segment_ids, strict=False):
            if m is not None and n is not None and m != n:
                raise ValueError(f"Dimensions must be equal, but are {m} and {n}")
        if len(segment_ids) > len(data):
            raise ValueError(
                f"Shape must be at least rank {len(segment_ids)} but is rank "
                f"{len(data)}"
            )
        count = None if num_segments is None else int(num_segments)
        if count is not None and count < 0:
            raise ValueError(
                f"Dimension size, given by scalar input 2, must be "
                f"non-negative but is {count}"
            )
        return (count, *data[len(segment_ids) :])

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        """The rows of each segment reduced to one; ids in [0, count)."""
        raise NotImplementedError

    def check_shapes(
        self,
        data: tuple[int, ...],
        segment_ids: tuple[int, ...],
        num_segments: tuple[int, ...],
    ) -> None:
        message = "num_segments should be a scalar, not shape %s"
        require_scalar(num_segments, message)
        message = "data.shape = %s does not start with segment_ids.shape = %s"
        require(data[: len(segment_ids)] == segment_ids, message, data, segment_ids)

    def compute(
        self, xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array
    ) -> Any:
        count, depth = _checked_count(num_segments), segment_ids.ndim
        if segment_ids.size and int(segment_ids.max()) >= count:
            bad = segment_ids >= count
            value = segment_ids.reshape(-1)[int(xp.argmax(bad))]
            raise invalid_argument(
                f"segment_ids{position(segment_ids, bad)} = {value} is out of range "
                f"[0, {count})"
            )
        ids = segment_ids.reshape(-1)
        rows = data.reshape((ids.size, *data.shape[depth:]))
        if ids.size and int(ids.min()) < 0:
            kept = ids >= 0
            ids, rows = ids[kept], rows[kept]
        return self.reduce(xp, rows, ids, count)

    def compute_on_card(
        self, xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array
    ) -> Any:
        """Rows whose ids are outside are ignored: they go to one row more."""
        count, depth = _checked_count(num_segments), segment_ids.ndim
        ids = segment_ids.reshape(-1)
        rows = data.reshape((ids.size, *data.shape[depth:]))
        ids = xp.where(are_inside(ids, count), ids, count)
        return self.reduce(xp, rows, ids, count + 1)[:count]


def _checked_count(num_segments: Array) -> int:
    count = int(num_segments)
    if count < 0:
        raise invalid_argument(f"Input num_segments == {count} must not be negative.")
    return count


def _gather_known(
    params: Any, ids: Any, clipped: Any = None, is_known: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows by id, zeros for negative ids; and the intermediate results, for reuse."""
    if clipped is None:
        clipped = Maximum()(ids, zeros_like(ids))
    rows = gather(params, clipped)
    if is_known is None:
        is_known = GreaterEqual()(ids, 0)
        for _ in range((rows.shape.rank or 0) - (is_known.shape.rank or 0)):
            is_known = expand_dims(is_known, -1)
        is_known = is_known & ones_like(rows, dtype=dtypes.as_dtype("bool"))
    return where(is_known, rows, zeros_like(rows)), clipped, is_known


class UnsortedSegmentSum(_Unsorted):
    """Sums of rows with equal ids.  Source: math_ops.cc, UnsortedSegmentSum."""

    signature = (
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
    )
    T = dtypes_of(_NUMBERS)
    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    segment_count: ClassVar[str] = "num_segments"

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        return sum_rows(xp, data, ids, count)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [_gather_known(grad, op.inputs[1])[0], None, None]


@with_card_kernel(reduce_rows)
def _unsorted_extreme(
    xp: ArrayModule, ufunc: str, data: Any, ids: Any, count: int, start: Any
) -> Any:
    found = reduce_rows(xp, ufunc, data, ids, count, start)
    if not _has_nan(found):
        return found
    # In TensorFlow any row replaces NaN, and a NaN row replaces any value.
    beats = np.greater if ufunc == "maximum" else np.less
    found = np.full_like(found, start)
    for row, segment in zip(data, ids.tolist(), strict=True):
        known = found[segment]
        found[segment] = np.where(beats(known, row), known, row)
    return found


class _UnsortedExtreme(_Unsorted, abstract=True):
    ufunc: ClassVar[str]
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        start = limit(data.dtype, largest=self.ufunc == "minimum")
        return _unsorted_extreme(xp, self.ufunc, data, ids, count, start)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        data, ids, count = op.inputs
        extremes, clipped, is_known = _gather_known(op.outputs[0], ids)
        is_extreme = Equal()(data, extremes)
        is_extreme = LogicalAnd()(is_extreme, is_known)
        sizes = UnsortedSegmentSum()(cast(is_extreme, grad.dtype), ids, count)
        shares, _, _ = _gather_known(grad / sizes, None, clipped, is_known)
        nothing = zeros_like(shares)
        return [where(is_extreme, shares, nothing), None, None]


class UnsortedSegmentMax(_UnsortedExtreme):
    """Maxima of rows with equal ids.  Source: UnsortedSegmentMax."""

    signature = (
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
    )
    T = dtypes_of(_REAL)
    ufunc: ClassVar[str] = "maximum"


class UnsortedSegmentMin(_UnsortedExtreme):
    """Minima of rows with equal ids.  Source: UnsortedSegmentMin."""

    signature = (
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
    )
    T = dtypes_of(_REAL)
    ufunc: ClassVar[str] = "minimum"


class UnsortedSegmentProd(_Unsorted):
    """Products of rows with equal ids.  Source: math_ops.cc, UnsortedSegmentProd."""

    signature = (
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
    )
    T = dtypes_of(_NUMBERS)
    on_gpu: ClassVar[bool] = False

    def reduce(self, xp: ArrayModule, data: Any, ids: Any, count: int) -> Any:
        return reduce_rows(xp, "multiply", data, ids, count, 1)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        data, ids, count = op.inputs
        is_zero = Equal()(data, 0)
        zero_count = UnsortedSegmentSum()(cast(is_zero, int32), ids, count)
        # With two zeros in a segment every element's gradient is 0.
        grad = where(Greater()(zero_count, 1), zeros_like(grad), grad)
        others = where(is_zero, ones_like(data), data)
        others_product = UnsortedSegmentProd()(others, ids, count)
        clipped = Maximum()(ids, zeros_like(ids))
        product = gather(op.outputs[0], clipped)
        without_zeros = gather(others_product, clipped)
        partial = where(is_zero, without_zeros, product / data)
        rows = _gather_known(grad, ids, clipped)[0]
        return [rows * partial, None, None]
