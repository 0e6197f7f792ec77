"""The base classes of columns in the first version of the library.

Programs of TensorFlow 1.4 to 1.12 subclass them as `_DenseColumn` and so on of
`tensorflow.python.feature_column.feature_column`: they override the methods with an
underscore.  The methods without one, which the library calls, call these; the columns
of the library override those without (see `base_column.py`).
Source: python/feature_column/feature_column.py.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.lib.feature_column.scope_variables import ScopeVariables
from tfteach.ops.core.sparse_tensor import SparseTensor


class IdWeightPair(NamedTuple):
    """The ids of a categorical column and their weights; None means weights of 1."""

    id_tensor: SparseTensor
    weight_tensor: SparseTensor | None


class TensorSequenceLengthPair(NamedTuple):
    """Dense values [batch, steps, ...], and the number of steps of each example."""

    dense_tensor: Tensor
    sequence_length: Tensor


class FeatureColumnV1:
    """Base of all columns."""

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def _is_v2_column(self) -> bool:
        return False

    def _transform_feature(self, inputs: Any) -> Any:
        """The column's tensor, of a cache of features."""
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self._parse_example_spec

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The column's tensor; a cache calls this once."""
        return self._transform_feature(transformation_cache)


class DenseColumnV1(FeatureColumnV1):
    """A column of dense values: [batch, *variable_shape]."""

    @property
    def _variable_shape(self) -> TensorShape:
        raise NotImplementedError

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        """The values of a batch."""
        raise NotImplementedError

    @property
    def variable_shape(self) -> TensorShape:
        return self._variable_shape

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The values of a batch."""
        return self._get_dense_tensor(transformation_cache, **_arguments(state_manager))


class SequenceDenseColumnV1(FeatureColumnV1):
    """A column of sequences of dense values: [batch, steps, *variable_shape]."""

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> TensorSequenceLengthPair:
        """The values of a batch, and the number of steps of each example."""
        raise NotImplementedError

    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> TensorSequenceLengthPair:
        """The values of a batch, and the number of steps of each example."""
        return self._get_sequence_dense_tensor(
            transformation_cache, **_arguments(state_manager)
        )


_Pair = IdWeightPair  # which is also a name of the class below


class CategoricalColumnV1(FeatureColumnV1):
    """A column of ids in [0, num_buckets), any number for each example."""

    IdWeightPair: ClassVar[type[tuple[Any, ...]]] = IdWeightPair

    @property
    def _num_buckets(self) -> int:
        raise NotImplementedError

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> _Pair:
        """The ids of a batch, and their weights."""
        raise NotImplementedError

    @property
    def num_buckets(self) -> int:
        return self._num_buckets

    def get_sparse_tensors(
        self, transformation_cache: Any, state_manager: Any
    ) -> _Pair:
        """The ids of a batch, and their weights."""
        return self._get_sparse_tensors(
            transformation_cache, **_arguments(state_manager)
        )


def _arguments(state_manager: Any) -> dict[str, Any]:
    """The arguments that became a state manager."""
    if isinstance(state_manager, ScopeVariables):
        return {
            "weight_collections": state_manager.collections,
            "trainable": state_manager.trainable,
        }
    return {"weight_collections": None, "trainable": None}
