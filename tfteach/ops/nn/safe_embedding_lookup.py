"""Lookups with sparse ids that may be missing or invalid.

Source: python/ops/embedding_ops.py (safe_embedding_lookup_sparse).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import bool_, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.array.tile import tile
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater, greater_equal, logical_and
from tfteach.ops.math.reduce_functions import reduce_prod
from tfteach.ops.nn.embedding_lookup import embedding_lookup_sparse, tables_of
from tfteach.ops.sparse.sparse_functions import sparse_retain
from tfteach.ops.sparse.sparse_shape import sparse_fill_empty_rows, sparse_reshape


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensorLike,
    sparse_weights: Any = None,
    combiner: str | None = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """`tf.nn.embedding_lookup_sparse` that accepts rows without ids, and invalid ids.

    Negative ids are dropped and, unless the combiner is "sum", weights that are not
    positive.

    Args:
      embedding_weights: a table, a list of them, or a partitioned variable.
      sparse_ids: SparseTensor of int32 or int64, of rank 2 or more.
      sparse_weights: SparseTensor of the same shape; None means 1.
      combiner: "mean", "sqrtn" or "sum".
      default_id: the id used for rows without any; if None, their result is zeros.
      name: the name scope of its ops.
      partition_strategy: "div" or "mod", if there are several tables.
      max_norm: rows with a larger l2 norm are scaled down to it; None disables that.

    Returns:
      A Tensor of shape sparse_ids.dense_shape[:-1] + [width].

    Raises:
      ValueError: there is no table.

    Source: python/ops/embedding_ops.py.
    """
    tables = tables_of(embedding_weights)
    if not tables or tables[0] is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = [
        table
        if hasattr(table, "handle") and dtype in (None, table.dtype)
        else convert(table, dtype)
        for table in tables
    ]
    return lookup_valid(
        tables, sparse_ids, sparse_weights, combiner, default_id, name,
        partition_strategy, max_norm,
    )  # fmt: skip


def lookup_valid(
    tables: list[Any], ids: Any, weights: Any, combiner: str | None,
    default_id: int | None, name: str | None, strategy: str, max_norm: Any,
) -> Tensor:  # fmt: skip
    """The lookup itself, in tables that are Tensors or variables."""
    with name_scope(name, "embedding_lookup", [*tables, ids, weights]) as scope:
        whole = ids.dense_shape
        known = dimension_value(whole.get_shape()[0])
        rank = size(whole) if known is None else known
        ids = sparse_reshape(
            ids,
            [reduce_prod(slice_of(whole, [0], [rank - 1])), gather(whole, rank - 1)],
        )
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _without_invalid(ids, weights, combiner)
        ids, is_empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(
            tables, ids, weights, strategy, None if default_id is None else scope,
            combiner, max_norm,
        )  # fmt: skip
        if default_id is None:
            column = reshape(is_empty, [-1, 1])
            is_empty = tile(column, stack([1, shape(result)[1]]))
            result = where(is_empty, zeros_like(result), result, name=scope)
        outer = slice_of(cast(whole, int32), [0], [rank - 1])
        inner = slice_of(shape(result), [1], [-1])
        found = reshape(result, concat([outer, inner], 0))
        before = TensorShape(None if known is None else [None] * (known - 1))
        found.set_shape(before.concatenate(result.get_shape()[1:]))
        return found


def _without_invalid(ids: Any, weights: Any, combiner: str | None) -> tuple[Any, Any]:
    """The entries with non-negative ids and, except for sums, positive weights."""
    is_valid = greater_equal(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, is_valid), None
    is_valid = logical_and(is_valid, ones_like(weights.values, dtype=bool_))
    ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    if combiner != "sum":
        is_valid = greater(weights.values, 0)
        ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    return ids, weights
