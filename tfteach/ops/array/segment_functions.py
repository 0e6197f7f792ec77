"""`tf.segment_*` and `tf.unsorted_segment_*`.  Source: python/ops/math_ops.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import T, TensorLike
from tfteach.ops.array.segment_ops import (
    SegmentMax,
    SegmentMean,
    SegmentMin,
    SegmentProd,
    SegmentSum,
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
    UnsortedSegmentSum,
)
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import Maximum
from tfteach.ops.math.unary import Sqrt

_SORTED = """{what} of rows with equal ids.

    Args:
      data: Tensor [n, ...].
      segment_ids: int Tensor [n], sorted, non-negative.
      name: the op's name.

    Returns:
      A Tensor [last id + 1, ...]; {empty} where no row has the id.

    Raises:
      InvalidArgumentError: the ids are not sorted, or negative.

    Source: {op} in core/ops/math_ops.cc.
    """

_ANY_ORDER = """{what} of rows with equal ids; rows with negative ids are dropped.

    Args:
      data: Tensor of shape segment_ids.shape + [...].
      segment_ids: int Tensor of any shape, ids below `num_segments` in any order.
      num_segments: scalar int Tensor, the number of segments.
      name: the op's name.

    Returns:
      A Tensor [num_segments, ...]; {empty} where no row has the id.

    Raises:
      InvalidArgumentError: an id is too large.

    Source: {op} in core/ops/math_ops.cc.
    """


def _documented(text: str, **message: str) -> Callable[[T], T]:
    def note(function: T) -> T:
        function.__doc__ = text.format(**message)
        return function

    return note


@export("segment_sum", "math.segment_sum")
@_documented(_SORTED, what="The sums", empty="0", op="SegmentSum")
def segment_sum(
    data: TensorLike, segment_ids: TensorLike, name: str | None = None
) -> Tensor:
    return SegmentSum()(data, segment_ids, name=name)


@export("segment_mean", "math.segment_mean")
@_documented(_SORTED, what="The means", empty="0", op="SegmentMean")
def segment_mean(
    data: TensorLike, segment_ids: TensorLike, name: str | None = None
) -> Tensor:
    return SegmentMean()(data, segment_ids, name=name)


@export("segment_max", "math.segment_max")
@_documented(_SORTED, what="The largest elements", empty="0", op="SegmentMax")
def segment_max(
    data: TensorLike, segment_ids: TensorLike, name: str | None = None
) -> Tensor:
    return SegmentMax()(data, segment_ids, name=name)


@export("segment_min", "math.segment_min")
@_documented(_SORTED, what="The smallest elements", empty="0", op="SegmentMin")
def segment_min(
    data: TensorLike, segment_ids: TensorLike, name: str | None = None
) -> Tensor:
    return SegmentMin()(data, segment_ids, name=name)


@export("segment_prod", "math.segment_prod")
@_documented(_SORTED, what="The products", empty="1", op="SegmentProd")
def segment_prod(
    data: TensorLike, segment_ids: TensorLike, name: str | None = None
) -> Tensor:
    return SegmentProd()(data, segment_ids, name=name)


@export("unsorted_segment_sum", "math.unsorted_segment_sum")
@_documented(_ANY_ORDER, what="The sums", empty="0", op="UnsortedSegmentSum")
def unsorted_segment_sum(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    op = UnsortedSegmentSum()
    return op(data, segment_ids, num_segments, name=name)


@export("unsorted_segment_max", "math.unsorted_segment_max")
@_documented(
    _ANY_ORDER,
    what="The largest elements",
    empty="the type's smallest number",
    op="UnsortedSegmentMax",
)
def unsorted_segment_max(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    op = UnsortedSegmentMax()
    return op(data, segment_ids, num_segments, name=name)


@export("unsorted_segment_min", "math.unsorted_segment_min")
@_documented(
    _ANY_ORDER,
    what="The smallest elements",
    empty="the type's largest number",
    op="UnsortedSegmentMin",
)
def unsorted_segment_min(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    op = UnsortedSegmentMin()
    return op(data, segment_ids, num_segments, name=name)


@export("unsorted_segment_prod", "math.unsorted_segment_prod")
@_documented(_ANY_ORDER, what="The products", empty="1", op="UnsortedSegmentProd")
def unsorted_segment_prod(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    op = UnsortedSegmentProd()
    return op(data, segment_ids, num_segments, name=name)


def _row_counts(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """Rows per segment, at least 1, reshaped to broadcast."""
    ids_shape = shape(segment_ids)
    present = ones(ids_shape, dtype=data.dtype)
    counts = unsorted_segment_sum(present, segment_ids, num_segments)
    data_rank, ids_rank = data.shape.rank, segment_ids.shape.rank
    if data_rank is None or ids_rank is None:
        raise ValueError("The ranks of data and segment_ids must be known.")
    counts = reshape(counts, [num_segments] + [1] * (data_rank - ids_rank))
    return Maximum()(counts, 1)


@export("unsorted_segment_mean", "math.unsorted_segment_mean")
@_documented(
    _ANY_ORDER,
    what="The means",
    empty="0",
    op="UnsortedSegmentSum",
)
def unsorted_segment_mean(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert(data), convert(segment_ids)
        counts = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


@export("unsorted_segment_sqrt_n", "math.unsorted_segment_sqrt_n")
@_documented(
    _ANY_ORDER,
    what="The sums, divided by the root of the number,",
    empty="0",
    op="UnsortedSegmentSum",
)
def unsorted_segment_sqrt_n(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert(data), convert(segment_ids)
        counts = _row_counts(data, segment_ids, num_segments)
        total = unsorted_segment_sum(data, segment_ids, num_segments)
        return total / Sqrt()(counts)
