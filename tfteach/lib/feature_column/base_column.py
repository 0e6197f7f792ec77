"""What feature columns provide: the base classes of all columns.

A column is a named tuple of its arguments, hence comparable and hashable.
`transform_feature` makes the column's tensor from raw features and other columns;
`get_dense_tensor` and `get_sparse_tensors` make of it what models read.
Source: python/feature_column/feature_column_v2.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from tfteach.framework.dtypes import DType, string
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, Initializer
from tfteach.ops.core.sparse_tensor import SparseTensor


class IdWeightPair(NamedTuple):
    """The ids of a categorical column and their weights; None means weights of 1."""

    id_tensor: SparseTensor
    weight_tensor: SparseTensor | None


class TensorSequenceLengthPair(NamedTuple):
    """Dense values [batch, steps, ...], and the number of steps of each example."""

    dense_tensor: Tensor
    sequence_length: Tensor


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


class FeatureColumn:
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

    # The names of the first version of the library, which older programs call.

    @property
    def _is_v2_column(self) -> bool:
        return all(
            parent._is_v2_column
            for parent in self.parents
            if isinstance(parent, FeatureColumn)
        )

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)


class DenseColumn(FeatureColumn):
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


class SequenceDenseColumn(DenseColumn):
    """A column of sequences of dense values: [batch, steps, *variable_shape]."""

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        """The values of a batch, and the number of steps of each example."""
        raise NotImplementedError


class CategoricalColumn(FeatureColumn):
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


# One column, or several.
Columns = FeatureColumn | Iterable[FeatureColumn]


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
        (tensor.shape[0].value, column)
        for tensor, column in zip(tensors, columns, strict=True)
        if tensor.shape[0].value is not None
    ]
    for size, column in known[1:]:
        expected, first = known[0]
        if size != expected:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size "
                f"of columns ({first.name}, {column.name}): ({expected}, {size})"
            )
