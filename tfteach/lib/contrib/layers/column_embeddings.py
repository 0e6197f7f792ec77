"""The embeddings of a column: its table, and the lookup of ids in it.

Source: contrib/layers/python/layers/feature_column.py, embedding_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import float32, int32, string
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.embedding import safe_embedding_lookup_sparse
from tfteach.lib.contrib.layers.feature_column import _DeepEmbeddingLookupArguments
from tfteach.lib.contrib.layers.rank_of_input import inner_flatten
from tfteach.lib.files.init_from_checkpoint import init_from_checkpoint
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.array.unique import unique
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.nn.embedding_lookup import embedding_lookup, tables_of
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_feature_cross import sparse_feature_cross
from tfteach.ops.sparse.sparse_segment import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from tfteach.ops.sparse.sparse_shape import sparse_fill_empty_rows


def check_checkpoint(checkpoint: Any, tensor_name: Any) -> None:
    """Raise ValueError if only one of a checkpoint and a name in it is given."""
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none "
            "of them."
        )


def embeddings_of(
    column: Any,
    lookup: _DeepEmbeddingLookupArguments,
    collections: Any,
    trainable: bool,
    rank: int = 2,
) -> Tensor:
    """The combined rows of a column's table, which is created in the current scope.

    Args:
      column: the column.
      lookup: its ids, and how the table is made.
      collections: further collections for the table.
      trainable: whether the table may be trained, if the column agrees.
      rank: the rank of the result; the ids' last axes are flattened for it.

    Raises:
      ValueError: the ids have a lower rank, or the shared table another shape.
    """
    ids = inner_flatten(lookup.input_tensor, rank)
    weights = lookup.weight_tensor
    if weights is not None:
        weights = inner_flatten(weights, rank)

    def table(name: str, size: list[int]) -> Any:
        return model_variable(
            name, size, float32, lookup.initializer,
            trainable=trainable and lookup.trainable, collections=collections,
        )  # fmt: skip

    if lookup.hash_key:
        numbers = table("weights", [lookup.vocab_size])
        return _scattered(numbers, ids, lookup)
    size = [lookup.vocab_size, lookup.dimension]
    if lookup.shared_embedding_name is None:
        parts = table("weights", size)
    else:
        key = f"SHARED_EMBEDDING_COLLECTION_{lookup.shared_embedding_name.upper()}"
        graph = get_default_graph()
        shared = graph.get_collection(key)
        if not shared:
            graph.add_to_collection(key, table(lookup.shared_embedding_name, size))
        parts = graph.get_collection(key)[0]
        if parts.get_shape().as_list() != size:
            raise ValueError(
                f"The embedding variable with name {lookup.shared_embedding_name} "
                "already exists, but its shape does not match required embedding shape "
                "here. Please make sure to use different shared_embedding_name for "
                "different shared embeddings."
            )
    tables = tables_of(parts)
    load_checkpoint(column, tables)
    return safe_embedding_lookup_sparse(
        tables, ids, weights, lookup.combiner, name=f"{column.name}weights",
        max_norm=lookup.max_norm,
    )  # fmt: skip


def load_checkpoint(column: Any, tables: list[Any]) -> None:
    """Initialize variables from the column's checkpoint."""
    found = column._checkpoint_path()
    if found is not None:
        path, tensor_name = found
        variable = tables[0] if len(tables) == 1 else tables
        init_from_checkpoint(path, {tensor_name: variable})


_COMBINERS = {
    "sum": sparse_segment_sum,
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
}


def _scattered(
    numbers: Any, words: SparseTensor, lookup: _DeepEmbeddingLookupArguments
) -> Tensor:
    """Vectors of words, each number of them at a hash of the word and its place."""
    tables = tables_of(numbers)
    with name_scope("lookup") as scope:
        # Words of empty rows that no other word is likely to share a hash with.
        missing: Any = "6ZxWzWOHxZ" if words.dtype == string else 1288896567
        words, _ = sparse_fill_empty_rows(words, missing)
        segments = cast(words.indices[:, 0], int32)
        values, positions = unique(words.values)
        with name_scope(None, "scattered_embedding_lookup"):
            sizes = shape(values)
            values = reshape(values, [-1, 1])
            places = expand_dims(range_of(0, lookup.dimension), 0)
            places = tile(places, shape(values))
            crossed = sparse_feature_cross(
                [places, values], lookup.vocab_size, lookup.hash_key
            )
            ids = sparse_tensor_to_dense(crossed)
            found = embedding_lookup(tables, ids, partition_strategy="div")
            vectors = reshape(found, concat([sizes, [lookup.dimension]], 0))
        combine = _COMBINERS[lookup.combiner]
        return combine(vectors, positions, segments, name=scope)
