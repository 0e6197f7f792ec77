"""Tables from words to ids, with hash buckets for unknown words.

Source: python/ops/lookup_ops.py, contrib/lookup/lookup_ops.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int64, string
from tfteach.framework.export import export, export_value
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.lookup.table_initializers import TableInitializerBase
from tfteach.lib.lookup.tables import LookupInterface, StaticHashTable, like
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.math.binary import add
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import not_equal
from tfteach.ops.text.string_conversion import (
    as_string,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)


@export("contrib.lookup.HasherSpec")
class HasherSpec(NamedTuple):
    """The hash function for unknown keys: "fasthash", or "stronghash" with a key."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)
export_value(__name__, FastHashSpec="contrib.lookup.FastHashSpec")


@export("contrib.lookup.StrongHashSpec")
class StrongHashSpec(HasherSpec):
    """Keyed hashing.

    Args:
      key: two unsigned 64-bit integers.

    Raises:
      ValueError: `key` is not such a pair.
    """

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", list(key))


@export("contrib.lookup.IdTableWithHashBuckets")
class IdTableWithHashBuckets(LookupInterface):
    """A table of ids with additional hash buckets for unknown keys.

    Args:
      table: a table from keys to ids 0, 1, ..., or None for buckets only.
      num_oov_buckets: the number of buckets.
      hasher_spec: the hash function.
      name: the table's name.
      key_dtype: the type of the keys; the table's if None.

    Raises:
      ValueError: neither a table nor buckets are given.
      TypeError: keys are neither integers nor strings, ids are not int64, or
        `hasher_spec` is no HasherSpec.

    Source: python/ops/lookup_ops.py.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ) -> None:
        if table is None and num_oov_buckets <= 0:
            raise ValueError("table and num_oov_buckets should not both be empty")
        if table is not None and table.value_dtype != int64:
            raise TypeError(
                f"Invalid value dtype, expected {int64} but got {table.value_dtype}."
            )
        kind = as_dtype(key_dtype or (string if table is None else table.key_dtype))
        if not (kind.is_integer or kind == string):
            raise TypeError("Invalid key_dtype, expected integer or string.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(
                f"hasher_spec must be of type HasherSpec, got {hasher_spec}"
            )
        super().__init__(kind, int64)
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = hasher_spec
        self._name = name or (table.name if table is not None else "hash_bucket")

    @property
    def name(self) -> str | None:
        """The table's name; None for a table of an eager program."""
        return self._name

    @property
    def resource_handle(self) -> Any:
        """The handle of the underlying table; None if there is none."""
        return None if self._table is None else self._table.resource_handle

    def _create_resource(self) -> Any:
        return None if self._table is None else self._table._create_resource()

    def _initialize(self) -> Any:
        return None if self._table is None else self._table._initialize()

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return no_op() if self._table is None else self._table.initializer

    @property
    def init(self) -> Operation:
        """Older name of `initializer`."""
        return self.initializer

    def size(self, name: str | None = None) -> Any:
        """The number of ids plus the number of buckets."""
        if self._table is None:
            return convert(self._num_oov_buckets, int64, name or "Size")
        with name_scope(name, f"{self.name}_Size"):
            return self._table.size() + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The id of each key, or of its bucket.

        Raises:
          TypeError: the type of `keys` is not the table's.
        """
        dense = self._checked(keys)
        if self._table is not None and self._table.key_dtype == int64:
            dense = cast(dense, int64)
        if self._num_oov_buckets == 0:
            return like(keys, self._table.lookup(dense, name=name))
        with name_scope(name, f"{self.name}_Lookup"):
            buckets = self._bucket(dense)
            if self._table is None:
                return like(keys, buckets)
            ids = self._table.lookup(dense)
            offset = add(buckets, self._table.size())
            is_known = not_equal(ids, self._table.default_value)
            return like(keys, where_v2(is_known, ids, offset))

    def _bucket(self, keys: Tensor) -> Tensor:
        text = keys if self._key_dtype == string else as_string(keys)
        count, spec = self._num_oov_buckets, self._hasher_spec
        if spec.hasher == "fasthash":
            return string_to_hash_bucket_fast(text, count, name="hash_bucket")
        if spec.hasher == "stronghash":
            return string_to_hash_bucket_strong(text, count, spec.key, "hash_bucket")
        raise ValueError(f"Unknown hasher {spec.hasher}")


@export("lookup.StaticVocabularyTable", v2="lookup.StaticVocabularyTable")
class StaticVocabularyTable(IdTableWithHashBuckets):
    """Ids for known words and hash buckets for all others.

    Args:
      initializer: the entries, from words to int64 ids.
      num_oov_buckets: at least 1.
      lookup_key_dtype: the type of the keys; the initializer's if None.
      name: the table's name.

    Raises:
      ValueError: `num_oov_buckets` < 1.

    Source: python/ops/lookup_ops.py.
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError(f"oov_buckets must be > 0; got {num_oov_buckets}.")
        table = None if initializer is None else StaticHashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, name=name, key_dtype=lookup_key_dtype)
