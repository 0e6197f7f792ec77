"""Tables whose entries ops insert and remove, and what a checkpoint has of them.

Source: contrib/lookup/lookup_ops.py.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.lookup.tables import LookupInterface, like, name_of, shared_name_of
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.state.lookup_table_ops import (
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableImportV2,
    LookupTableInsertV2,
    LookupTableRemoveV2,
    MutableHashTableOfTensorsV2,
    MutableHashTableV2,
)


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
        self._is_saved, self._op_name = checkpoint, name
        self._resource_handle = self._created(shared_name_of(""))
        if checkpoint and not get_default_graph().is_eager:
            saveable = _TableSaveable(self, name)
            get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def _created(self, shared_name: str) -> Tensor:
        shape = self._default_value.shape.as_list()
        common: dict[str, Any] = {
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "shared_name": shared_name,
            "use_node_name_sharing": self._is_saved,
        }
        op: Any = MutableHashTableV2
        if shape:
            op = MutableHashTableOfTensorsV2
            common["value_shape"] = tuple(shape)
        handle: Tensor = op(**common)(name=self._op_name)
        return handle

    def _create_resource(self) -> Tensor:
        return self._created(f"table_{uuid.uuid4()}")

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """What `tf.train.Checkpoint` saves."""
        return {"table": functools.partial(_TableSaveable, self)}

    @property
    def name(self) -> str | None:
        """The table's name; None in an eager program."""
        return name_of(self._resource_handle)

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
            with colocate_with(self._resource_handle):
                values = LookupTableFindV2()(self._resource_handle, dense, default)
        values.set_shape(dense.shape.concatenate(default.shape))
        return like(keys, values)

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
            with colocate_with(handle):
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
            colocate_with(self._resource_handle),
        ):
            op = LookupTableExportV2(self._key_dtype, self._value_dtype)
            keys, values = op(self._resource_handle)
        return keys, values


class _TableSaveable(SaveableObject):
    """The keys and values of a mutable table, in a checkpoint."""

    def __init__(self, table: MutableHashTable, name: str | None = None) -> None:
        keys, values = table.export()
        name = name or table.name or ""
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
            colocate_with(handle),
        ):
            keys, values = restored_tensors
            op: Operation = LookupTableImportV2()(handle, keys, values)
            return op
