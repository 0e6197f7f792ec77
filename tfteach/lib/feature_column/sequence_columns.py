"""Columns of sequences: numbers and ids in order, any number for each example.

Source: python/feature_column/sequence_feature_column.py, utils.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.framework.dtypes import DType, as_dtype, float32, int64, string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike
from tfteach.lib.feature_column import categorical_columns
from tfteach.lib.feature_column.base_column import (
    Cache,
    CategoricalColumn,
    SequenceDenseColumn,
    StateManager,
    size_of,
)
from tfteach.lib.feature_column.first_version import (
    IdWeightPair,
    TensorSequenceLengthPair,
)
from tfteach.lib.feature_column.numeric_columns import Normalizer, checked_shape
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.segment_functions import segment_max
from tfteach.ops.core.fill import ones_like, zeros
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_prod
from tfteach.ops.math.rounding import ceil
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense
from tfteach.ops.sparse.sparse_shape import sparse_reshape


def sequence_length_of(tensor: SparseTensor, num_elements: int = 1) -> Tensor:
    """The number of steps of each example, int64 [batch].

    Args:
      tensor: a SparseTensor [batch, steps * num_elements, ...].
      num_elements: the number of values of a step.
    """
    with name_scope(None, "sequence_length") as scope:
        examples = tensor.indices[:, 0]
        places = tensor.indices[:, 1]
        places += ones_like(places)
        lengths = segment_max(places, examples)
        lengths = cast(ceil(lengths / num_elements), int64)
        # The last examples may be empty: segments end before them.
        missing = shape_of(tensor)[:1] - shape_of(lengths)[:1]
        return concat([lengths, zeros(missing, lengths.dtype)], 0, name=scope)


# ---- ids


class _SequenceCategorical(NamedTuple):
    categorical_column: CategoricalColumn


class SequenceCategoricalColumn(CategoricalColumn, _SequenceCategorical):
    """A categorical column whose ids are in order."""

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        return self.categorical_column.transform_feature(
            transformation_cache, state_manager
        )

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """Ids [batch, steps, ids of a step]."""
        ids, weights = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        sizes = shape_of(ids)
        target = [sizes[0], sizes[1], reduce_prod(sizes[2:])]
        ids = sparse_reshape(ids, target)
        if weights is not None:
            weights = sparse_reshape(weights, target)
        return IdWeightPair(ids, weights)


@export(
    "feature_column.sequence_categorical_column_with_identity",
    "contrib.feature_column.sequence_categorical_column_with_identity",
)
def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """A sequence of integers that are ids already.

    Args and errors are those of `tf.feature_column.categorical_column_with_identity`.

    Source: python/feature_column/sequence_feature_column.py.
    """
    return SequenceCategoricalColumn(
        categorical_columns.categorical_column_with_identity(
            key, num_buckets, default_value
        )
    )


@export(
    "feature_column.sequence_categorical_column_with_hash_bucket",
    "contrib.feature_column.sequence_categorical_column_with_hash_bucket",
)
def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = string
) -> SequenceCategoricalColumn:
    """A sequence of words or integers, whose ids are hashes.

    Args and errors are those of
    `tf.feature_column.categorical_column_with_hash_bucket`.

    Example:
      >>> words = tf.feature_column.sequence_categorical_column_with_hash_bucket(
      ...     "words", 100)
      >>> vectors = tf.feature_column.embedding_column(words, 8)

    Source: python/feature_column/sequence_feature_column.py.
    """
    return SequenceCategoricalColumn(
        categorical_columns.categorical_column_with_hash_bucket(
            key, hash_bucket_size, dtype
        )
    )


@export(
    "feature_column.sequence_categorical_column_with_vocabulary_list",
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_list",
)
def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Iterable[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """A sequence of words or integers, whose ids are their places in a list.

    Args and errors are those of
    `tf.feature_column.categorical_column_with_vocabulary_list`.

    Source: python/feature_column/sequence_feature_column.py.
    """
    return SequenceCategoricalColumn(
        categorical_columns.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )


@export(
    "feature_column.sequence_categorical_column_with_vocabulary_file",
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_file",
)
def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = string,
) -> SequenceCategoricalColumn:
    """A sequence of words or integers, whose ids are their lines in a file.

    Args and errors are those of
    `tf.feature_column.categorical_column_with_vocabulary_file`.

    Source: python/feature_column/sequence_feature_column.py.
    """
    return SequenceCategoricalColumn(
        categorical_columns.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


# ---- numbers


class _SequenceNumeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Normalizer | None


class SequenceNumericColumn(SequenceDenseColumn, _SequenceNumeric):
    """See `sequence_numeric_column`."""

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        numbers = transformation_cache.get(self.key, state_manager)
        if self.normalizer_fn is not None:
            numbers = self.normalizer_fn(numbers)
        return numbers

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        numbers = transformation_cache.get(self, state_manager)
        dense = sparse_tensor_to_dense(numbers, default_value=self.default_value)
        sizes = concat([shape_of(dense)[:1], [-1], self.variable_shape], 0)
        dense = reshape(dense, sizes)
        is_flat = numbers.shape.ndims == 2
        lengths = sequence_length_of(numbers, size_of(self) if is_flat else 1)
        return TensorSequenceLengthPair(dense, lengths)


@export(
    "feature_column.sequence_numeric_column",
    "contrib.feature_column.sequence_numeric_column",
)
def sequence_numeric_column(
    key: str,
    shape: ShapeLike = (1,),
    default_value: float = 0.0,
    dtype: DTypeLike = float32,
    normalizer_fn: Normalizer | None = None,
) -> SequenceNumericColumn:
    """A sequence of numbers, from a sparse feature.

    Args:
      key: the feature's key.
      shape: the shape of the value of one step.
      default_value: the value of steps without one.
      dtype: the numbers' type; ints or floats.
      normalizer_fn: a function from the SparseTensor to another.

    Returns:
      A SequenceNumericColumn.

    Raises:
      ValueError: a dimension < 1, or `dtype` is not numeric.
      TypeError: a dimension is not an integer, or the normalizer is not callable.

    Source: python/feature_column/sequence_feature_column.py.
    """
    sizes = checked_shape(shape, key)
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            f"dtype must be convertible to float. dtype: {dtype}, key: {key}"
        )
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, sizes, default_value, dtype, normalizer_fn)
