"""Ops of a session's lookup tables.

Each op exists for a resource handle, which today's tables have, and for a reference,
which graphs of TensorFlow before 1.3 have.
Source: core/ops/lookup_ops.cc, core/kernels/lookup_table_op.cc, lookup_util.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, int64, string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.resource_names import resource_name
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.state.lookup_tables import (
    LINE_NUMBER,
    WHOLE_LINE,
    Table,
    table_array,
)
from tfteach.ops.state.vocabulary_files import vocabulary_lines


class TableOp(StatefulOp, abstract=True):
    """Tables stay on the CPU and have no gradients."""

    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


# ---- handles


class HandleOp(TableOp, abstract=True):
    """A table, shared by name."""

    aliases: ClassVar[bool] = True
    is_mutable: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return (2,) if self.outputs[0].is_ref else ()

    def compute(self, ctx: KernelContext) -> Any:
        own: Any = self
        name = own.shared_name or ctx.op.name
        is_shared = own.shared_name or own.use_node_name_sharing

        def make() -> Table:
            table = self.make()
            table.name = resource_name(name if is_shared else "", name)
            return table

        return ctx.resource("table", name, make, own.container)

    def make(self) -> Table:
        """A new table."""
        own: Any = self
        shape = tuple(getattr(self, "value_shape", None) or ())
        return Table(own.key_dtype, own.value_dtype, self.is_mutable, shape)


class _HashTable(HandleOp, abstract=True):
    container: str = ""
    shared_name: str = ""
    use_node_name_sharing: bool = False
    key_dtype: DType  # type: ignore[misc]  # the order is TensorFlow's
    value_dtype: DType  # type: ignore[misc]
    is_mutable: ClassVar[bool] = False


class HashTableV2(_HashTable):  # type: ignore[misc]
    """A table that is filled once.  Source: lookup_ops.cc, HashTableV2."""

    signature = "-> table_handle: resource"


class HashTable(_HashTable):  # type: ignore[misc]
    """A table that is filled once.  Source: lookup_ops.cc, HashTable."""

    signature = "-> table_handle: ref string"


class _MutableHashTable(HandleOp, abstract=True):
    container: str = ""
    shared_name: str = ""
    use_node_name_sharing: bool = False
    key_dtype: DType  # type: ignore[misc]
    value_dtype: DType  # type: ignore[misc]


class MutableHashTableV2(_MutableHashTable):  # type: ignore[misc]
    """A mutable table of scalars.  Source: lookup_ops.cc, MutableHashTableV2."""

    signature = "-> table_handle: resource"


class MutableHashTable(_MutableHashTable):  # type: ignore[misc]
    """A mutable table of scalars.  Source: lookup_ops.cc, MutableHashTable."""

    signature = "-> table_handle: ref string"


class _MutableHashTableOfTensors(HandleOp, abstract=True):
    container: str = ""
    shared_name: str = ""
    use_node_name_sharing: bool = False
    key_dtype: DType  # type: ignore[misc]
    value_dtype: DType  # type: ignore[misc]
    value_shape: Shape = ()


class MutableHashTableOfTensorsV2(_MutableHashTableOfTensors):  # type: ignore[misc]
    """A mutable table of vectors.  Source: MutableHashTableOfTensorsV2."""

    signature = "-> table_handle: resource"


class MutableHashTableOfTensors(_MutableHashTableOfTensors):  # type: ignore[misc]
    """A mutable table of vectors.  Source: lookup_ops.cc, MutableHashTableOfTensors."""

    signature = "-> table_handle: ref string"


# ---- reading


class _TableFind(TableOp, abstract=True):
    def infer_shape(self, table_handle: Shape, keys: Shape, default: Shape) -> Shape:
        return None

    def compute(
        self, ctx: KernelContext, table_handle: Table, keys: Any, default_value: Any
    ) -> Any:
        return table_handle.find(keys, default_value)


class LookupTableFindV2(_TableFind):
    """The values for keys.  Source: lookup_ops.cc, LookupTableFindV2."""

    signature = "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout"


class LookupTableFind(_TableFind):
    """The values for keys.  Source: lookup_ops.cc, LookupTableFind."""

    signature = (
        "table_handle: ref string, keys: Tin, default_value: Tout -> values: Tout"
    )


class _TableSize(TableOp, abstract=True):
    def infer_shape(self, table_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, table_handle: Table) -> Any:
        return np.int64(len(table_handle.entries or ()))


class LookupTableSizeV2(_TableSize):
    """The number of entries.  Source: lookup_ops.cc, LookupTableSizeV2."""

    signature = "table_handle: resource -> size: int64"


class LookupTableSize(_TableSize):
    """The number of entries.  Source: lookup_ops.cc, LookupTableSize."""

    signature = "table_handle: ref string -> size: int64"


class _TableExport(TableOp, MultiOutputOp, abstract=True):
    Tkeys: DType
    Tvalues: DType

    def infer_shape(self, table_handle: Shape) -> list[Shape]:
        return [(None,), None]

    def compute(self, ctx: KernelContext, table_handle: Table) -> Any:
        return table_handle.export()


class LookupTableExportV2(_TableExport):
    """All keys and values.  Source: lookup_ops.cc, LookupTableExportV2."""

    signature = "table_handle: resource -> keys: Tkeys, values: Tvalues"


class LookupTableExport(_TableExport):
    """All keys and values.  Source: lookup_ops.cc, LookupTableExport."""

    signature = "table_handle: ref string -> keys: Tkeys, values: Tvalues"


# ---- writing


class _TableImport(TableOp, NoOutputOp, abstract=True):
    def infer_shape(
        self, table_handle: Shape, keys: Shape, values: Shape
    ) -> list[Shape]:
        if keys and values and len(keys) == len(values) == 1:
            (first,), (second,) = keys, values
            if first is not None and second is not None and first != second:
                raise ValueError(
                    f"Dimension 0 in both shapes must be equal, but are {first} and "
                    f"{second}. Shapes are {shapes.text(keys)} and "
                    f"{shapes.text(values)}."
                )
        return []

    def compute(
        self, ctx: KernelContext, table_handle: Table, keys: Any, values: Any
    ) -> Any:
        if np.shape(values)[: np.ndim(keys)] != np.shape(keys):
            raise invalid_argument(
                f"Expected shape {shapes.text(np.shape(keys))} for value, got "
                f"{shapes.text(np.shape(values))}"
            )
        if not table_handle.is_mutable:
            if not np.size(keys):
                raise invalid_argument("keys and values cannot be empty tensors.")
            table_handle.fill(keys, values)
        else:
            table_handle.filled().clear()
            table_handle.insert(keys, values)
        return ()


class LookupTableImportV2(_TableImport):
    """Fill a table, or replace its contents.  Source: LookupTableImportV2."""

    signature = "table_handle: resource, keys: Tin, values: Tout ->"


class LookupTableImport(_TableImport):
    """Fill a table, or replace its contents.  Source: LookupTableImport."""

    signature = "table_handle: ref string, keys: Tin, values: Tout ->"


class _InitializeTable(_TableImport, abstract=True):
    """What LookupTableImport does to a table that is filled once."""


class InitializeTableV2(_InitializeTable):
    """Fill a table.  Source: lookup_ops.cc, InitializeTableV2."""

    signature = "table_handle: resource, keys: Tkey, values: Tval ->"


class InitializeTable(_InitializeTable):
    """Fill a table.  Source: lookup_ops.cc, InitializeTable."""

    signature = "table_handle: ref string, keys: Tkey, values: Tval ->"


class _TableInsert(TableOp, NoOutputOp, abstract=True):
    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, ctx: KernelContext, table_handle: Table, keys: Any, values: Any
    ) -> Any:
        expected = np.shape(keys) + table_handle.value_shape
        if np.shape(values) != expected:
            raise invalid_argument(
                f"Expected shape {shapes.text(expected)} for value, got "
                f"{shapes.text(np.shape(values))}"
            )
        table_handle.insert(keys, values)
        return ()


class LookupTableInsertV2(_TableInsert):
    """Insert or update entries.  Source: lookup_ops.cc, LookupTableInsertV2."""

    signature = "table_handle: resource, keys: Tin, values: Tout ->"


class LookupTableInsert(_TableInsert):
    """Insert or update entries.  Source: lookup_ops.cc, LookupTableInsert."""

    signature = "table_handle: ref string, keys: Tin, values: Tout ->"


class LookupTableRemoveV2(TableOp, NoOutputOp):
    """Remove keys.  Source: lookup_ops.cc, LookupTableRemoveV2."""

    signature = "table_handle: resource, keys: Tin ->"

    def infer_shape(self, table_handle: Shape, keys: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, table_handle: Table, keys: Any) -> Any:
        table_handle.remove(keys)
        return ()


class _InitializeTableFromTextFile(TableOp, NoOutputOp, abstract=True):
    key_index: int
    value_index: int
    vocab_size: int = -1
    delimiter: str = "\t"

    minimum: ClassVar[dict[str, int]] = {
        "key_index": WHOLE_LINE, "value_index": WHOLE_LINE, "vocab_size": -1,
    }  # fmt: skip
    uses_files: ClassVar[bool] = True

    def infer_shape(self, table_handle: Shape, filename: Shape) -> list[Shape]:
        shapes.with_rank(filename, 0)
        return []

    def compute(self, ctx: KernelContext, table_handle: Table, filename: Any) -> Any:
        path = np.asarray(filename, object).item().decode()
        lines = vocabulary_lines(path, self.vocab_size)
        columns = [
            [self._part(line, number, index, path, dtype)
             for number, line in enumerate(lines)]
            for index, dtype in (
                (self.key_index, table_handle.key_dtype),
                (self.value_index, table_handle.value_dtype),
            )
        ]  # fmt: skip
        keys, values = (
            table_array(column, (len(lines),), dtype)
            for column, dtype in zip(
                columns, (table_handle.key_dtype, table_handle.value_dtype), strict=True
            )
        )
        table_handle.fill(keys, values)
        return ()

    def _part(
        self, line: bytes, number: int, index: int, path: str, dtype: DType
    ) -> Any:
        if index == LINE_NUMBER:
            return number
        if index == WHOLE_LINE:
            return line
        parts = line.split(self.delimiter.encode())
        if index >= len(parts):
            raise invalid_argument(
                f"Invalid number of columns in {path} line {number} "
                f"({line.decode('utf-8', 'replace')}) : expected {index} "
                f"got {len(parts)}"
            )
        if dtype == string:
            return parts[index]
        try:
            return int(parts[index]) if dtype == int64 else float(parts[index])
        except ValueError:
            raise invalid_argument(
                f"Field {parts[index].decode('utf-8', 'replace')} in line {number} is "
                f"not a valid {dtype.name}."
            ) from None


class InitializeTableFromTextFileV2(_InitializeTableFromTextFile):
    """Fill a table from a text file.  Source: InitializeTableFromTextFileV2."""

    signature = "table_handle: resource, filename: string ->"


class InitializeTableFromTextFile(_InitializeTableFromTextFile):
    """Fill a table from a text file.  Source: InitializeTableFromTextFile."""

    signature = "table_handle: ref string, filename: string ->"
