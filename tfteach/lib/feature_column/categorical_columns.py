"""Columns of ids: identities, words of a vocabulary, hashes; weighted ids.

Source: python/feature_column/feature_column_v2.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tfteach.control.checks.values import assert_greater_equal, assert_less
from tfteach.framework.dtypes import DType, as_dtype, float32, int64, string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.feature_column.base_column import (
    Cache,
    CategoricalColumn,
    StateManager,
    check_compatible,
    check_key,
    check_text_or_integer,
)
from tfteach.lib.feature_column.first_version import IdWeightPair
from tfteach.lib.feature_column.transformation_cache import as_sparse_input
from tfteach.lib.lookup.vocabulary import index_table_from_file, index_table_from_tensor
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.fill import fill
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater_equal, less, logical_or
from tfteach.ops.text.string_conversion import as_string, string_to_hash_bucket_fast


class _OfOneFeature(CategoricalColumn):
    """A categorical column that reads one feature, of its key and type."""

    key: str

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(getattr(self, "dtype", int64))}

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> SparseTensor:
        given = transformation_cache.get(self.key, state_manager)
        return self._ids(as_sparse_input(given))

    def _ids(self, words: SparseTensor) -> SparseTensor:
        raise NotImplementedError


# ---- integers as they are


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(_OfOneFeature, _Identity):
    """See `categorical_column_with_identity`."""

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def _ids(self, words: SparseTensor) -> SparseTensor:
        if not words.dtype.is_integer:
            raise ValueError(
                f"Invalid input, not integer. key: {self.key} dtype: {words.dtype}"
            )
        ids = cast(words.values, int64, name="values")
        count = cast(self.number_buckets, int64, name="num_buckets")
        zero = cast(0, int64, name="zero")
        if self.default_value is None:
            owner = f'index for categorical column "{self.key}"'
            checks = [
                assert_less(
                    ids, count, [ids, count],
                    message=f"Bucket {owner} exceeds number of buckets",
                    name="assert_less_than_num_buckets",
                ),
                assert_greater_equal(
                    ids, zero, [ids], message=f"Negative bucket {owner}",
                    name="assert_greater_or_equal_0",
                ),
            ]  # fmt: skip
            with get_default_graph().control_dependencies(checks):
                ids = identity(ids)
        else:
            is_other = logical_or(
                less(ids, zero), greater_equal(ids, count), name="out_of_range"
            )
            other = fill(
                shape(ids), cast(self.default_value, int64), name="default_values"
            )
            ids = where_v2(is_other, other, ids)
        return SparseTensor(words.indices, ids, words.dense_shape)


@export("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """A column of integers that are ids already.

    Args:
      key: the feature's key; -1 in a dense feature means "missing".
      num_buckets: the limit of the ids.
      default_value: the id of integers out of range; None: these are errors.

    Returns:
      An IdentityCategoricalColumn.

    Raises:
      ValueError: `num_buckets` < 1, the default value is out of range, or `key` is not
        a string.

    Example:
      >>> day = tf.feature_column.categorical_column_with_identity("day", 7)

    Source: python/feature_column/feature_column_v2.py.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), "
            f"column_name {key}"
        )
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


# ---- hashes


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


class HashedCategoricalColumn(_OfOneFeature, _Hashed):
    """See `categorical_column_with_hash_bucket`."""

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def _ids(self, words: SparseTensor) -> SparseTensor:
        check_text_or_integer(words.dtype, f"column_name: {self.key} input_tensor")
        check_compatible(self.key, self.dtype, words.dtype)
        values = words.values if self.dtype == string else as_string(words.values)
        ids = string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")
        return SparseTensor(words.indices, ids, words.dense_shape)


@export("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = string
) -> HashedCategoricalColumn:
    """A column of words or integers, whose ids are hashes.

    Args:
      key: the feature's key; "" and -1 in a dense feature mean "missing".
      hash_bucket_size: the number of ids.
      dtype: string, or an integer type.

    Returns:
      A HashedCategoricalColumn.

    Raises:
      ValueError: `hash_bucket_size` < 1, another type, or `key` is not a string.

    Example:
      >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 1000)

    Source: python/feature_column/feature_column_v2.py.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            "hash_bucket_size must be at least 1. "
            f"hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    dtype = as_dtype(dtype)
    check_text_or_integer(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


# ---- words of a vocabulary


class _VocabularyList(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_OfOneFeature, _VocabularyList):
    """See `categorical_column_with_vocabulary_list`."""

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _ids(self, words: SparseTensor) -> SparseTensor:
        words, dtype = _words_for_lookup(words, self.key, self.dtype)
        table = index_table_from_tensor(
            tuple(self.vocabulary_list),
            self.num_oov_buckets,
            self.default_value,
            dtype=dtype,
            name=f"{self.key}_lookup",
        )
        ids: SparseTensor = table.lookup(words)
        return ids


@export("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Iterable[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """A column of words or integers, whose ids are their places in a list.

    Args:
      key: the feature's key; "" and -1 in a dense feature mean "missing".
      vocabulary_list: distinct strings or integers.
      dtype: the feature's type; that of the list if None.
      default_value: the id of others; -1 drops them.
      num_oov_buckets: the number of hash buckets for others, beyond the list's ids.

    Returns:
      A VocabularyListCategoricalColumn.

    Raises:
      ValueError: the list is empty or has duplicates, types do not match, or both a
        default value and buckets are given.

    Example:
      >>> rgb = tf.feature_column.categorical_column_with_vocabulary_list(
      ...     "colour", ["R", "G", "B"])

    Source: python/feature_column/feature_column_v2.py.
    """
    words = [] if vocabulary_list is None else list(vocabulary_list)
    if not words:
        raise ValueError(
            f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}"
        )
    if len(set(words)) != len(words):
        raise ValueError(
            f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}"
        )
    own = as_dtype(np.array(words).dtype)
    _check_buckets(key, num_oov_buckets, default_value)
    check_text_or_integer(own, f"column_name: {key} vocabulary")
    dtype = own if dtype is None else as_dtype(dtype)
    if dtype.is_integer != own.is_integer:
        raise ValueError(
            f"dtype {dtype} and vocabulary dtype {own} do not match, column_name: {key}"
        )
    check_text_or_integer(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(
        key, tuple(words), dtype, default_value, num_oov_buckets
    )


class _VocabularyFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int


class VocabularyFileCategoricalColumn(_OfOneFeature, _VocabularyFile):
    """See `categorical_column_with_vocabulary_file`."""

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def _ids(self, words: SparseTensor) -> SparseTensor:
        words, dtype = _words_for_lookup(words, self.key, self.dtype)
        table = index_table_from_file(
            self.vocabulary_file,
            self.num_oov_buckets,
            self.vocabulary_size,
            self.default_value,
            key_dtype=dtype,
            name=f"{self.key}_lookup",
        )
        ids: SparseTensor = table.lookup(words)
        return ids


@export("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = string,
) -> VocabularyFileCategoricalColumn:
    """A column of words or integers, whose ids are their lines in a file.

    Args:
      key: the feature's key; "" and -1 in a dense feature mean "missing".
      vocabulary_file: the path of a file with one word in each line.
      vocabulary_size: the number of lines to use; None: all of them, counted now.
      num_oov_buckets: the number of hash buckets for others, beyond the file's ids.
      default_value: the id of others; None means -1, which drops them.
      dtype: string, or an integer type.

    Returns:
      A VocabularyFileCategoricalColumn.

    Raises:
      ValueError: there is no such file, a number is out of range, or both a default
        value and buckets are given.

    Source: python/feature_column/feature_column_v2.py.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not os.path.exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with open(vocabulary_file, "rb") as file:
            vocabulary_size = sum(1 for _ in file)
        get_logger().info(
            "vocabulary_size = %d in %s is inferred from the number of elements in the "
            "vocabulary_file %s.",
            vocabulary_size,
            key,
            vocabulary_file,
        )
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_buckets(key, num_oov_buckets, -1 if default_value is None else default_value)
    dtype = as_dtype(dtype)
    check_text_or_integer(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(
        key,
        vocabulary_file,
        vocabulary_size,
        num_oov_buckets or 0,
        dtype,
        -1 if default_value is None else default_value,
    )


def _check_buckets(key: str, num_oov_buckets: int, default_value: int) -> None:
    if not num_oov_buckets:
        return
    if default_value != -1:
        raise ValueError(
            f"Can't specify both num_oov_buckets and default_value in {key}."
        )
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def _words_for_lookup(
    words: SparseTensor, key: str, dtype: DType
) -> tuple[SparseTensor, DType]:
    """The words and their type in the table: all integers are int64 there."""
    check_compatible(key, dtype, words.dtype)
    check_text_or_integer(words.dtype, f"column_name: {key} input_tensor")
    if words.dtype.is_integer:
        return cast(words, int64), int64
    return words, dtype


# ---- weights


class _Weighted(NamedTuple):
    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType


class WeightedCategoricalColumn(CategoricalColumn, _Weighted):
    """See `weighted_categorical_column`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for "
                f"{self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> tuple[SparseTensor, SparseTensor]:
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        weights = convert_to_tensor_or_sparse_tensor(weights)
        if weights.dtype.base_dtype != self.dtype:
            raise ValueError(
                f"Bad dtype, expected {self.dtype}, but got {weights.dtype}."
            )
        weights = as_sparse_input(weights, ignored=0.0)
        if not weights.dtype.is_floating:
            weights = cast(weights, float32)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        return IdWeightPair(*transformation_cache.get(self, state_manager))


@export("feature_column.weighted_categorical_column")
def weighted_categorical_column(
    categorical_column: CategoricalColumn,
    weight_feature_key: str,
    dtype: DTypeLike = float32,
) -> WeightedCategoricalColumn:
    """A categorical column whose ids have weights.

    Args:
      categorical_column: a column of ids.
      weight_feature_key: the key of the weights, one for each id; 0 in a dense feature
        means "missing".
      dtype: the weights' type.

    Returns:
      A WeightedCategoricalColumn.

    Raises:
      ValueError: `dtype` is not numeric.

    Source: python/feature_column/feature_column_v2.py.
    """
    found = None if dtype is None else as_dtype(dtype)
    if found is None or not (found.is_integer or found.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, found)
