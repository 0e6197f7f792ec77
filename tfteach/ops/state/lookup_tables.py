"""A session's lookup tables, which map keys to values.

Source: core/ops/lookup_ops.cc, core/kernels/lookup_table_op.cc, lookup_util.cc.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, int64, string
from tfteach.framework.errors import (
    FailedPreconditionError,
    invalid_argument,
)
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.state.vocabulary_files import vocabulary_lines
from tfteach.ops.text.byte_string_arrays import strings

WHOLE_LINE, LINE_NUMBER = -2, -1


def _refused(message: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, message)


class Table:
    """The dictionary that a table's handle refers to.

    Attributes:
      is_mutable: whether it may be written at any time; otherwise it is filled once.
      entries: key -> value; None until an immutable table is filled.
    """

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        is_mutable: bool,
        value_shape: tuple[int, ...] = (),
    ) -> None:
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.is_mutable = is_mutable
        self.value_shape = value_shape
        self.entries: dict[Any, Any] | None = {} if is_mutable else None
        self._lock = threading.Lock()

    @property
    def shape(self) -> tuple[int, ...]:
        """The handle is a scalar."""
        return ()

    def filled(self) -> dict[Any, Any]:
        """The entries.

        Raises:
          FailedPreconditionError: the table has not been initialized.
        """
        if self.entries is None:
            raise _refused("Table not initialized.")
        return self.entries

    def fill(self, keys: Any, values: Any) -> None:
        """Fill the table once; filling it again requires the same number of entries."""
        pairs: dict[Any, Any] = {}
        for key, value in zip(_items(keys), _items(values), strict=True):
            if key in pairs and pairs[key] != value:
                raise _refused(
                    "HashTable has different value for same key. Key "
                    f"{_text(key)} has {_text(pairs[key])} and trying to add value "
                    f"{_text(value)}"
                )
            pairs[key] = value
        with self._lock:
            if self.entries is None:
                self.entries = pairs
            elif len(self.entries) != len(pairs):
                raise _refused("Table was already initialized with different data.")

    def insert(self, keys: Any, values: Any) -> None:
        """Insert or update entries."""
        rows = np.reshape(values, (np.size(keys), *self.value_shape))
        with self._lock:
            found = list(rows) if self.value_shape else _items(rows)
            self.filled().update(zip(_items(keys), found, strict=True))

    def remove(self, keys: Any) -> None:
        """Remove keys; missing keys are ignored."""
        with self._lock:
            for key in _items(keys):
                self.filled().pop(key, None)

    def find(self, keys: Any, default: Any) -> Any:
        """The value for each key, `default` for missing keys."""
        entries = self.filled()
        missing = default if self.value_shape else np.asarray(default).item()
        found = [entries.get(key, missing) for key in _items(keys)]
        return self.values(found, np.shape(keys))

    def export(self) -> tuple[Any, Any]:
        """All keys and all values."""
        entries = dict(self.filled())
        keys = _array(list(entries), (len(entries),), self.key_dtype)
        return keys, self.values(list(entries.values()), (len(entries),))

    def values(self, found: list[Any], shape: tuple[int, ...]) -> Any:
        return _array(found, (*shape, *self.value_shape), self.value_dtype)


def _items(array: Any) -> list[Any]:
    """The elements as Python values, usable as keys."""
    return np.asarray(array).ravel().tolist()


def _array(values: list[Any], shape: tuple[int, ...], dtype: DType) -> Any:
    if dtype == string:
        return strings(values, shape)
    return np.array(values, dtype.as_numpy_dtype).reshape(shape)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


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
        return ()

    def compute(self, ctx: KernelContext) -> Any:
        own: Any = self
        name = own.shared_name or ctx.op.name
        shape = tuple(getattr(self, "value_shape", None) or ())
        return ctx.resource(
            "table",
            name,
            lambda: Table(own.key_dtype, own.value_dtype, self.is_mutable, shape),
            own.container,
        )


class HashTableV2(HandleOp):
    """A table that is filled once.  Source: lookup_ops.cc, HashTableV2."""

    signature = "-> table_handle: resource"
    container: str = ""
    shared_name: str = ""
    use_node_name_sharing: bool = False
    key_dtype: DType  # type: ignore[misc]  # the order is TensorFlow's
    value_dtype: DType  # type: ignore[misc]
    is_mutable: ClassVar[bool] = False


class MutableHashTableV2(HandleOp):
    """A mutable table of scalars.  Source: lookup_ops.cc."""

    signature = "-> table_handle: resource"
    container: str = ""
    shared_name: str = ""
    use_node_name_sharing: bool = False
    key_dtype: DType  # type: ignore[misc]
    value_dtype: DType  # type: ignore[misc]


class MutableHashTableOfTensorsV2(HandleOp):
    """A mutable table of vectors.  Source: lookup_ops.cc."""

    signature = "-> table_handle: resource"
    container: str = ""
    shared_name: str = ""
    use_node_name_sharing: bool = False
    key_dtype: DType  # type: ignore[misc]
    value_dtype: DType  # type: ignore[misc]
    value_shape: Shape = ()


# ---- reading


class LookupTableFindV2(TableOp):
    """The values for keys.  Source: lookup_ops.cc, LookupTableFindV2."""

    signature = "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout"

    def infer_shape(self, table_handle: Shape, keys: Shape, default: Shape) -> Shape:
        return None

    def compute(
        self, ctx: KernelContext, table_handle: Table, keys: Any, default_value: Any
    ) -> Any:
        return table_handle.find(keys, default_value)


class LookupTableSizeV2(TableOp):
    """The number of entries.  Source: lookup_ops.cc, LookupTableSizeV2."""

    signature = "table_handle: resource -> size: int64"

    def infer_shape(self, table_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, table_handle: Table) -> Any:
        return np.int64(len(table_handle.entries or ()))


class LookupTableExportV2(TableOp, MultiOutputOp):
    """All keys and values.  Source: lookup_ops.cc, LookupTableExportV2."""

    signature = "table_handle: resource -> keys: Tkeys, values: Tvalues"
    Tkeys: DType
    Tvalues: DType

    def infer_shape(self, table_handle: Shape) -> list[Shape]:
        return [(None,), None]

    def compute(self, ctx: KernelContext, table_handle: Table) -> Any:
        return table_handle.export()


# ---- writing


class LookupTableImportV2(TableOp, NoOutputOp):
    """Fill a table, or replace its contents.  Source: lookup_ops.cc."""

    signature = "table_handle: resource, keys: Tin, values: Tout ->"

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


class LookupTableInsertV2(TableOp, NoOutputOp):
    """Insert or update entries.  Source: lookup_ops.cc, LookupTableInsertV2."""

    signature = "table_handle: resource, keys: Tin, values: Tout ->"

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


class LookupTableRemoveV2(TableOp, NoOutputOp):
    """Remove keys.  Source: lookup_ops.cc, LookupTableRemoveV2."""

    signature = "table_handle: resource, keys: Tin ->"

    def infer_shape(self, table_handle: Shape, keys: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, table_handle: Table, keys: Any) -> Any:
        table_handle.remove(keys)
        return ()


class InitializeTableFromTextFileV2(TableOp, NoOutputOp):
    """Fill a table from the lines of a text file.  Source: lookup_ops.cc."""

    signature = "table_handle: resource, filename: string ->"
    key_index: int
    value_index: int
    vocab_size: int = -1
    delimiter: str = "\t"

    minimum: ClassVar[dict[str, int]] = {
        "key_index": WHOLE_LINE, "value_index": WHOLE_LINE, "vocab_size": -1,
    }  # fmt: skip

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
            _array(column, (len(lines),), dtype)
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
