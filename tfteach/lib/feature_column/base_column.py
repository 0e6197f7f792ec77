"""What feature columns provide: the base classes of all columns.

A column is a named tuple of its arguments, hence comparable and hashable.
`transform_feature` makes the column's tensor from raw features and other columns;
`get_dense_tensor` and `get_sparse_tensors` make of it what models read.
Source: python/feature_column/feature_column_v2.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Protocol, Self

from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import DType, string
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.lib.feature_column.first_version import (
    CategoricalColumnV1,
    DenseColumnV1,
    FeatureColumnV1,
    IdWeightPair,
    SequenceDenseColumnV1,
    TensorSequenceLengthPair,
)
from tfteach.lib.feature_column.scope_variables import ScopeVariables


class StateManager(Protocol):
    """Creates the variables of columns, and finds them again."""

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Initializer | None = None,
    ) -> Any: ...

    def get_variable(self, feature_column: Any, name: str) -> Any: ...


class Cache(Protocol):
    """Looks up raw features by key, and transformed ones by column."""

    def get(self, key: Any, state_manager: Any, training: Any = None) -> Any: ...


class FeatureColumn(FeatureColumnV1):
    """Base of all columns.

    Attributes:
      name: its name, of which scopes and variables are named.
      parse_example_spec: what `tf.parse_example` needs to read its features.
      parents: the columns and keys it is made of.
    """

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def parents(self) -> list[Any]:
        raise NotImplementedError

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The column's tensor; a cache calls this once."""
        raise NotImplementedError

    def create_state(self, state_manager: StateManager) -> None:
        """Create the column's variables, if it has any."""

    def __lt__(self, other: Any) -> bool:
        """Order by text, so that columns and keys can be sorted together."""
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    def _get_config(self) -> dict[str, Any]:
        """The fields as plain values; see `serialization.py`."""
        from tfteach.lib.feature_column.serialization import config_of

        return config_of(self)

    @classmethod
    def _from_config(
        cls, config: Any, custom_objects: Any = None, columns_by_name: Any = None
    ) -> Self:
        """A column of a `_get_config` result."""
        from tfteach.lib.feature_column.serialization import column_of

        column: Self = column_of(cls, config, custom_objects, columns_by_name)
        return column

    # The names of the first version of the library, which older programs call.

    @property
    def _is_v2_column(self) -> bool:
        return all(
            parent._is_v2_column
            for parent in self.parents
            if isinstance(parent, FeatureColumnV1)
        )

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)


class DenseColumn(FeatureColumn, DenseColumnV1):
    """A column of dense values: [batch, *variable_shape]."""

    @property
    def variable_shape(self) -> TensorShape:
        raise NotImplementedError

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        """The values of a batch."""
        raise NotImplementedError

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        return self.get_dense_tensor(inputs, _variables(weight_collections, trainable))


class SequenceDenseColumn(DenseColumn, SequenceDenseColumnV1):
    """A column of sequences of dense values: [batch, steps, *variable_shape]."""

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        """The values of a batch, and the number of steps of each example."""
        raise NotImplementedError

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> TensorSequenceLengthPair:
        variables = _variables(weight_collections, trainable)
        return self.get_sequence_dense_tensor(inputs, variables)


class CategoricalColumn(FeatureColumn, CategoricalColumnV1):
    """A column of ids in [0, num_buckets), any number for each example."""

    @property
    def num_buckets(self) -> int:
        raise NotImplementedError

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """The ids of a batch, and their weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> IdWeightPair:
        variables = _variables(weight_collections, trainable)
        return self.get_sparse_tensors(inputs, variables)


def _variables(weight_collections: Any, trainable: Any) -> ScopeVariables:
    """The state manager of the first version's arguments."""
    collections = weight_collections
    if collections and GraphKeys.GLOBAL_VARIABLES not in collections:
        collections = [*collections, GraphKeys.GLOBAL_VARIABLES]
    return ScopeVariables(collections, trainable is None or trainable)


# One column, or several.
Columns = FeatureColumnV1 | Iterable[FeatureColumnV1]


# ---- checks that several columns share


def check_key(key: Any) -> None:
    if not isinstance(key, str):
        raise ValueError(
            f"key must be a string. Got: type {type(key)}. Given key: {key}."
        )


def check_text_or_integer(dtype: DType, prefix: str) -> None:
    if dtype != string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def check_compatible(key: str, column: DType, tensor: DType) -> None:
    """A column of words cannot read integers, nor vice versa."""
    if column.is_integer != tensor.is_integer:
        raise ValueError(
            "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {key}, column dtype: {column}, tensor dtype: {tensor}"
        )


def size_of(column: Any) -> int:
    """The number of values of a dense column for one example."""
    return math.prod(int(size) for size in column.variable_shape)


def check_batch_sizes(tensors: list[Tensor], columns: list[Any]) -> None:
    """The static batch sizes must be equal, as far as they are known."""
    known = [
        (dimension_value(tensor.shape[0]), column)
        for tensor, column in zip(tensors, columns, strict=True)
        if dimension_value(tensor.shape[0]) is not None
    ]
    for size, column in known[1:]:
        expected, first = known[0]
        if size != expected:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size "
                f"of columns ({first.name}, {column.name}): ({expected}, {size})"
            )
