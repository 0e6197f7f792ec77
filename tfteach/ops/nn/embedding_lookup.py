"""Lookups in embedding tables.  Source: python/ops/embedding_ops.py."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import bfloat16, float16, float32, int32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import convert_n
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.dynamic_partition import DynamicStitch, dynamic_partition
from tfteach.ops.array.gather import gather
from tfteach.ops.array.segment_functions import segment_sum
from tfteach.ops.array.unique import unique
from tfteach.ops.array.where_select import where
from tfteach.ops.core import shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import fill
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.binary import pow as power
from tfteach.ops.math.cast import cast
from tfteach.ops.math.division import div
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import sqrt
from tfteach.ops.nn.clip_by_norm import clip_by_norm
from tfteach.ops.sparse.sparse_segment import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)

_COMBINERS = {
    "sum": sparse_segment_sum,
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
}
logger = logging.getLogger("tensorflow")


class ParallelDynamicStitch(DynamicStitch):
    """Rows placed by index, in any order.  Source: data_flow_ops.cc."""

    signature = "indices: N*int32, data: N*T -> merged: T"
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("indices",)
    int32_on_gpu: ClassVar[Int32Kernel] = "host"


def tables_of(params: Any) -> list[Any]:
    """The tables in `params`; for a partitioned variable its partitions."""
    if hasattr(params, "_get_variable_list"):
        return list(params)
    return list(params) if isinstance(params, list) else [params]


@export("nn.embedding_lookup")
def embedding_lookup(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """The rows of a table selected by `ids`: `params[ids]`.

    Args:
      params: a variable or Tensor [rows, ...]; or a list of several that share the
        rows, or a partitioned variable.
      ids: int32 or int64 Tensor of any shape.
      partition_strategy: the table that has row i: "mod", table i % n at row i // n;
        "div", consecutive ranges of rows per table.
      name: the op's name.
      validate_indices: ignored, as in TF: ids out of range are always an error.
      max_norm: rows with a larger l2 norm are scaled down to it; None disables that.

    Returns:
      A Tensor of shape `ids.shape + params.shape[1:]`.

    Raises:
      ValueError: there is no table, or the strategy is unknown.

    Example:
      >>> table = tf.get_variable("table", [1000, 8])
      >>> vectors = tf.nn.embedding_lookup(table, [3, 1])  # [2, 8]

    Source: python/ops/embedding_ops.py; GatherV2, ResourceGather.
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, list | tuple) and not params:
        raise ValueError("Need at least one param")
    tables = tables_of(list(params) if isinstance(params, tuple) else params)
    with name_scope(name, "embedding_lookup", [*tables, ids]) as scope:
        if not any(hasattr(t, "handle") for t in tables):  # read by row
            tables = convert_n(tables, "params")
        ids = convert(ids, name="ids")
        if len(tables) > 1:
            return _in_parts(tables, ids, partition_strategy, scope, max_norm)
        with get_default_graph().colocate_with(tables[0]):
            rows = _clip(gather(tables[0], ids, name=scope), ids, max_norm)
        return identity(rows)


def _in_parts(
    tables: list[Any], ids: Tensor, strategy: str, scope: str, max_norm: Any
) -> Tensor:
    """Look up each table's ids, then restore the order of the ids."""
    count = len(tables)
    flat = reshape(ids, [-1])
    order = range_of(shape_ops.size(flat))
    if strategy == "mod":
        owners, rows = flat % count, flat // count
    elif strategy == "div":
        owners, rows = _divided(tables, flat)
    else:
        raise ValueError(f"Unrecognized partition strategy: {strategy}")
    owners = cast(owners, int32)
    dealt = dynamic_partition(rows, owners, count)
    positions = dynamic_partition(order, owners, count)
    found = []
    for table, numbers in zip(tables, dealt, strict=True):
        with get_default_graph().colocate_with(table):
            found.append(gather(table, numbers))
    whole = ParallelDynamicStitch()(positions, found, name=scope)
    inner = tables[0].get_shape()[1:]
    for table in tables[1:]:
        inner = inner.merge_with(table.get_shape()[1:])
    if inner.is_fully_defined():
        sizes: Any = inner
    else:
        with get_default_graph().colocate_with(tables[0]):
            sizes = shape_ops.shape(tables[0])
        sizes = sizes[1:]
    whole = reshape(whole, concat([shape_ops.shape(ids), sizes], 0))
    whole.set_shape(ids.get_shape().concatenate(inner))
    return _clip(whole, ids, max_norm)


def _divided(tables: list[Any], flat: Tensor) -> tuple[Tensor, Tensor]:
    """Table and row of each id, for tables with consecutive ranges of rows."""
    count = len(tables)
    sizes: list[Any] = [dimension_value(table.get_shape()[0]) for table in tables]
    if None not in sizes and sum(sizes):
        total: Any = constant(sum(sizes), flat.dtype)
    else:
        parts = []
        for table, size in zip(tables, sizes, strict=True):
            if size is None:
                with get_default_graph().colocate_with(table):
                    size = shape_ops.shape(table)[0]
            parts.append(size)
        stacked = cast(stack(parts), flat.dtype)
        total = reduce_sum(stacked)
    each = total // count
    extras = total % count  # the number of tables with one more row
    owners = maximum(flat // (each + 1), (flat - extras) // each)
    is_longer = owners < extras
    rows = where(is_longer, flat % (each + 1), (flat - extras) % each)
    return owners, rows


def _clip(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    ids_rank, rank = ids.shape.ndims, rows.shape.ndims
    # TF treats a rank of 0 as unknown.
    first: Any = ids_rank or shape_ops.rank(ids)
    last: Any = rank or shape_ops.rank(rows)
    if ids_rank and rank:
        axes: Any = list(range(ids_rank, rank))
    else:
        axes = range_of(first, last)
    result: Tensor = clip_by_norm(rows, max_norm, axes=axes)
    return result


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: Any,
    sp_weights: SparseTensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """For each row of ids, the sum (or mean) of the rows they select.

    Args:
      params: one or several tables, as for `tf.nn.embedding_lookup`.
      sp_ids: SparseTensor [batch, ids], int32 or int64; no row may be empty.
      sp_weights: SparseTensor with the weights of the ids; None means 1.
      partition_strategy: "mod" or "div".
      name: the op's name.
      combiner: "sum"; "mean" (divided by the sum of the weights); "sqrtn" (divided by
        the root of the sum of squared weights).  "mean" if None.
      max_norm: rows with a larger l2 norm are scaled down to it; None disables that.

    Returns:
      A Tensor [batch, ...].

    Raises:
      TypeError: `sp_ids` or `sp_weights` is not a SparseTensor.
      ValueError: the combiner is unknown, or ids and weights differ in shape.

    Source: python/ops/embedding_ops.py; SparseSegmentSum.
    """
    if combiner is None:
        logger.warning(
            'The default value of combiner will change from "mean" to "sqrtn" after '
            "2016/11/01."
        )
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    tables = tables_of(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        for part in ("values", "indices", "dense_shape"):
            ours = getattr(sp_ids, part).get_shape()
            ours.assert_is_compatible_with(getattr(sp_weights, part).get_shape())
    with name_scope(name, "embedding_lookup_sparse", [*tables, sp_ids]) as scope:
        segments = sp_ids.indices[:, 0]
        if segments.dtype is not int32:
            segments = cast(segments, int32)
        ids, positions = unique(sp_ids.values)
        rows = embedding_lookup(tables, ids, partition_strategy, max_norm=max_norm)
        if rows.dtype in (float16, bfloat16):
            rows = cast(rows, float32)
        if sp_weights is None:
            combine = _COMBINERS[combiner]
            return combine(rows, positions, segments, name=scope)
        return _weighted(rows, positions, segments, sp_weights, combiner, scope)


def _weighted(
    rows: Tensor, positions: Tensor, segments: Tensor, sp_weights: Any, combiner: str,
    scope: str,
) -> Tensor:  # fmt: skip
    """The weighted combination of the rows of each segment."""
    weights = sp_weights.values
    if weights.dtype is not rows.dtype:
        weights = cast(weights, rows.dtype)
    rows = gather(rows, positions)
    ones = fill(expand_dims(shape_ops.rank(rows) - 1, 0), 1)
    wide = concat([shape_ops.shape(weights), ones], 0)
    own_shape = weights.get_shape()
    weights = reshape(weights, wide)
    rank = rows.get_shape().ndims
    if rank is not None:
        weights.set_shape(own_shape.concatenate(TensorShape([1] * (rank - 1))))
    rows = rows * weights
    if combiner == "sum":
        return segment_sum(rows, segments, name=scope)
    rows = segment_sum(rows, segments)
    if combiner == "mean":
        return div(rows, segment_sum(weights, segments), name=scope)
    squares = segment_sum(power(weights, 2), segments)
    return div(rows, sqrt(squares), name=scope)
