"""Static tables, filled once per session, and what all tables have in common.

Source: python/ops/lookup_ops.py, contrib/lookup/lookup_ops.py.
"""

from __future__ import annotations

import uuid
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.eager_tensor import ANONYMOUS, EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.trackable import CapturableResource
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.lookup.table_initializers import TableInitializerBase
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.state.lookup_table_ops import (
    HashTableV2,
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableSizeV2,
)


@export("contrib.lookup.LookupInterface")
class LookupInterface(CapturableResource):
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
    def name(self) -> str | None:
        """The table's name; None in an eager program."""
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

    def lookup(
        self, keys: TensorLike | SparseTensor, name: str | None = None
    ) -> Tensor | SparseTensor:
        """The value for each key; sparse if the keys are."""
        raise NotImplementedError

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, an int64 scalar."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            size: Tensor = LookupTableSizeV2()(self.resource_handle)
            return size


def name_of(handle: Tensor) -> str | None:
    """The name of a table; None in an eager program."""
    if isinstance(handle, EagerTensor):
        return None
    return handle.op.name.rpartition("/")[2]


def shared_name_of(name: str) -> str:
    """The shared name of a new table's op, which the caller may have left empty.

    In an eager program, where ops have no names, the table then belongs to its handle.
    """
    return name or (ANONYMOUS if get_default_graph().is_eager else "")


def like(keys: Any, values: Tensor) -> Any:
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
        self._initializer = self._track_trackable(initializer, "_initializer")
        self._resource_handle = self._create(name)
        self._init_op = initializer.initialize(self)

    def _create(self, name: str | None) -> Tensor:
        raise NotImplementedError

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

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
    def name(self) -> str | None:
        """The table's name; None in an eager program."""
        return name_of(self._resource_handle)

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
        return like(keys, values)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys [n] and all values [n]."""
        with name_scope(name, f"{self.name}_Export", [self._resource_handle]):
            op = LookupTableExportV2(self._key_dtype, self._value_dtype)
            keys, values = op(self._resource_handle)
        values.set_shape(keys.shape)
        return keys, values


@export("lookup.StaticHashTable", v2="lookup.StaticHashTable")
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
        self._shared_name = initializer.shared_name
        if not self._shared_name and not get_default_graph().is_eager:
            self._shared_name = f"hash_table_{uuid.uuid4()}"
        super().__init__(default_value, initializer, name)

    def _create(self, name: str | None) -> Tensor:
        return self._created(shared_name_of(self._shared_name), name)

    def _created(self, shared_name: str, name: str | None) -> Tensor:
        op = HashTableV2(
            shared_name=shared_name,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
        )
        handle: Tensor = op(name="hash_table" if name is None else name)
        return handle

    def _create_resource(self) -> Tensor:
        name = self._shared_name or f"hash_table_{uuid.uuid4()}"
        return self._created(name, None)


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
