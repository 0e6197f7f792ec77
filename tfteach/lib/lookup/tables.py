"""Tables: static ones, ones with hash buckets for unknown keys, and mutable ones.

Source: python/ops/lookup_ops.py, contrib/lookup/lookup_ops.py.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, int64, string
from tfteach.framework.export import export, export_value
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.lookup.table_initializers import TableInitializerBase
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.binary import add
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import not_equal
from tfteach.ops.state.lookup_tables import (
    HashTableV2,
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableImportV2,
    LookupTableInsertV2,
    LookupTableRemoveV2,
    LookupTableSizeV2,
    MutableHashTableOfTensorsV2,
    MutableHashTableV2,
)
from tfteach.ops.text.string_conversion import (
    as_string,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)


@export("contrib.lookup.LookupInterface")
class LookupInterface:
    """Base of lookup tables: key and value types, and the size."""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The type of the values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The table's name."""
        raise NotImplementedError

    @property
    def resource_handle(self) -> Any:
        """The handle of the table."""
        raise NotImplementedError

    def _checked(self, keys: Any) -> Tensor:
        """The keys as a dense Tensor; TypeError if their type is not the table's."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got "
                f"{keys.dtype}."
            )
        dense: Tensor = keys.values if isinstance(keys, SparseTensor) else keys
        return dense

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, an int64 scalar."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            size: Tensor = LookupTableSizeV2()(self.resource_handle)
            return size


def _like(keys: Any, values: Tensor) -> Any:
    """The values, sparse if the keys are."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, values, keys.dense_shape)
    return values


@export("contrib.lookup.InitializableLookupTableBase")
class InitializableLookupTableBase(LookupInterface):
    """A table filled by an initializer, once per session."""

    def __init__(
        self, default_value: Any, initializer: TableInitializerBase, name: str | None
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert(default_value, self._value_dtype)
        self._default_value.shape.merge_with([])
        self._resource_handle = self._create(name)
        self._init_op = initializer.initialize(self)

    def _create(self, name: str | None) -> Tensor:
        raise NotImplementedError

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the table."""
        return self._resource_handle

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return self._init_op

    @property
    def init(self) -> Operation:
        """Older name of `initializer`."""
        return self._init_op

    @property
    def default_value(self) -> Tensor:
        """The value of missing keys."""
        return self._default_value

    @property
    def name(self) -> str:
        """The table's name."""
        return self._resource_handle.op.name.rpartition("/")[2]

    def lookup(self, keys: TensorLike | SparseTensor, name: str | None = None) -> Any:
        """The value for each key; the default value for missing keys.

        Args:
          keys: a Tensor or SparseTensor of the table's key type.
          name: the op's name.

        Raises:
          TypeError: the type of `keys` is not the table's.
          tf.errors.FailedPreconditionError: in a run, the table is not initialized.
        """
        dense = self._checked(keys)
        handle, default = self._resource_handle, self._default_value
        with name_scope(name, f"{self.name}_Lookup", [handle, dense, default]):
            values = LookupTableFindV2()(handle, dense, default)
        values.set_shape(dense.shape)
        return _like(keys, values)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys [n] and all values [n]."""
        with name_scope(name, f"{self.name}_Export", [self._resource_handle]):
            op = LookupTableExportV2(self._key_dtype, self._value_dtype)
            keys, values = op(self._resource_handle)
        values.set_shape(keys.shape)
        return keys, values


@export("lookup.StaticHashTable")
class StaticHashTable(InitializableLookupTableBase):
    """A table filled once; equal tables are not shared.

    Args:
      initializer: the table's entries, see `tf.lookup.KeyValueTensorInitializer`.
      default_value: a scalar for missing keys.
      name: the table's name.

    Example:
      >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
      >>> table = tf.lookup.StaticHashTable(init, -1)
      >>> found = table.lookup(tf.constant(["b", "z"]))  # [2, -1]
      >>> table.initializer.run()  # or tf.tables_initializer()

    Source: HashTableV2 in core/ops/lookup_ops.cc; python/ops/lookup_ops.py.
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: TensorLike,
        name: str | None = None,
    ) -> None:
        self._shared_name = initializer.shared_name or f"hash_table_{uuid.uuid4()}"
        super().__init__(default_value, initializer, name)

    def _create(self, name: str | None) -> Tensor:
        op = HashTableV2(
            shared_name=self._shared_name,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
        )
        handle: Tensor = op(name="hash_table" if name is None else name)
        return handle


@export("contrib.lookup.HashTable")
class HashTable(StaticHashTable):
    """A table filled once, shared by name within a session.

    Args:
      initializer: the table's entries.
      default_value: a scalar for missing keys.
      shared_name: a name under which tables are shared.
      name: the table's name.

    Source: HashTableV2 in core/ops/lookup_ops.cc; contrib/lookup/lookup_ops.py.
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        self._shared_name = shared_name or ""
        InitializableLookupTableBase.__init__(self, default_value, initializer, name)


# ---- buckets for unknown keys


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
            raise ValueError(f"key must have size 2, got {key}.")
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
      TypeError: keys are neither integers nor strings, or ids are not int64.

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
        super().__init__(kind, int64)
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = hasher_spec
        self._name = name or (table.name if table is not None else "hash_bucket")

    @property
    def name(self) -> str:
        """The table's name."""
        return self._name

    @property
    def resource_handle(self) -> Any:
        """The handle of the underlying table; None if there is none."""
        return None if self._table is None else self._table.resource_handle

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
            return _like(keys, self._table.lookup(dense, name=name))
        with name_scope(name, f"{self.name}_Lookup"):
            buckets = self._bucket(dense)
            if self._table is None:
                return _like(keys, buckets)
            ids = self._table.lookup(dense)
            offset = add(buckets, self._table.size())
            is_known = not_equal(ids, self._table.default_value)
            return _like(keys, where_v2(is_known, ids, offset))

    def _bucket(self, keys: Tensor) -> Tensor:
        text = keys if self._key_dtype == string else as_string(keys)
        count, spec = self._num_oov_buckets, self._hasher_spec
        if spec.hasher == "fasthash":
            return string_to_hash_bucket_fast(text, count, name="hash_bucket")
        if spec.hasher == "stronghash":
            return string_to_hash_bucket_strong(text, count, spec.key, "hash_bucket")
        raise ValueError(f"Unknown hasher {spec.hasher}")


@export("lookup.StaticVocabularyTable")
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


# ---- mutable tables


@export("contrib.lookup.MutableHashTable")
class MutableHashTable(LookupInterface):
    """A mutable table.

    Args:
      key_dtype, value_dtype: their types.
      default_value: a scalar or vector for missing keys.
      name: the table's name.
      checkpoint: whether a Saver saves its contents.

    Example:
      >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
      >>> insert = table.insert(tf.constant(["a"]), tf.constant([1], tf.int64))

    Source: MutableHashTableV2 in core/ops/lookup_ops.cc.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert(default_value, self._value_dtype)
        shape = self._default_value.shape.as_list()
        types: dict[str, Any] = {
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
        }
        op: Any
        if shape:
            op = MutableHashTableOfTensorsV2(
                use_node_name_sharing=checkpoint, value_shape=tuple(shape), **types
            )
        else:
            op = MutableHashTableV2(use_node_name_sharing=checkpoint, **types)
        self._resource_handle: Tensor = op(name=name)
        if checkpoint:
            saveable = _TableSaveable(self, name)
            get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """What `tf.train.Checkpoint` saves."""
        return {"table": functools.partial(_TableSaveable, self)}

    @property
    def name(self) -> str:
        """The table's name."""
        return self._resource_handle.op.name.rpartition("/")[2]

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the table."""
        return self._resource_handle

    def _scope(self, name: str | None, what: str, *values: Any) -> Any:
        handle = self._resource_handle
        return name_scope(name, f"{self.name}_{what}", [handle, *values])

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value for each key; the default value for missing keys.

        Raises:
          TypeError: the type of `keys` is not the table's.
        """
        default = self._default_value
        with self._scope(name, "lookup_table_find", keys, default):
            if not isinstance(keys, SparseTensor):
                keys = convert(keys, self._key_dtype, "keys")
            dense = self._checked(keys)
            with get_default_graph().colocate_with(self._resource_handle.op):
                values = LookupTableFindV2()(self._resource_handle, dense, default)
        values.set_shape(dense.shape.concatenate(default.shape))
        return _like(keys, values)

    def insert(
        self, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """An operation that inserts or updates entries.

        Args:
          keys: a Tensor of any shape.
          values: a Tensor of that shape, followed by the shape of a value.
          name: the op's name.
        """
        with self._scope(name, "lookup_table_insert", keys, values):
            keys = convert(keys, self._key_dtype, "keys")
            values = convert(values, self._value_dtype, "values")
            handle = self._resource_handle
            with get_default_graph().colocate_with(handle.op):
                op: Operation = LookupTableInsertV2()(handle, keys, values)
                return op

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """An operation that removes keys; missing keys are ignored."""
        with self._scope(name, "lookup_table_remove", keys, self._default_value):
            keys = convert(keys, self._key_dtype, "keys")
            op: Operation = LookupTableRemoveV2()(self._resource_handle, keys)
            return op

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys [n] and all values [n, ...]."""
        with (
            self._scope(name, "lookup_table_export_values"),
            get_default_graph().colocate_with(self._resource_handle.op),
        ):
            op = LookupTableExportV2(self._key_dtype, self._value_dtype)
            keys, values = op(self._resource_handle)
        return keys, values


class _TableSaveable(SaveableObject):
    """The keys and values of a mutable table, in a checkpoint."""

    def __init__(self, table: MutableHashTable, name: str | None = None) -> None:
        keys, values = table.export()
        name = name or table.name
        specs = [
            SaveSpec(keys, "", f"{name}-keys"),
            SaveSpec(values, "", f"{name}-values"),
        ]
        super().__init__(table, specs, name)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Any
    ) -> Operation:
        """The Operation that replaces the table's contents."""
        handle = self.op.resource_handle
        with (
            name_scope(None, f"{self.name}_table_restore"),
            get_default_graph().colocate_with(handle.op),
        ):
            keys, values = restored_tensors
            op: Operation = LookupTableImportV2()(handle, keys, values)
            return op
