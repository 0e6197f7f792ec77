"""Columns that make dense values of ids: indicators and embeddings.

Source: python/feature_column/feature_column_v2.py, feature_column.py.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Initializer
from tfteach.lib.feature_column.base_column import (
    Cache,
    CategoricalColumn,
    SequenceDenseColumn,
    StateManager,
)
from tfteach.lib.feature_column.categorical_columns import WeightedCategoricalColumn
from tfteach.lib.feature_column.first_version import (
    IdWeightPair,
    TensorSequenceLengthPair,
)
from tfteach.lib.feature_column.scope_variables import ScopeVariables
from tfteach.lib.feature_column.sequence_columns import (
    SequenceCategoricalColumn,
    sequence_length_of,
)
from tfteach.lib.files.init_from_checkpoint import init_from_checkpoint
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.safe_embedding_lookup import safe_embedding_lookup_sparse
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_functions import sparse_merge
from tfteach.ops.sparse.sparse_shape import sparse_slice
from tfteach.variables.initializers import TruncatedNormal
from tfteach.variables.partitioned import PartitionedVariable


class OfCategories(SequenceDenseColumn):
    """A dense column of the ids of a categorical column, or of a sequence of them."""

    categorical_column: CategoricalColumn

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    # The functions or layers that error messages name.
    _dense_layer: ClassVar[str] = "DenseFeatures"
    _sequence_layer: ClassVar[str] = "SequenceFeatures"

    def _check_no_sequence(self, kind: str, state_manager: Any) -> None:
        column = self.categorical_column
        if isinstance(column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {kind}: {self.name}. categorical_column must not be of type "
                f"{_sequence_type(state_manager)}. Suggested fix A: If you wish to use "
                f"{self._dense_layer}, use a non-sequence categorical_column_with_*. "
                "Suggested fix B: If you wish to create sequence input, use "
                f"{self._sequence_layer} instead of {self._dense_layer}. Given (type "
                f"{type(column)}): {column}"
            )

    def _check_sequence(self, kind: str, expected: str) -> None:
        column = self.categorical_column
        if not isinstance(column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {kind}: {self.name}. categorical_column must be of type "
                f"{expected} to use {self._sequence_layer}. Suggested fix: Use one of "
                "sequence_categorical_column_with_*. Given (type "
                f"{type(column)}): {column}"
            )


def _sequence_type(state_manager: Any) -> str:
    """The name of the type in messages of functions and of layers."""
    is_function = isinstance(state_manager, ScopeVariables)
    return "_SequenceCategoricalColumn" if is_function else "SequenceCategoricalColumn"


# ---- indicators


class _Indicator(NamedTuple):
    categorical_column: CategoricalColumn


class IndicatorColumn(OfCategories, _Indicator):
    """See `indicator_column`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((1, self.categorical_column.num_buckets))

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        ids, weights = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        count = self.categorical_column.num_buckets
        if weights is not None:
            weighted = sparse_merge(ids, weights, count)
            # Ids of -1 are dropped, weights of equal ids added.
            weighted = sparse_slice(weighted, [0, 0], weighted.dense_shape)
            return scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)
        dense_ids = sparse_tensor_to_dense(ids, default_value=-1)
        hot = one_hot(dense_ids, count, on_value=1.0, off_value=0.0)
        return reduce_sum(hot, axis=[-2])

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        self._check_no_sequence("indicator_column", state_manager)
        tensor: Tensor = transformation_cache.get(self, state_manager)
        return tensor

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        self._check_sequence("indicator_column", _sequence_type(state_manager))
        tensor = transformation_cache.get(self, state_manager)
        ids = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        ).id_tensor
        return TensorSequenceLengthPair(tensor, sequence_length_of(ids))


@export("feature_column.indicator_column")
def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """How often each id occurs in an example, or the sum of its weights.

    Args:
      categorical_column: a column of ids.

    Returns:
      An IndicatorColumn of `num_buckets` floats.

    Example:
      >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 100)
      >>> words = tf.feature_column.indicator_column(word)

    Source: python/feature_column/feature_column_v2.py.
    """
    return IndicatorColumn(categorical_column)


# ---- embeddings


class _OfTable(OfCategories):
    """A column of embeddings, the rows of a table."""

    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def create_state(self, state_manager: StateManager) -> None:
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _combined(self, table: Any, pair: IdWeightPair) -> Tensor:
        """The rows of each example's ids, combined."""
        if self.ckpt_to_load_from is not None:
            load(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return safe_embedding_lookup_sparse(
            table,
            pair.id_tensor,
            pair.weight_tensor,
            self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )


class _Embedding(NamedTuple):
    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(_OfTable, _Embedding):
    """See `embedding_column`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        self._check_no_sequence("embedding_column", state_manager)
        pair = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        return self._looked_up(pair, state_manager)

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        self._check_sequence("embedding_column", "SequenceCategoricalColumn")
        pair = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        tensor = self._looked_up(pair, state_manager)
        return TensorSequenceLengthPair(tensor, sequence_length_of(pair.id_tensor))

    def _looked_up(self, pair: IdWeightPair, state_manager: Any) -> Tensor:
        table = state_manager.get_variable(self, name="embedding_weights")
        return self._combined(table, pair)


def load(table: Any, checkpoint: str, tensor_name: Any) -> None:
    """Initialize a table from a checkpoint."""
    parts = list(table) if isinstance(table, PartitionedVariable) else table
    init_from_checkpoint(checkpoint, {tensor_name: parts})


def checked_initializer(
    dimension: Any, initializer: Any, checkpoint: Any, tensor_name: Any, owner: str
) -> Any:
    """The initializer to use, once the arguments of an embedding are found valid."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none "
            "of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{owner}")
    if initializer is None:
        return TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))
    return initializer


@export("feature_column.embedding_column")
def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Rows of a table, selected by the ids of a column and combined.

    Args:
      categorical_column: a column of ids.
      dimension: the number of columns of the table.
      combiner: "mean", "sqrtn" or "sum" of an example's rows.
      initializer: of the table; truncated normal with deviation 1 / sqrt(dimension) if
        None.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name of a tensor in
        it, with which the table begins.
      max_norm: longer rows are scaled down to this length; None disables that.
      trainable: whether the table is trained.

    Returns:
      An EmbeddingColumn of `dimension` floats.

    Raises:
      ValueError: `dimension` < 1, an initializer that is not callable, or only one of
        checkpoint and tensor name.

    Example:
      >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 1000)
      >>> vector = tf.feature_column.embedding_column(word, 8)

    Source: python/feature_column/feature_column_v2.py.
    """
    owner = f" Embedding of column_name: {getattr(categorical_column, 'name', None)}"
    initializer = checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, owner
    )
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable,
    )  # fmt: skip


# ---- shared embeddings


class _SharedEmbedding(NamedTuple):
    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class _SharedEmbeddingColumn(_OfTable, _SharedEmbedding):
    """One of several embedding columns with a common table, found by a collection."""

    _dense_layer = "input_layer"
    _sequence_layer = "sequence_input_layer"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def _is_v2_column(self) -> bool:
        return False

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        self._check_no_sequence("embedding_column", state_manager)
        return self._looked_up(transformation_cache, state_manager)

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        self._check_sequence("embedding_column", "_SequenceCategoricalColumn")
        tensor = self._looked_up(transformation_cache, state_manager)
        pair = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        return TensorSequenceLengthPair(tensor, sequence_length_of(pair.id_tensor))

    def _looked_up(self, transformation_cache: Cache, state_manager: Any) -> Tensor:
        with name_scope(None, self.name):
            pair = self.categorical_column.get_sparse_tensors(
                transformation_cache, state_manager
            )
            return self._combined(self._table(state_manager), pair)

    def _table(self, state_manager: Any) -> Any:
        """The common table: from the collection, or created and added to it."""
        graph, key = get_default_graph(), self.shared_embedding_collection_name
        shared = graph.get_collection(key)
        if not shared:
            table = state_manager.get_variable(self, name="embedding_weights")
            graph.add_to_collection(key, table)
            return table
        if len(shared) > 1:
            raise ValueError(
                f"Collection {shared} can only contain one variable. "
                "Suggested fix A: Choose a unique name for this collection. "
                "Suggested fix B: Do not add any variables to this collection. "
                "The feature_column library already adds a variable under the hood."
            )
        expected = (self.categorical_column.num_buckets, self.dimension)
        if tuple(shared[0].get_shape().as_list()) != expected:
            raise ValueError(
                f"Shared embedding collection {key} contains variable {shared[0].name} "
                f"of unexpected shape {shared[0].get_shape()}. Expected shape is "
                f"{expected}. Suggested fix A: Choose a unique name for this "
                "collection. Suggested fix B: Do not add any variables to this "
                "collection. The feature_column library already adds a variable under "
                "the hood."
            )
        return shared[0]


@export("feature_column.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: list[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[_SharedEmbeddingColumn]:
    """Embedding columns of several columns of ids, with one table.

    Args:
      categorical_columns: columns of ids of one kind, with the same number of buckets;
        some may be weighted.
      shared_embedding_collection_name: the collection that holds the table; made of the
        columns' names if None.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
      max_norm, trainable: as in `tf.feature_column.embedding_column`.

    Returns:
      A list of columns, in the order of `categorical_columns`.

    Raises:
      ValueError: as `embedding_column`, or the columns differ in kind or size.
      RuntimeError: in an eager program.

    Source: python/feature_column/feature_column_v2.py (shared_embedding_columns).
    """
    refuse_sharing_eagerly()
    initializer = checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, ""
    )
    name = common_name(categorical_columns)
    shared_embedding_collection_name = shared_embedding_collection_name or name
    return [
        _SharedEmbeddingColumn(
            column, dimension, combiner, initializer, shared_embedding_collection_name,
            ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
        )
        for column in categorical_columns
    ]  # fmt: skip


def refuse_sharing_eagerly() -> None:
    """Raise RuntimeError in an eager program."""
    if get_default_graph().is_eager:
        raise RuntimeError(
            "shared_embedding_columns are not supported when eager execution is "
            "enabled."
        )


def common_name(categorical_columns: list[Any]) -> str:
    """The name of a table that columns share, made of their names.

    Raises:
      ValueError: the columns differ in kind or size.
    """
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first, num_buckets = _unweighted(ordered[0]), ordered[0].num_buckets
    for weighted in ordered[1:]:
        column = _unweighted(weighted)
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the "
                "same type, or be weighted_categorical_column of the same type. Given "
                f"column: {first} of type: {type(first)} does not match given column: "
                f"{column} of type: {type(column)}"
            )
        if column.num_buckets != num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the "
                f"same number of buckets. Given column: {ordered[0]} with buckets: "
                f"{num_buckets} does  not match column: {weighted} with buckets: "
                f"{column.num_buckets}"
            )
    return "_".join(column.name for column in ordered) + "_shared_embedding"


def _unweighted(column: Any) -> Any:
    if isinstance(column, WeightedCategoricalColumn):
        return column.categorical_column
    return column
