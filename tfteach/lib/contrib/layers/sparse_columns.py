"""The older columns of ids: hashes, words of a vocabulary, integers; weighted ids.

Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from tfteach.framework.dtypes import DType, as_dtype, float32, int64, string
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.contrib.layers.feature_column import IdColumn
from tfteach.lib.contrib.layers.rank_of_input import sparse_input, sparse_weights
from tfteach.lib.lookup.vocabulary import index_table_from_file, index_table_from_tensor
from tfteach.lib.parsing.features import VarLenFeature
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.math.modulo import floormod
from tfteach.ops.sparse.sparse_concat_split import sparse_concat
from tfteach.ops.text.string_conversion import (
    as_string,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)


class _SparseIdLookupConfig(NamedTuple):
    """Where the ids of words are found, and how many there are."""

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


class _SparseColumn(IdColumn, _Sparse):
    """Base of the columns of ids of one feature.

    Raises:
      ValueError: not exactly one of `bucket_size` and `lookup_config` is given, or they
        do not go with the other arguments.
    """

    _no_input_layer = (
        "SparseColumn is not supported in DNN. Please use embedding_column or "
        "one_hot_column."
    )

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: _SparseIdLookupConfig | None = None,
        combiner: str = "sum",
        dtype: DType = string,
    ) -> Self:
        _check(column_name, is_integerized, bucket_size, lookup_config, dtype)
        return super().__new__(
            cls,
            column_name,
            is_integerized,
            bucket_size,
            lookup_config,
            combiner,
            dtype,
        )

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(self.dtype)}

    @property
    def length(self) -> int:
        if self.lookup_config is None:
            return self.bucket_size or 0
        size = self.lookup_config.vocab_size or 0
        return size + self.lookup_config.num_oov_buckets

    @property
    def _linear_combiner(self) -> str:
        return self.combiner

    def is_compatible(self, other_column: Any) -> bool:
        """Whether two columns may have one table of embeddings.

        They need the same number of ids, of words or of integers, and if both have a
        vocabulary, the same one.
        """
        ours, theirs = self.lookup_config, other_column.lookup_config
        if ours is None or theirs is None:
            get_logger().warning(
                "Column %s and %s may not have the same vocabulary.",
                self.name,
                other_column.name,
            )
        elif ours != theirs:
            return False
        has_integers: bool = other_column.dtype.is_integer
        has_as_many: bool = other_column.length == self.length
        return has_as_many and has_integers == self.dtype.is_integer

    def _transform_feature(self, inputs: Any) -> SparseTensor:
        return self._ids(sparse_input(inputs.get(self.name), self.name))

    def _ids(self, words: SparseTensor) -> SparseTensor:
        raise NotImplementedError


def _check(
    name: str,
    is_integerized: bool,
    size: int | None,
    config: _SparseIdLookupConfig | None,
    dtype: DType,
) -> None:
    """Raise ValueError for arguments of a column of ids that are not valid."""
    if is_integerized and size is None:
        raise ValueError(
            f"bucket_size must be set if is_integerized is True. column_name: {name}"
        )
    if is_integerized and not dtype.is_integer:
        raise ValueError(
            "dtype must be an integer if is_integerized is True. "
            f"dtype: {dtype}, column_name: {name}."
        )
    if dtype != string and not dtype.is_integer:
        raise ValueError(
            f"dtype must be string or integer. dtype: {dtype}, column_name: {name}"
        )
    if size is None and config is None:
        raise ValueError(
            f"one of bucket_size or lookup_config must be set. column_name: {name}"
        )
    if size is not None and config is not None:
        raise ValueError(
            "one and only one of bucket_size or lookup_config must be set. "
            f"column_name: {name}"
        )
    if size is not None and size < 1:
        raise ValueError(
            f"bucket_size must be at least 1. bucket_size: {size}, column_name: {name}"
        )


def _with_values(words: SparseTensor, values: Any) -> SparseTensor:
    return SparseTensor(words.indices, values, words.dense_shape)


class _SparseColumnHashed(_SparseColumn):
    """See `sparse_column_with_hash_bucket`.

    Attributes:
      hash_keys: the keys of several hashes of each word, or None.  Columns that differ
        only in these are equal.
    """

    hash_keys: Sequence[Sequence[int]] | None

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: _SparseIdLookupConfig | None = None,
        combiner: str = "sum",
        dtype: DType = string,
        hash_keys: Sequence[Sequence[int]] | None = None,
    ) -> Self:
        if hash_keys is not None:
            _check_hash_keys(hash_keys)
        column = super().__new__(
            cls,
            column_name,
            is_integerized,
            bucket_size,
            lookup_config,
            combiner,
            dtype,
        )
        column.hash_keys = hash_keys
        return column

    def _ids(self, words: SparseTensor) -> SparseTensor:
        values = as_string(words.values) if self.dtype.is_integer else words.values
        size = self.length
        if not self.hash_keys:
            hashes = string_to_hash_bucket_fast(values, size, name="lookup")
            return _with_values(words, hashes)
        all_ids = [
            _with_values(words, string_to_hash_bucket_strong(values, size, key))
            for key in self.hash_keys
        ]
        return sparse_concat(1, all_ids, name="lookup")


def _check_hash_keys(keys: Any) -> None:
    if not isinstance(keys, list) or not keys:
        raise ValueError("hash_keys must be a non-empty list.")
    for key in keys:
        is_pair = isinstance(key, list) and len(key) == 2
        if not is_pair or not all(isinstance(number, int) for number in key):
            raise ValueError("Each element of hash_keys must be a pair of integers.")


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


@export("contrib.layers.sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: DTypeLike = string,
    hash_keys: Sequence[Sequence[int]] | None = None,
) -> _SparseColumn:
    """A column of words or integers, whose ids are hashes.

    Args:
      column_name: the feature's key; "" and -1 in a dense feature mean "missing".
      hash_bucket_size: the number of ids.
      combiner: "sum", "mean" or "sqrtn" of an example's weights in a linear model.
      dtype: string, or an integer type.
      hash_keys: a list of pairs of integers: each word has one id for each of them, a
        keyed hash. None: one id, a faster hash.

    Returns:
      A column of ids.

    Raises:
      ValueError: the number of buckets is missing or < 1, another type, or `hash_keys`
        are not pairs of integers.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    return _SparseColumnHashed(
        column_name, False, hash_bucket_size, None, combiner, as_dtype(dtype), hash_keys
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
    return _SparseColumnIntegerized(
        column_name, True, bucket_size, None, combiner, as_dtype(dtype)
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
    return _SparseColumnKeys(
        column_name, False, None, config, combiner, as_dtype(dtype)
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
    return _SparseColumnVocabulary(
        column_name, False, None, config, combiner, as_dtype(dtype)
    )


# ---- weights


class _Weighted(NamedTuple):
    sparse_id_column: _SparseColumn
    weight_column_name: str
    dtype: DType


class _WeightedSparseColumn(IdColumn, _Weighted):
    """See `weighted_sparse_column`."""

    _no_input_layer = (
        "WeightedSparseColumn is not supported in DNN. Please use embedding_column or "
        "one_hot_column."
    )

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def config(self) -> dict[str, Any]:
        weights = {self.weight_column_name: VarLenFeature(self.dtype)}
        return {**self.sparse_id_column.config, **weights}

    @property
    def lookup_config(self) -> _SparseIdLookupConfig | None:
        return self.sparse_id_column.lookup_config

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    @property
    def _linear_combiner(self) -> str:
        return self.sparse_id_column.combiner

    def is_compatible(self, other_column: Any) -> bool:
        """See `_SparseColumn.is_compatible`."""
        return self.sparse_id_column.is_compatible(other_column)

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        ids: SparseTensor = input_tensor[0]
        return ids

    def weight_tensor(self, input_tensor: Any) -> SparseTensor | None:
        weights: SparseTensor = input_tensor[1]
        return weights

    def _transform_feature(self, inputs: Any) -> tuple[SparseTensor, SparseTensor]:
        ids = inputs.get(self.sparse_id_column)
        weights = inputs.get(self.weight_column_name)
        weights = sparse_weights(weights, self.weight_column_name)
        if not self.dtype.is_floating:
            weights = cast(weights, float32)
        return ids, weights


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
