"""The older columns of crosses, one-hot vectors and embeddings.

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
from tfteach.framework.type_aliases import Initializer
from tfteach.lib.contrib.layers.feature_column import (
    DeepLookup,
    OldFeatureColumn,
    WideLookup,
    _BucketizedColumn,
)
from tfteach.lib.contrib.layers.rank_of_input import inner_flatten, sparse_input
from tfteach.lib.contrib.layers.sparse_columns import (
    _SparseColumn,
    _WeightedSparseColumn,
)
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_feature_cross import sparse_feature_cross
from tfteach.ops.sparse.sparse_functions import sparse_merge
from tfteach.ops.sparse.sparse_shape import sparse_slice
from tfteach.variables.initializers import TruncatedNormal


def _check_checkpoint(checkpoint: Any, tensor_name: Any) -> None:
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none "
            "of them."
        )


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


# ---- crosses


class _Crossed(NamedTuple):
    columns: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


class _CrossedColumn(OldFeatureColumn, _Crossed):
    """See `crossed_column`."""

    @property
    def name(self) -> str:
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for column in self.columns:
            found.update(column.config)
        return found

    @property
    def length(self) -> int:
        return self.hash_bucket_size

    def checkpoint(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def id_tensor(self, tensor: Any) -> SparseTensor:
        result: SparseTensor = tensor
        return result

    def weight_tensor(self, tensor: Any) -> SparseTensor | None:
        return None

    def leaves(self) -> list[Any]:
        """Its columns, with those of crosses inside it in their place."""
        found: list[Any] = []
        for column in self.columns:
            is_cross = isinstance(column, _CrossedColumn)
            found += column.leaves() if is_cross else [column]
        return found

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        features: list[Any] = []
        for column in self.leaves():
            if isinstance(column, _SparseColumn):
                features.append(columns_to_tensors[column.name])
                continue
            if column not in columns_to_tensors:
                column.insert_transformed_feature(columns_to_tensors)
            features.append(column.to_sparse_tensor(columns_to_tensors[column]))
        columns_to_tensors[self] = sparse_feature_cross(
            features, self.hash_bucket_size, self.hash_key, name="cross"
        )

    def wide(self, tensor: Any) -> WideLookup:
        return WideLookup(tensor, None, self.length, self.combiner)


@export("contrib.layers.crossed_column")
def crossed_column(
    columns: Iterable[OldFeatureColumn],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> _CrossedColumn:
    """A column of all combinations of other columns' values, as hashes.

    Args:
      columns: at least two columns of ids, bucketized or crossed ones.
      hash_bucket_size: the number of ids.
      combiner: "sum", "mean" or "sqrtn" of an example's weights in a linear model.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name of a tensor in
        it, with which the weights of a linear model begin.
      hash_key: the seed of the hash function; None for an older one.

    Raises:
      TypeError: another kind of column.
      ValueError: fewer than two columns or buckets, or only one of checkpoint and
        tensor name.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    given = list(columns)
    for column in given:
        if not isinstance(column, _SparseColumn | _CrossedColumn | _BucketizedColumn):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or "
                f"_BucketizedColumn instances. (column {column} is a "
                f"{type(column).__name__})"
            )
    if len(given) < 2:
        raise ValueError(
            f"columns must contain at least 2 elements. columns: {columns}"
        )
    if hash_bucket_size < 2:
        raise ValueError(
            f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
        )
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    ordered = tuple(sorted(given, key=lambda column: column.name))
    return _CrossedColumn(
        ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from,
        tensor_name_in_ckpt,
    )  # fmt: skip


IdColumn = _SparseColumn | _WeightedSparseColumn | _CrossedColumn


# ---- one-hot vectors


class _OneHot(NamedTuple):
    sparse_id_column: Any


class _OneHotColumn(OldFeatureColumn, _OneHot):
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

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(columns_to_tensors)
        columns_to_tensors[self] = columns_to_tensors[self.sparse_id_column]

    def to_input(self, tensor: Any, rank: int) -> Tensor:
        ids = inner_flatten(self.sparse_id_column.id_tensor(tensor), rank)
        weights = self.sparse_id_column.weight_tensor(tensor)
        if weights is None:
            dense_ids = sparse_tensor_to_dense(ids, default_value=-1)
            hot = one_hot(dense_ids, self.length, on_value=1.0, off_value=0.0)
            return reduce_sum(hot, axis=[rank - 1])
        weighted = sparse_merge(ids, weights, self.length)
        # Ids of -1 are dropped.
        begin = zeros_like(weighted.dense_shape)
        weighted = sparse_slice(weighted, begin, weighted.dense_shape)
        dense = sparse_tensor_to_dense(weighted)
        return reshape(dense, concat((shape(dense)[:-1], [self.length]), 0))


@export("contrib.layers.one_hot_column")
def one_hot_column(sparse_id_column: IdColumn) -> _OneHotColumn:
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


class _EmbeddingColumn(OldFeatureColumn, _Embedding):
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

    def checkpoint(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(columns_to_tensors)
        columns_to_tensors[self] = columns_to_tensors[self.sparse_id_column]

    def deep(self, tensor: Any) -> DeepLookup:
        return DeepLookup(
            self.sparse_id_column.id_tensor(tensor),
            self.sparse_id_column.weight_tensor(tensor),
            self.length, self.initializer, self.combiner, self.dimension,
            self.shared_embedding_name, None, self.max_norm, self.trainable,
        )  # fmt: skip

    def wide(self, tensor: Any) -> WideLookup:
        raise ValueError(
            f"Column {self} is not supported in linear models. "
            "Please use sparse_column."
        )


@export("contrib.layers.embedding_column")
def embedding_column(
    sparse_id_column: IdColumn,
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
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
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
      TypeError: another kind of column.
      ValueError: there is none, or they differ.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
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
    if len(sparse_id_columns) == 1:
        return [
            embedding_column(
                sparse_id_columns[0], dimension, combiner, initializer,
                ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
            )
        ]  # fmt: skip
    plain: list[Any] = [getattr(c, "sparse_id_column", c) for c in sparse_id_columns]
    if any(_settings(column) != _settings(plain[0]) for column in plain):
        raise ValueError("The input sparse id columns are not compatible.")
    names = sorted(column.name for column in plain)
    if shared_embedding_name is None:
        shown = (
            names if len(names) <= 3 else [*names[:3], f"plus_{len(names) - 3}_others"]
        )
        shared_embedding_name = "_".join(shown) + "_shared_embedding"
    size = plain[0].length
    owner = f"Embedding of column_name: {plain[0].name}"
    initializer = _warned_initializer(initializer, size, owner)
    return tuple(
        _EmbeddingColumn(
            column, dimension, combiner, initializer, ckpt_to_load_from,
            tensor_name_in_ckpt, shared_embedding_name, size, max_norm, trainable,
        )
        for column in sparse_id_columns
    )  # fmt: skip


def _settings(column: Any) -> tuple[Any, ...]:
    """What columns with a common table must have in common."""
    return type(column), *column[1:]


# ---- scattered embeddings


class _ScatteredEmbedding(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Any


class _ScatteredEmbeddingColumn(OldFeatureColumn, _ScatteredEmbedding):
    """See `scattered_embedding_column`."""

    _not_in_key = ("initializer",)

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(string)}

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        words = columns_to_tensors[self.column_name]
        columns_to_tensors[self] = sparse_input(words, self.column_name)

    def deep(self, tensor: Any) -> DeepLookup:
        return DeepLookup(
            tensor, None, self.size, self.initializer, self.combiner, self.dimension,
            None, self.hash_key,
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
      column_name: the key of a feature of strings.
      size: the number of trained numbers.
      dimension: the length of a word's vector.
      hash_key: the seed of the hash function.
      combiner: "mean", "sqrtn" or "sum" of an example's vectors.
      initializer: of the numbers; truncated normal with deviation 0.1 if None.

    Raises:
      ValueError: a size < 1, or an initializer that is not callable.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            "Dimension and size must be greater than 0. "
            f"dimension: {dimension}, size: {size}, column_name: {column_name}"
        )
    owner = f"column_name: {column_name}"
    initializer = _initializer(initializer, 100, owner)
    return _ScatteredEmbeddingColumn(
        column_name, size, dimension, hash_key, combiner, initializer
    )
