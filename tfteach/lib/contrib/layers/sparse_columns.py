"""The older columns of ids: hashes, words of a vocabulary, integers; weighted ids.

Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfteach.framework.dtypes import DType, as_dtype, float32, int64, string
from tfteach.framework.export import export
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.contrib.layers.feature_column import OldFeatureColumn, WideLookup
from tfteach.lib.contrib.layers.rank_of_input import sparse_input
from tfteach.lib.lookup.vocabulary import index_table_from_file, index_table_from_tensor
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.math.modulo import floormod
from tfteach.ops.text.string_conversion import as_string, string_to_hash_bucket_fast


class _SparseIdLookupConfig(NamedTuple):
    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _Sparse(NamedTuple):
    column_name: str
    is_integerized: bool
    bucket_size: int | None
    lookup_config: _SparseIdLookupConfig | None
    combiner: str
    dtype: DType


class _SparseColumn(OldFeatureColumn, _Sparse):
    """Base of the columns of ids of one feature."""

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(self.dtype)}

    @property
    def length(self) -> int:
        """The number of ids."""
        if self.lookup_config is None:
            return self.bucket_size or 0
        size = self.lookup_config.vocab_size or 0
        return size + self.lookup_config.num_oov_buckets

    def id_tensor(self, tensor: Any) -> SparseTensor:
        result: SparseTensor = tensor
        return result

    def weight_tensor(self, tensor: Any) -> SparseTensor | None:
        return None

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        words = sparse_input(columns_to_tensors[self.name], self.name)
        columns_to_tensors[self] = self._ids(words)

    def wide(self, tensor: Any) -> WideLookup:
        return WideLookup(
            self.id_tensor(tensor),
            self.weight_tensor(tensor),
            self.length,
            self.combiner,
        )

    def _ids(self, words: SparseTensor) -> SparseTensor:
        raise NotImplementedError


def _with_values(words: SparseTensor, values: Any) -> SparseTensor:
    return SparseTensor(words.indices, values, words.dense_shape)


class _SparseColumnHashed(_SparseColumn):
    """See `sparse_column_with_hash_bucket`."""

    def _ids(self, words: SparseTensor) -> SparseTensor:
        values = as_string(words.values) if self.dtype.is_integer else words.values
        size = self.bucket_size or 0
        return _with_values(
            words, string_to_hash_bucket_fast(values, size, name="lookup")
        )


class _SparseColumnIntegerized(_SparseColumn):
    """See `sparse_column_with_integerized_feature`."""

    def _ids(self, words: SparseTensor) -> SparseTensor:
        return _with_values(words, floormod(words.values, self.length, name="mod"))


class _SparseColumnKeys(_SparseColumn):
    """See `sparse_column_with_keys`."""

    def _ids(self, words: SparseTensor) -> SparseTensor:
        assert self.lookup_config is not None
        table = index_table_from_tensor(
            tuple(self.lookup_config.keys or ()),
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        ids: SparseTensor = table.lookup(words)
        return ids


class _SparseColumnVocabulary(_SparseColumn):
    """See `sparse_column_with_vocabulary_file`."""

    def _ids(self, words: SparseTensor) -> SparseTensor:
        config = self.lookup_config
        assert config is not None
        if self.dtype.is_integer:
            words = _with_values(words, as_string(words.values))
        table = index_table_from_file(
            config.vocabulary_file,
            config.num_oov_buckets,
            config.vocab_size,
            config.default_value,
            name=f"{self.name}_lookup",
        )
        ids: SparseTensor = table.lookup(words)
        return ids


def _checked(column: _SparseColumn) -> _SparseColumn:
    """A column of ids whose arguments are valid."""
    name, size, dtype = column.column_name, column.bucket_size, column.dtype
    if column.is_integerized and size is None:
        raise ValueError(
            f"bucket_size must be set if is_integerized is True. column_name: {name}"
        )
    if column.is_integerized and not dtype.is_integer:
        raise ValueError(
            "dtype must be an integer if is_integerized is True. "
            f"dtype: {dtype}, column_name: {name}."
        )
    if dtype != string and not dtype.is_integer:
        raise ValueError(
            f"dtype must be string or integer. dtype: {dtype}, column_name: {name}"
        )
    if size is None and column.lookup_config is None:
        raise ValueError(
            f"one of bucket_size or lookup_config must be set. column_name: {name}"
        )
    if size is not None and size < 1:
        raise ValueError(
            f"bucket_size must be at least 1. bucket_size: {size}, column_name: {name}"
        )
    return column


@export("contrib.layers.sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: DTypeLike = string,
    hash_keys: Sequence[Any] | None = None,
) -> _SparseColumn:
    """A column of words or integers, whose ids are hashes.

    Args:
      column_name: the feature's key; "" and -1 in a dense feature mean "missing".
      hash_bucket_size: the number of ids.
      combiner: "sum", "mean" or "sqrtn" of an example's weights in a linear model.
      dtype: string, or an integer type.
      hash_keys: not implemented: several hashes of each word.

    Returns:
      A column of ids.

    Raises:
      ValueError: the number of buckets is missing or < 1, or another type.
      NotImplementedError: `hash_keys` is given.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    if hash_keys is not None:
        raise NotImplementedError("sparse_column_with_hash_bucket: hash_keys")
    return _checked(
        _SparseColumnHashed(
            column_name, False, hash_bucket_size, None, combiner, as_dtype(dtype)
        )
    )


@export("contrib.layers.sparse_column_with_integerized_feature")
def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = int64
) -> _SparseColumn:
    """A column of integers that are ids already, modulo their number.

    Args:
      column_name: the feature's key; -1 in a dense feature means "missing".
      bucket_size: the number of ids.
      combiner: as in `sparse_column_with_hash_bucket`.
      dtype: an integer type.

    Raises:
      ValueError: the number of ids is missing or < 1, or another type.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    return _checked(
        _SparseColumnIntegerized(
            column_name, True, bucket_size, None, combiner, as_dtype(dtype)
        )
    )


@export("contrib.layers.sparse_column_with_keys")
def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = string,
) -> _SparseColumn:
    """A column of words or integers, whose ids are their places in a list.

    Args:
      column_name: the feature's key; "" and -1 in a dense feature mean "missing".
      keys: the words.
      default_value: the id of others; -1 drops them.
      combiner: as in `sparse_column_with_hash_bucket`.
      dtype: string, or an integer type.

    Raises:
      ValueError: another type.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    words = tuple(keys)
    config = _SparseIdLookupConfig(
        keys=words, vocab_size=len(words), default_value=default_value
    )
    return _checked(
        _SparseColumnKeys(column_name, False, None, config, combiner, as_dtype(dtype))
    )


@export("contrib.layers.sparse_column_with_vocabulary_file")
def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = string,
) -> _SparseColumn:
    """A column of words or integers, whose ids are their lines in a file.

    Args:
      column_name: the feature's key; "" and -1 in a dense feature mean "missing".
      vocabulary_file: the path of a file with one word in each line.
      num_oov_buckets: the number of hash buckets for others, beyond the file's ids.
      vocab_size: the number of lines; required.
      default_value: the id of others if there are no buckets; -1 drops them.
      combiner: as in `sparse_column_with_hash_bucket`.
      dtype: string, or an integer type.

    Raises:
      ValueError: `vocab_size` is missing, or another type.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file, None, num_oov_buckets, vocab_size, default_value
    )
    return _checked(
        _SparseColumnVocabulary(
            column_name, False, None, config, combiner, as_dtype(dtype)
        )
    )


# ---- weights


class _Weighted(NamedTuple):
    sparse_id_column: _SparseColumn
    weight_column_name: str
    dtype: DType


class _WeightedSparseColumn(OldFeatureColumn, _Weighted):
    """See `weighted_sparse_column`."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def config(self) -> dict[str, Any]:
        weights = {self.weight_column_name: VarLenFeature(self.dtype)}
        return {**self.sparse_id_column.config, **weights}

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    def id_tensor(self, tensor: Any) -> SparseTensor:
        ids: SparseTensor = tensor[0]
        return ids

    def weight_tensor(self, tensor: Any) -> SparseTensor | None:
        weights: SparseTensor = tensor[1]
        return weights

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(columns_to_tensors)
        weights = columns_to_tensors[self.weight_column_name]
        weights = sparse_input(weights, self.weight_column_name)
        if not self.dtype.is_floating:
            weights = cast(weights, float32)
        ids = columns_to_tensors[self.sparse_id_column]
        columns_to_tensors[self] = ids, weights

    def wide(self, tensor: Any) -> WideLookup:
        combiner = self.sparse_id_column.combiner
        return WideLookup(
            self.id_tensor(tensor), self.weight_tensor(tensor), self.length, combiner
        )


@export("contrib.layers.weighted_sparse_column")
def weighted_sparse_column(
    sparse_id_column: _SparseColumn, weight_column_name: str, dtype: DTypeLike = float32
) -> _WeightedSparseColumn:
    """A column of ids that have weights.

    Args:
      sparse_id_column: a column of ids.
      weight_column_name: the key of the weights, one for each id.
      dtype: the weights' type.

    Raises:
      ValueError: `dtype` is not numeric.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
