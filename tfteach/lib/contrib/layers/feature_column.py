"""The older feature columns: what all of them provide.

A column is a named tuple of its arguments.  `insert_transformed_feature` adds its
tensor to a dictionary of features; `_wide_embedding_lookup_arguments` and
`_deep_embedding_lookup_arguments` describe a lookup of weights for linear models and of
embeddings for input layers, `_to_dnn_input_layer` makes dense values.  The columns are
also those of the first version of `tf.feature_column`, whose models accept them.
Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from tfteach.framework.operation import Tensor
from tfteach.lib.feature_column.first_version import CategoricalColumnV1, IdWeightPair
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.variables.initializers import Zeros


class _LinearEmbeddingLookupArguments(NamedTuple):
    """A lookup of weights in a linear model."""

    input_tensor: SparseTensor
    weight_tensor: SparseTensor | None
    vocab_size: int
    initializer: Any = Zeros()
    combiner: str = "sum"


class _DeepEmbeddingLookupArguments(NamedTuple):
    """A lookup of embeddings in an input layer."""

    input_tensor: SparseTensor
    weight_tensor: SparseTensor | None
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_embedding_name: str | None = None
    hash_key: int | None = None
    max_norm: float | None = None
    trainable: bool = True


class _FeatureColumn(ABC):
    """Base of the columns of `tf.contrib.layers`, which programs may subclass.

    Attributes:
      name: its name, of which scopes and variables are named.
      config: what `tf.parse_example` needs to read its features.
      key: a text that is equal for equal columns, by which they are sorted.
    """

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]: ...

    @property
    @abstractmethod
    def key(self) -> str: ...

    @abstractmethod
    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Add the column's tensor to the features, under the column."""

    def _checkpoint_path(self) -> tuple[str, str] | None:
        """A checkpoint's path and the name of a tensor in it, of initial values."""
        return None

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        """How a linear model finds the weights of the column's ids."""
        raise NotImplementedError(
            f"No wide embedding lookup arguments for column {self}."
        )

    def _deep_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _DeepEmbeddingLookupArguments:
        """How an input layer finds the embeddings of the column's ids."""
        raise NotImplementedError(
            f"No deep embedding lookup arguments for column {self}."
        )

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        """The column's part of an input layer."""
        raise ValueError("Calling an abstract method.")

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        """The column's values in a linear model."""
        raise NotImplementedError(f"No dense tensor representation for column {self}.")


class FeaturesByColumn:
    """A dictionary of features and columns' tensors, as columns read it.

    Args:
      columns_to_tensors: the dictionary; receives the tensors of further columns.
    """

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._tensors = columns_to_tensors

    def get(self, key: Any) -> Any:
        """The feature of a key, or the tensor of a column.

        Raises:
          KeyError: there is no such feature.
        """
        if key not in self._tensors and isinstance(key, _FeatureColumn):
            key.insert_transformed_feature(self._tensors)
        return self._tensors[key]


class TupleColumn(_FeatureColumn):
    """Base of the columns of this package: named tuples of their arguments.

    A column computes its tensor in `_transform_feature`, of features by
    `inputs.get(key)`: of `FeaturesByColumn` here, of the cache of `tf.feature_column`
    there.
    """

    _not_in_key: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        if not self._not_in_key:
            return repr(self)
        values: dict[str, Any] = self._asdict()  # type: ignore[attr-defined]
        shown = (f"{k}={v}" for k, v in values.items() if k not in self._not_in_key)
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.config

    @abstractmethod
    def _transform_feature(self, inputs: Any) -> Any:
        """The column's tensor."""

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        inputs = FeaturesByColumn(columns_to_tensors)
        columns_to_tensors[self] = self._transform_feature(inputs)


class IdColumn(TupleColumn, CategoricalColumnV1):
    """Base of the columns of ids: words, integers, crosses, weighted or not.

    Attributes:
      length: the number of ids.
    """

    _no_input_layer: str  # the error's text, of {kind} and {column}

    @property
    @abstractmethod
    def length(self) -> int: ...

    @property
    def _num_buckets(self) -> int:
        return self.length

    @property
    @abstractmethod
    def _linear_combiner(self) -> str:
        """How the weights of an example's ids are combined in a linear model."""

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        """The ids in the column's tensor."""
        ids: SparseTensor = input_tensor
        return ids

    def weight_tensor(self, input_tensor: Any) -> SparseTensor | None:
        """The ids' weights in the column's tensor."""
        return None

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        return _LinearEmbeddingLookupArguments(
            self.id_tensor(input_tensor),
            self.weight_tensor(input_tensor),
            self._num_buckets,
            combiner=self._linear_combiner,
        )

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> IdWeightPair:
        tensor = inputs.get(self)
        return IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        raise ValueError(f"{self._no_input_layer} column: {self}")
