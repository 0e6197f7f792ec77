"""Selected rows reduced by segment, as used by sparse embedding lookups.

Source: core/ops/math_ops.cc (SparseSegment...), python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.gather import gather
from tfteach.ops.array.segment_kernels import segment_sum
from tfteach.ops.array.segment_ops import UnsortedSegmentSum
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.core.shape_ops import shape

_FLOATS = dtypes_of("float double")
_REAL = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
)


class _Sparse(Op, abstract=True):
    """Rows of `data` at `indices`, reduced per run of equal ids."""

    Tidx = INDICES
    Tidx_default = int32
    on_gpu: ClassVar[bool] = False
    power: ClassVar[float] = 0.0  # of the row count, the sum's divisor

    def infer_shape(self, data: Shape, indices: Shape, segment_ids: Shape) -> Shape:
        return _rows_shape(data, indices, segment_ids, None)

    def check_shapes(
        self,
        data: tuple[int, ...],
        indices: tuple[int, ...],
        segment_ids: tuple[int, ...],
    ) -> None:
        _check_ranks(data, indices, segment_ids)

    def compute(
        self, xp: ArrayModule, data: Array, indices: Array, segment_ids: Array
    ) -> Any:
        count = int(segment_ids[-1]) + 1 if segment_ids.size else 0
        return self.reduce(xp, data, indices, segment_ids, count)

    def rows_read(self, data: Any, indices: Any, *_: Any) -> Any:
        return indices

    def reduce(
        self, xp: ArrayModule, data: Any, indices: Any, ids: Any, count: int
    ) -> Any:
        _check(xp, data, indices, ids, count)
        if not ids.size:
            return xp.zeros((count, *data.shape[1:]), data.dtype)
        total = segment_sum(xp, data[indices], ids, count)
        return _scaled(xp, total, ids, count, self.power)


def _rows_shape(data: Shape, indices: Shape, ids: Shape, count: Any) -> Shape:
    shapes.with_rank_at_least(data, 1)
    shapes.merge(shapes.with_rank(indices, 1), shapes.with_rank(ids, 1))
    if count is not None and count < 0:
        raise ValueError("Cannot specify a negative value for num_segments")
    rows = None if count is None else int(count)
    return None if data is None else (rows, *data[1:])


def _check(xp: ArrayModule, data: Any, indices: Any, ids: Any, count: int) -> None:
    if not ids.size:
        return
    if int(ids[0]) < 0:
        raise invalid_argument(
            f"Segment id {int(ids[0])} out of range [0, {count}), possibly because "
            "'segment_ids' input is not sorted."
        )
    if bool((ids[1:] < ids[:-1]).any()):
        raise invalid_argument("segment ids are not increasing")
    bad = (indices < 0) | (indices >= len(data))
    if bool(bad.any()):
        first = int(xp.argmax(bad))
        raise invalid_argument(
            f"Bad: indices[{first}] == {int(indices[first])} out of range "
            f"[0, {len(data)})"
        )


def _scaled(xp: ArrayModule, rows: Any, ids: Any, count: int, power: float) -> Any:
    """Rows divided by a power of the number of rows with the same id."""
    if not power:
        return rows
    sizes = xp.maximum(xp.bincount(ids, minlength=count), 1).astype(rows.dtype)
    sizes = sizes if power == 1 else xp.sqrt(sizes)
    return rows / sizes.reshape((-1,) + (1,) * (rows.ndim - 1))


def _check_ranks(data: Any, indices: Any, segment_ids: Any) -> None:
    require_vector(indices, "indices should be a vector.")
    require_vector(segment_ids, "segment_ids should be a vector.")
    message = "segment_ids and indices should have same size."
    require(indices == segment_ids, message)
    require(data, "data must be at least 1-dimensional, got %s", data)


class _Counted(_Sparse, abstract=True):
    """The same for a given number of segments."""

    Tnumsegments = INDICES
    Tnumsegments_default = int32
    by_value: ClassVar[tuple[str, ...]] = ("num_segments",)

    def infer_shape(self, *inputs: Any, **_: Any) -> Shape:
        return _rows_shape(*inputs)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        message = "num_segments should be a scalar, not shape %s"
        require_scalar(shapes[3], message)
        _check_ranks(*shapes[:3])

    def compute(self, *inputs: Any, **_: Any) -> Any:
        xp, data, indices, segment_ids, num_segments = inputs
        count = int(num_segments)
        if count < 0:
            raise invalid_argument("segment ids must be >= 0")
        if segment_ids.size and int(segment_ids.max()) >= count:
            raise invalid_argument("segment ids must be < num_segments")
        return self.reduce(xp, data, indices, segment_ids, count)


_PLAIN = "data: T, indices: Tidx, segment_ids: int32 -> output: T"
_NUMBERED = (
    "data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments -> "
    "output: T"
)


def _sum_gradient(op: Operation, grad: Tensor) -> list[Gradient]:
    data, indices, ids, *count = op.inputs
    rows = shape(data)[0]
    found = UnsortedSegmentSum()(gather(grad, ids), indices, rows)
    return [found, None, None, *[None for _ in count]]


class SparseSegmentSum(_Sparse):
    """Sums of selected rows.  Source: math_ops.cc, SparseSegmentSum."""

    signature = _PLAIN
    T = _REAL

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _sum_gradient(op, grad)


class SparseSegmentSumWithNumSegments(_Counted):
    """Sums of selected rows.  Source: math_ops.cc, SparseSegmentSumWithNumSegments."""

    signature = _NUMBERED
    T = _REAL

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _sum_gradient(op, grad)


class _SparseGrad(Op, abstract=True):
    """The gradient: each row's share of its segment's, added at the row."""

    signature = (
        "grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32 -> output: T"
    )
    T = _FLOATS
    Tidx = INDICES
    Tidx_default = int32
    on_gpu: ClassVar[bool] = False
    by_value: ClassVar[tuple[str, ...]] = ("output_dim0",)
    power: ClassVar[float]

    def infer_shape(
        self, grad: Shape, indices: Shape, segment_ids: Shape, output_dim0: Any
    ) -> Shape:
        return _rows_shape(grad, indices, segment_ids, output_dim0)

    def check_shapes(
        self,
        grad: tuple[int, ...],
        indices: tuple[int, ...],
        segment_ids: tuple[int, ...],
        output_dim0: tuple[int, ...],
    ) -> None:
        _check_ranks(grad, indices, segment_ids)
        require_scalar(output_dim0, "output_dim0 should be a scalar.")

    def compute(
        self,
        xp: ArrayModule,
        grad: Array,
        indices: Array,
        segment_ids: Array,
        output_dim0: Array,
    ) -> Any:
        count = int(output_dim0)
        if not segment_ids.size:
            return xp.zeros((count, *grad.shape[1:]), grad.dtype)
        if int(segment_ids[-1]) >= len(grad):
            raise invalid_argument("Invalid number of segments")
        bad = (indices < 0) | (indices >= count)
        if bool(bad.any()):
            index = int(indices[int(xp.argmax(bad))])
            raise invalid_argument(f"Index {index} out of range [0, {count}).")
        shares = _scaled(xp, grad, segment_ids, len(grad), self.power)
        return segment_sum(xp, shares[segment_ids], indices, count)


class SparseSegmentMeanGrad(_SparseGrad):
    """The gradient of SparseSegmentMean.  Source: SparseSegmentMeanGrad."""

    power: ClassVar[float] = 1.0


class SparseSegmentSqrtNGrad(_SparseGrad):
    """The gradient of SparseSegmentSqrtN.  Source: SparseSegmentSqrtNGrad."""

    power: ClassVar[float] = 0.5


def _share_gradient(kind: Op, op: Operation, grad: Tensor) -> list[Gradient]:
    data, indices, ids, *count = op.inputs
    rows = shape(data)[0]
    return [kind(grad, indices, ids, rows), None, None, *[None for _ in count]]


class SparseSegmentMean(_Sparse):
    """Means of selected rows.  Source: math_ops.cc, SparseSegmentMean."""

    signature = _PLAIN
    T = _FLOATS
    power: ClassVar[float] = 1.0

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _share_gradient(SparseSegmentMeanGrad(), op, grad)


class SparseSegmentMeanWithNumSegments(_Counted):
    """Means of selected rows.  Source: SparseSegmentMeanWithNumSegments."""

    signature = _NUMBERED
    T = _FLOATS
    power: ClassVar[float] = 1.0

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _share_gradient(SparseSegmentMeanGrad(), op, grad)


class SparseSegmentSqrtN(_Sparse):
    """Sums divided by the root of the number of rows.  Source: SparseSegmentSqrtN."""

    signature = _PLAIN
    T = _FLOATS
    power: ClassVar[float] = 0.5

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _share_gradient(SparseSegmentSqrtNGrad(), op, grad)


class SparseSegmentSqrtNWithNumSegments(_Counted):
    """Sums divided by the root of the number of rows.  Source: math_ops.cc."""

    signature = _NUMBERED
    T = _FLOATS
    power: ClassVar[float] = 0.5

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return _share_gradient(SparseSegmentSqrtNGrad(), op, grad)


# ---- public functions


def _either(
    plain: Op,
    counted: Op,
    data: TensorLike,
    indices: TensorLike,
    ids: TensorLike,
    count: TensorLike | None,
    name: str | None,
) -> Tensor:
    if count is None:
        return plain(data, indices, ids, name=name)
    return counted(data, indices, ids, count, name=name)


@export("sparse_segment_sum", "sparse.segment_sum")
def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """The sums of selected rows, by segment.

    output[i] = Σ data[indices[j]] over the j with segment_ids[j] = i

    Args:
      data: number Tensor [n, ...].
      indices: int Tensor [m], rows of `data`.
      segment_ids: int32 Tensor [m], sorted.
      name: the op's name.
      num_segments: int Tensor [], the number of rows of the result; the last id + 1 if
        None.

    Returns:
      A Tensor [num_segments, ...]; 0 where no row has the id.

    Raises:
      InvalidArgumentError: (in a run) an index is out of range, or the ids are not
        sorted, negative or too large.

    Example:
      >>> tf.Session().run(tf.sparse_segment_sum([[1.0], [2.0], [4.0]], [0, 2], [0, 0]))
      array([[5.]], dtype=float32)

    Source: SparseSegmentSum in core/ops/math_ops.cc.
    """
    kinds = SparseSegmentSum(), SparseSegmentSumWithNumSegments()
    return _either(*kinds, data, indices, segment_ids, num_segments, name)


@export("sparse_segment_mean", "sparse.segment_mean")
def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """The means of selected rows, by segment; see `tf.sparse_segment_sum`."""
    kinds = SparseSegmentMean(), SparseSegmentMeanWithNumSegments()
    return _either(*kinds, data, indices, segment_ids, num_segments, name)


@export("sparse_segment_sqrt_n", "sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """The sums of selected rows divided by the root of their number, by segment.

    The arguments are those of `tf.sparse_segment_sum`.
    """
    kinds = SparseSegmentSqrtN(), SparseSegmentSqrtNWithNumSegments()
    return _either(*kinds, data, indices, segment_ids, num_segments, name)
