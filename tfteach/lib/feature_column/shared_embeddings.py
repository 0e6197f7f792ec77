"""Embedding columns with a common table, for the layers of columns.

Unlike those of `tf.feature_column.shared_embedding_columns`, whose table is found by a
collection, these refer to an object that creates the table once in each graph.
Source: python/feature_column/feature_column_v2.py (shared_embedding_columns_v2).
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from tfteach.framework.dtypes import float32
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Initializer
from tfteach.lib.feature_column.base_column import (
    Cache,
    CategoricalColumn,
    StateManager,
)
from tfteach.lib.feature_column.dense_columns import (
    OfCategories,
    checked_initializer,
    common_name,
    load,
    refuse_sharing_eagerly,
)
from tfteach.lib.feature_column.first_version import (
    IdWeightPair,
    TensorSequenceLengthPair,
)
from tfteach.lib.feature_column.sequence_columns import sequence_length_of
from tfteach.ops.nn.safe_embedding_lookup import safe_embedding_lookup_sparse
from tfteach.variables.scope import get_variable


class SharedEmbeddingColumnCreator:
    """Creates the table of several columns, once in each graph.

    Args:
      dimension: the number of columns of the table.
      initializer: of the table.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name of a tensor in
        it, with which the table begins; or None.
      num_buckets: the number of rows of the table.
      trainable: whether the table is trained.
      name: the name of the variable.
    """

    def __init__(
        self,
        dimension: int,
        initializer: Any,
        ckpt_to_load_from: str | None,
        tensor_name_in_ckpt: str | None,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ) -> None:
        self._size = (num_buckets, dimension)
        self._initializer, self._trainable, self._name = initializer, trainable, name
        self._checkpoint = (ckpt_to_load_from, tensor_name_in_ckpt)
        self._tables: WeakKeyDictionary[Graph, Any] = WeakKeyDictionary()

    def __call__(
        self, categorical_column: Any, combiner: str, max_norm: float | None
    ) -> SharedEmbeddingColumn:
        """A column of the ids of `categorical_column`."""
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self._name

    @property
    def dimension(self) -> int:
        """The number of columns of the table."""
        return self._size[1]

    @property
    def embedding_weights(self) -> Any:
        """The table of the current graph."""
        graph = get_default_graph()
        table = self._tables.get(graph)
        if table is None:
            table = get_variable(
                self._name,
                shape=self._size,
                dtype=float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            checkpoint, tensor_name = self._checkpoint
            if checkpoint is not None:
                load(table, checkpoint, tensor_name)
            self._tables[graph] = table
        return table

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedEmbeddingColumnCreator:
        """Itself: copied columns keep sharing the table."""
        return self


class _Shared(NamedTuple):
    categorical_column: CategoricalColumn
    shared_embedding_column_creator: SharedEmbeddingColumnCreator
    combiner: str
    max_norm: float | None


class SharedEmbeddingColumn(OfCategories, _Shared):
    """See `shared_embedding_columns_v2`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        self._check_no_sequence("embedding_column", state_manager)
        return self._looked_up(transformation_cache, state_manager)[0]

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        self._check_sequence("embedding_column", "SequenceCategoricalColumn")
        tensor, pair = self._looked_up(transformation_cache, state_manager)
        return TensorSequenceLengthPair(tensor, sequence_length_of(pair.id_tensor))

    def _looked_up(
        self, cache: Cache, state_manager: StateManager | None
    ) -> tuple[Tensor, IdWeightPair]:
        with name_scope(self.name):
            pair = self.categorical_column.get_sparse_tensors(cache, state_manager)
            tensor = safe_embedding_lookup_sparse(
                self.shared_embedding_column_creator.embedding_weights,
                pair.id_tensor,
                pair.weight_tensor,
                self.combiner,
                name=f"{self.name}_weights",
                max_norm=self.max_norm,
            )
            return tensor, pair

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> NoReturn:
        _refuse_functions()

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> NoReturn:
        _refuse_functions()


def _refuse_functions() -> NoReturn:
    raise ValueError(
        "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. "
        "Please use `DenseFeatures` or `LinearModel` instead."
    )


def shared_embedding_columns_v2(
    categorical_columns: list[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Embedding columns of several columns of ids, with one table.

    Args:
      shared_embedding_collection_name: the name of the table; made of the columns'
        names if None.
      categorical_columns, dimension, combiner, initializer, ckpt_to_load_from,
      tensor_name_in_ckpt, max_norm, trainable: as in
        `tf.feature_column.shared_embedding_columns`.

    Returns:
      A list of columns, in the order of `categorical_columns`.

    Raises:
      ValueError, RuntimeError: as `tf.feature_column.shared_embedding_columns`.

    Source: python/feature_column/feature_column_v2.py.
    """
    refuse_sharing_eagerly()
    initializer = checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, ""
    )
    name = common_name(categorical_columns)
    create = SharedEmbeddingColumnCreator(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        categorical_columns[0].num_buckets,
        trainable,
        shared_embedding_collection_name or name,
    )
    return [create(column, combiner, max_norm) for column in categorical_columns]
