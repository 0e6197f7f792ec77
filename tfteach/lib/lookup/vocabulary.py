"""Functions that create tables from words to indices and back.

Source: python/ops/lookup_ops.py, contrib/lookup/lookup_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int64, string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, IntLike, PathLike, TensorLike
from tfteach.lib.lookup.id_tables import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
)
from tfteach.lib.lookup.table_initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileStringTableInitializer,
)
from tfteach.lib.lookup.tables import LookupInterface, StaticHashTable
from tfteach.ops.core.shape_ops import size
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.state.lookup_tables import LINE_NUMBER, WHOLE_LINE


def _with_buckets(
    table: StaticHashTable, count: int, spec: HasherSpec, key_dtype: DTypeLike
) -> Any:
    if not count:
        return table
    return IdTableWithHashBuckets(table, count, spec, key_dtype=key_dtype)


@export("contrib.lookup.index_table_from_tensor")
def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: Any = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = string,
    name: str | None = None,
) -> Any:
    """A table from the elements of a vector to their indices.

    Args:
      mapping: a list or Tensor [n] of distinct strings or integers.
      num_oov_buckets: the number of hash buckets n, n + 1, ... for unknown elements.
      default_value: the value of unknown elements if there are no buckets.
      hasher_spec: the hash function.
      dtype: the type of the keys.
      name: the name scope.

    Raises:
      ValueError: no mapping is given, or the number of buckets is negative.
      TypeError: `dtype` does not match `mapping`, or is neither string nor integer.

    Example:
      >>> table = tf.contrib.lookup.index_table_from_tensor(["cat", "dog"])
      >>> table.lookup(tf.constant(["dog", "cow"]))  # [1, -1]

    Source: python/ops/lookup_ops.py.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    if num_oov_buckets < 0:
        raise ValueError(
            f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}."
        )
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype == string):
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        keys = convert(mapping)
        if keys.dtype.is_integer != dtype.is_integer:
            expected = "integer" if dtype.is_integer else f"{dtype}"
            raise ValueError(f"Expected {expected}, got {keys.dtype}.")
        values = cast(range_of(size(keys)), int64)
        with name_scope(None, "hash_table"):
            table_keys = cast(keys, int64) if keys.dtype.is_integer else keys
            init = KeyValueTensorInitializer(
                table_keys, values, table_keys.dtype.base_dtype, int64, "table_init"
            )
            table = StaticHashTable(init, default_value)
            return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


@export("contrib.lookup.index_table_from_file")
def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = string,
    name: str | None = None,
    key_column_index: int = WHOLE_LINE,
    value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the lines of a file to their numbers.

    Args:
      vocabulary_file: the file's path.
      num_oov_buckets: the number of hash buckets for unknown words.
      vocab_size: the number of lines to read; all if None.
      default_value: the value of unknown words if there are no buckets.
      hasher_spec: the hash function.
      key_dtype: the type of the keys.
      name: the name scope.
      key_column_index, value_column_index: see `tf.lookup.TextFileInitializer`.
      delimiter: the column separator.

    Raises:
      ValueError: no file is given, the number of buckets is negative, or `vocab_size` <
          1.
      TypeError: `key_dtype` is neither string nor integer.

    Source: python/ops/lookup_ops.py.
    """
    if vocabulary_file is None or vocabulary_file == "":
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if num_oov_buckets < 0:
        raise ValueError(
            f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}."
        )
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(
            f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: "
            f"{vocabulary_file}"
        )
    key_dtype = as_dtype(key_dtype)
    if not (key_dtype.is_integer or key_dtype == string):
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"), name_scope(None, "hash_table"):
        init = TextFileIdTableInitializer(
            vocabulary_file,
            key_column_index,
            value_column_index,
            vocab_size,
            delimiter,
            "table_init",
            int64 if key_dtype.is_integer else key_dtype,
        )
        table = StaticHashTable(init, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


@export("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(
    mapping: TensorLike, default_value: Any = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from indices to the strings of a vector.

    Args:
      mapping: a list or string Tensor [n].
      default_value: the value for indices out of range.
      name: the name scope.

    Raises:
      ValueError: no mapping is given.

    Source: python/ops/lookup_ops.py.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert(mapping, string)
        keys = cast(range_of(size(values)), int64)
        init = KeyValueTensorInitializer(keys, values, int64, string, "table_init")
        return StaticHashTable(init, default_value)


@export("contrib.lookup.index_to_string_table_from_file")
def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from line numbers to lines of a file; see `index_table_from_file`.

    Source: python/ops/lookup_ops.py.
    """
    if vocabulary_file is None or vocabulary_file == "":
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        init = TextFileStringTableInitializer(
            vocabulary_file,
            key_column_index,
            value_column_index,
            vocab_size,
            delimiter,
            "table_init",
        )
        return StaticHashTable(init, default_value)


@export("contrib.lookup.string_to_index_table_from_tensor")
def string_to_index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: IntLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """`index_table_from_tensor` of strings, under its first name.

    Source: contrib/lookup/lookup_ops.py.
    """
    with name_scope(name, "string_to_index") as scope:
        strings = convert(mapping, string)
    table: LookupInterface = index_table_from_tensor(
        strings, num_oov_buckets, default_value, hasher_spec, name=scope
    )
    return table


@export("contrib.lookup.string_to_index_table_from_file")
def string_to_index_table_from_file(
    vocabulary_file: PathLike | Tensor | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: IntLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """`index_table_from_file` of strings, under its first name.

    Source: contrib/lookup/lookup_ops.py.
    """
    table: LookupInterface = index_table_from_file(
        vocabulary_file,
        num_oov_buckets,
        vocab_size,
        default_value,
        hasher_spec,
        name=name,
    )
    return table


@export("contrib.lookup.string_to_index")
def string_to_index(
    tensor: TensorLike,
    mapping: TensorLike,
    default_value: IntLike = -1,
    name: str | None = None,
) -> Tensor:
    """The int64 index in `mapping` of each string, of `tensor`'s shape.

    The table must be initialized before.

    Args:
      tensor: strings, a Tensor or SparseTensor.
      mapping: a list or string Tensor [n], without duplicates.
      default_value: the index of strings that are not in it.
      name: the name scope of the table.

    Raises:
      TypeError: `tensor` is not of strings.
      tf.errors.FailedPreconditionError: in a run, the table is not initialized; in the
        run that initializes it, `mapping` has duplicates.

    Example:
      >>> found = tf.contrib.lookup.string_to_index(tf.constant(["b", "c"]), ["a", "b"])
      >>> session = tf.Session()
      >>> session.run(tf.tables_initializer())
      >>> session.run(found)
      array([ 1, -1])

    Source: contrib/lookup/lookup_ops.py.
    """
    table = index_table_from_tensor(mapping, default_value=default_value, name=name)
    found: Tensor = table.lookup(tensor)
    return found


@export("contrib.lookup.index_to_string")
def index_to_string(
    tensor: TensorLike,
    mapping: TensorLike,
    default_value: str | bytes = "UNK",
    name: Any = None,
) -> Tensor:
    """The string of `mapping` at each int64 index, of `tensor`'s shape.

    The table must be initialized before.

    Args:
      tensor: indices, a Tensor or SparseTensor.
      mapping: a list or string Tensor [n].
      default_value: the string for other indices.
      name: the name scope of the table.

    Raises:
      TypeError: `tensor` is not int64.
      tf.errors.FailedPreconditionError: in a run, the table is not initialized.

    Source: contrib/lookup/lookup_ops.py.
    """
    table = index_to_string_table_from_tensor(mapping, default_value, name)
    found: Tensor = table.lookup(tensor)
    return found
