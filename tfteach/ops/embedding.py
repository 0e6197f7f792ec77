"""Look-ups in tables of vectors.  Source: python/ops/embedding_ops.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops import array, shapes
from tfteach.ops.adjoint import upward


@export("nn.embedding_lookup")
def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """The rows of a table that `ids` name: `params[ids]`.

    Args:
      params: a variable or Tensor [rows, ...], or a list of one.
      ids: int32 or int64 Tensor of any shape.
      partition_strategy: "mod" or "div", how rows are spread over several tables.
      name: the op's name.
      validate_indices: not used, as in TF: ids out of range are always an error.
      max_norm: rows with a larger l2 norm are scaled down to it; None leaves them.

    Returns:
      A Tensor of shape `ids.shape + params.shape[1:]`.

    Raises:
      ValueError: there is no table.
      NotImplementedError: `params` is partitioned into several tables.

    Example:
      >>> table = tf.get_variable("table", [1000, 8])
      >>> vectors = tf.nn.embedding_lookup(table, [3, 1])  # [2, 8]

    Source: python/ops/embedding_ops.py; GatherV2, ResourceGather.
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, list | tuple):
        if not params:
            raise ValueError("Need at least one param")
        tables = list(params)
    else:
        tables = [params]
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy: {partition_strategy}")
    if len(tables) > 1:
        raise NotImplementedError(
            f"embedding_lookup in {len(tables)} partitions is not implemented: join "
            "them with tf.concat, or use one table."
        )
    with name_scope(name, "embedding_lookup", [*tables, ids]) as scope:
        table = tables[0]
        if not hasattr(table, "handle"):  # a resource is read row by row
            table = convert(table, name="params_0")
        ids = convert(ids, name="ids")
        with get_default_graph().colocate_with(table):
            rows = upward("gather")(table, ids, name=scope)
            if max_norm is not None:
                rows = _clip(rows, ids, max_norm)
        return array.identity(rows)


def _clip(rows: Tensor, ids: Tensor, max_norm: float) -> Tensor:
    ids_rank, rank = ids.shape.ndims, rows.shape.ndims
    if ids_rank and rank:
        axes: Any = list(range(ids_rank, rank))
    else:
        axes = upward("range")(ids_rank or shapes.rank(ids), rank or shapes.rank(rows))
    return upward("clip_by_norm")(rows, max_norm, axes=axes)
