"""The older columns of one-hot vectors and embeddings.

Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Initializer
from tfteach.lib.contrib.layers.column_embeddings import (
    check_checkpoint,
    embeddings_of,
)
from tfteach.lib.contrib.layers.crossed_column import _CrossedColumn
from tfteach.lib.contrib.layers.feature_column import (
    TupleColumn,
    _DeepEmbeddingLookupArguments,
    _LinearEmbeddingLookupArguments,
)
from tfteach.lib.contrib.layers.rank_of_input import inner_flatten
from tfteach.lib.contrib.layers.sparse_columns import (
    _SparseColumn,
    _WeightedSparseColumn,
)
from tfteach.lib.feature_column.first_version import DenseColumnV1
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_functions import sparse_merge
from tfteach.ops.sparse.sparse_shape import sparse_slice
from tfteach.variables.initializers import TruncatedNormal

SparseIdColumn = _SparseColumn | _WeightedSparseColumn | _CrossedColumn


def _initializer(given: Any, size: int, owner: str) -> Any:
    if given is not None and not callable(given):
        raise ValueError(f"initializer must be callable if specified. {owner}")
    return given or TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(size or 1))


def _warned_initializer(given: Any, size: int, owner: str) -> Any:
    if given is None:
        get_logger().warning(
            'The default stddev value of initializer was changed from "1/sqrt('
            'vocab_size)" to "1/sqrt(dimension)" in core implementation '
            "(tf.feature_column.embedding_column)."
        )
    return _initializer(given, size, owner)


# ---- one-hot vectors


class _OneHot(NamedTuple):
    sparse_id_column: Any


class _OneHotColumn(TupleColumn, DenseColumnV1, _OneHot):
    """See `one_hot_column`."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.sparse_id_column.config
        return config

    @property
    def length(self) -> int:
        return int(self.sparse_id_column.length)

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.length])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        return self._to_dnn_input_layer(inputs.get(self))

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        column = self.sparse_id_column
        ids = inner_flatten(column.id_tensor(input_tensor), output_rank)
        weights = column.weight_tensor(input_tensor)
        if weights is None:
            dense_ids = sparse_tensor_to_dense(ids, default_value=-1)
            hot = one_hot(dense_ids, self.length, on_value=1.0, off_value=0.0)
            return reduce_sum(hot, axis=[output_rank - 1])
        weighted = sparse_merge(ids, weights, self.length)
        # Ids of -1 are dropped.
        begin = zeros_like(weighted.dense_shape)
        weighted = sparse_slice(weighted, begin, weighted.dense_shape)
        dense = sparse_tensor_to_dense(weighted)
        return reshape(dense, concat((shape(dense)[:-1], [self.length]), 0))


@export("contrib.layers.one_hot_column")
def one_hot_column(sparse_id_column: SparseIdColumn) -> _OneHotColumn:
    """How often each id occurs in an example, or its weight.

    Args:
      sparse_id_column: a column of ids, weighted or crossed.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    return _OneHotColumn(sparse_id_column)


# ---- embeddings


class _Embedding(NamedTuple):
    sparse_id_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


class _EmbeddingColumn(TupleColumn, DenseColumnV1, _Embedding):
    """See `embedding_column`."""

    _not_in_key = ("initializer",)

    @property
    def name(self) -> str:
        name: str = self.sparse_id_column.name
        kind = "_embedding" if self.shared_embedding_name is None else None
        return name + (kind or "_shared_embedding")

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.sparse_id_column.config
        return config

    @property
    def length(self) -> int:
        return int(self.shared_vocab_size or self.sparse_id_column.length)

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        lookup = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_of(self, lookup, weight_collections, trainable)

    def _deep_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _DeepEmbeddingLookupArguments:
        return _DeepEmbeddingLookupArguments(
            self.sparse_id_column.id_tensor(input_tensor),
            self.sparse_id_column.weight_tensor(input_tensor),
            self.length, self.initializer, self.combiner, self.dimension,
            self.shared_embedding_name, None, self.max_norm, self.trainable,
        )  # fmt: skip

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        raise ValueError(
            f"Column {self} is not supported in linear models. "
            "Please use sparse_column."
        )


@export("contrib.layers.embedding_column")
def embedding_column(
    sparse_id_column: SparseIdColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> _EmbeddingColumn:
    """Rows of a table, selected by the ids of a column and combined.

    Args:
      sparse_id_column: a column of ids, weighted or crossed.
      dimension, combiner, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable:
        as in `tf.feature_column.embedding_column`.
      initializer: of the table; truncated normal with deviation
        1 / sqrt(number of ids) if None.

    Raises:
      ValueError: an initializer that is not callable, or only one of checkpoint and
        tensor name.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    owner = f"Embedding of column_name: {sparse_id_column.name}"
    initializer = _warned_initializer(initializer, sparse_id_column.length, owner)
    return _EmbeddingColumn(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
        tensor_name_in_ckpt, None, None, max_norm, trainable,
    )  # fmt: skip


@export("contrib.layers.shared_embedding_columns")
def shared_embedding_columns(
    sparse_id_columns: Sequence[_SparseColumn | _WeightedSparseColumn],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Sequence[_EmbeddingColumn]:
    """Embedding columns of several columns of ids, with one table.

    Args:
      sparse_id_columns: columns of ids with the same settings; some may be weighted.
      shared_embedding_name: the table's name; made of the columns' names if None.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
      max_norm, trainable: as in `embedding_column`.

    Returns:
      A tuple of columns; a list of one for a single column.

    Raises:
      TypeError: the columns are not in a list or tuple, or another kind of column.
      ValueError: there is none, or they differ.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    if not isinstance(sparse_id_columns, Sequence) or isinstance(
        sparse_id_columns, str | bytes
    ):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) "
            f"instead of type {type(sparse_id_columns)}."
        )
    if len(sparse_id_columns) < 1:
        raise ValueError(
            "The input sparse_id_columns should have at least one element."
        )
    for column in sparse_id_columns:
        if not isinstance(column, _SparseColumn | _WeightedSparseColumn):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or "
                f"_WeightedSparseColumn, but {column} is not."
            )
    first, *others = sparse_id_columns
    if not all(first.is_compatible(column) for column in others):
        raise ValueError("The input sparse id columns are not compatible.")
    if others and shared_embedding_name is None:
        shared_embedding_name = _shared_name(sparse_id_columns)
    columns = [
        _EmbeddingColumn(
            column, dimension, combiner,
            _warned_initializer(
                initializer, first.length, f"Embedding of column_name: {column.name}"
            ),
            ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_name,
            first.length if others else None, max_norm, trainable,
        )
        for column in sparse_id_columns
    ]  # fmt: skip
    return tuple(columns) if others else columns


def _shared_name(columns: Iterable[_SparseColumn | _WeightedSparseColumn]) -> str:
    """The name of the table of several columns: of at most three of their names."""
    kinds_and_names = sorted((type(column).__name__, column.name) for column in columns)
    names = [name for _, name in kinds_and_names]
    if len(names) > 3:
        names = [*names[:3], f"plus_{len(names) - 3}_others"]
    return "_".join(names) + "_shared_embedding"


# ---- scattered embeddings


class _ScatteredEmbedding(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Any


class _ScatteredEmbeddingColumn(TupleColumn, DenseColumnV1, _ScatteredEmbedding):
    """See `scattered_embedding_column`."""

    _not_in_key = ("initializer",)

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(string)}

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.column_name)

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        lookup = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_of(self, lookup, weight_collections, trainable)

    def _deep_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _DeepEmbeddingLookupArguments:
        return _DeepEmbeddingLookupArguments(
            input_tensor, None, self.size, self.initializer, self.combiner,
            self.dimension, None, self.hash_key,
        )  # fmt: skip


@export("contrib.layers.scattered_embedding_column")
def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int | None,
    combiner: str = "mean",
    initializer: Initializer | None = None,
) -> _ScatteredEmbeddingColumn:
    """Embeddings whose numbers are scattered over one vector by hashes.

    Args:
      column_name: the key of a sparse feature of strings.
      size: the number of trained numbers.
      dimension: the length of a word's vector.
      hash_key: the seed of the hash function.
      combiner: "mean", "sqrtn" or "sum" of an example's vectors.
      initializer: of the numbers; truncated normal with deviation 0.1 if None.

    Raises:
      ValueError: a size < 1, another combiner, or an initializer that is not callable.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            "Dimension and size must be greater than 0. "
            f"dimension: {dimension}, size: {size}, column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            "Combiner must be one of 'mean', 'sqrtn' or 'sum'. "
            f"combiner: {combiner}, column_name: {column_name}"
        )
    owner = f"column_name: {column_name}"
    initializer = _initializer(initializer, 100, owner)
    return _ScatteredEmbeddingColumn(
        column_name, size, dimension, hash_key, combiner, initializer
    )
