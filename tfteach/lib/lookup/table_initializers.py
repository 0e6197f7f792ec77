"""Initializers of tables: from two tensors, or from a text file.

Source: python/ops/lookup_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, int64, string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation
from tfteach.framework.scope import name_scope
from tfteach.framework.trackable import Trackable
from tfteach.framework.type_aliases import DTypeLike, PathLike, TensorLike
from tfteach.lib.files.trackable import TrackableAsset
from tfteach.ops.core.constant import Const
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.state.lookup_table_ops import (
    InitializeTableFromTextFileV2,
    LookupTableImportV2,
)
from tfteach.ops.state.lookup_tables import LINE_NUMBER, WHOLE_LINE


@export("tables_initializer", "initializers.tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that fills all tables of the graph.

    Example:
      >>> sess.run(tf.tables_initializer())

    Source: python/ops/lookup_ops.py.
    """
    initializers = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


@export("initialize_all_tables")
def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """`tf.tables_initializer` under an older name."""
    return tables_initializer(name)


@export("contrib.lookup.TableInitializerBase")
class TableInitializerBase(Trackable):
    """Initializer of a table: its types, and `initialize(table)`."""

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
    def shared_name(self) -> str:
        """A name shared by equal tables; "" if there is none."""
        return ""

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`."""
        raise NotImplementedError

    def check(self, table: Any) -> None:
        """Raise TypeError unless `table` has this initializer's types."""
        for what in ("key", "value"):
            ours, theirs = (getattr(x, f"{what}_dtype") for x in (self, table))
            if ours != theirs:
                raise TypeError(
                    f"Invalid {what} dtype, expected {theirs} but got {ours}."
                )


@export("lookup.KeyValueTensorInitializer", "contrib.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with `keys` and `values`, two tensors [n].

    Args:
      keys, values: lists or Tensors of one shape.
      key_dtype, value_dtype: their types; the tensors' own if None.
      name: the op's name.

    Example:
      >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
      >>> table = tf.lookup.StaticHashTable(init, default_value=-1)

    Source: python/ops/lookup_ops.py; LookupTableImportV2 in core/ops/lookup_ops.cc.
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        self._keys = convert(keys, key_dtype, "keys")
        self._values = convert(values, value_dtype, "values")
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`.

        Raises:
          TypeError: the table's types differ.
        """
        self.check(table)
        handle = table.resource_handle
        with name_scope(self._name, None, [handle, self._keys, self._values]):
            op: Operation = LookupTableImportV2()(handle, self._keys, self._values)
        return _collected(op)


def _collected(op: Operation) -> Operation:
    graph = get_default_graph()
    if not graph.is_eager:  # else the table has been filled already
        graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
    return op


@export("lookup.TextFileIndex", "contrib.lookup.TextFileIndex")
class TextFileIndex:
    """Part of a line to read: `WHOLE_LINE`, `LINE_NUMBER`, or a column's index."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


@export("lookup.TextFileInitializer", "contrib.lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Fills a table from a text file, one entry per line.

    Args:
      filename: the file's path, a str or string Tensor.
      key_dtype, value_dtype: their types.
      key_index, value_index: a column, `TextFileIndex.WHOLE_LINE` or `.LINE_NUMBER`.
      vocab_size: the number of lines to read; all if None.
      delimiter: the column separator.
      name: the op's name.

    Raises:
      ValueError: a line number requires int64, a whole line a string; an index is below
        -2; `vocab_size` is not positive.

    Source: python/ops/lookup_ops.py; InitializeTableFromTextFileV2.
    """

    def __init__(
        self,
        filename: TensorLike | PathLike,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        if filename is None or (isinstance(filename, str) and not filename):
            raise ValueError("Filename required for text_file_init.")
        for what, index, dtype in (
            ("key", key_index, self.key_dtype),
            ("value", value_index, self.value_dtype),
        ):
            _check_column(what, index, dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._vocab_size = -1 if vocab_size is None else vocab_size
        self._filename_arg = filename
        self._indices = key_index, value_index
        self._delimiter = delimiter
        self._name = "text_file_init" if name is None else name
        asset = self._track_trackable(TrackableAsset(filename), "_filename")
        self._filename = asset.asset_path

    @property
    def shared_name(self) -> str:
        """A name shared by tables of the same file, columns and size."""
        size = f"_{self._vocab_size}" if self._vocab_size != -1 else ""
        key, value = self._indices
        return f"hash_table_{self._filename_arg!s}{size}_{key}_{value}"

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`.

        Raises:
          TypeError: the table's types differ.
        """
        self.check(table)
        with name_scope(self._name, None, [table.resource_handle]):
            filename = convert(self._filename, string, "asset_filepath")
            kind = InitializeTableFromTextFileV2(
                *self._indices, self._vocab_size, self._delimiter
            )
            op: Operation = kind(table.resource_handle, filename)
        _collected(op)
        graph = get_default_graph()
        # A fed path is no asset of the model; eager programs collect nothing.
        if not graph.is_eager and isinstance(filename.op.spec, Const):
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return op


def _check_column(what: str, index: int, dtype: DType) -> None:
    if index < WHOLE_LINE:
        raise ValueError(f"Invalid {what} index {index}.")
    if index == LINE_NUMBER and dtype != int64:
        raise ValueError(
            f"Signature mismatch. {what.capitalize()}s must be dtype {int64}, got "
            f"{dtype}."
        )
    if index == WHOLE_LINE and not (dtype.is_integer or dtype == string):
        raise ValueError(
            f"Signature mismatch. {what.capitalize()}s must be integer or string, got "
            f"{dtype}."
        )


@export("contrib.lookup.TextFileStringTableInitializer")
class TextFileStringTableInitializer(TextFileInitializer):
    """Maps line numbers to lines.  Source: python/ops/lookup_ops.py."""

    def __init__(
        self,
        filename: TensorLike | PathLike,
        key_column_index: int = LINE_NUMBER,
        value_column_index: int = WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename,
            int64,
            key_column_index,
            string,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )


@export("contrib.lookup.TextFileIdTableInitializer")
class TextFileIdTableInitializer(TextFileInitializer):
    """Maps lines to line numbers.  Source: python/ops/lookup_ops.py."""

    def __init__(
        self,
        filename: TensorLike | PathLike,
        key_column_index: int = WHOLE_LINE,
        value_column_index: int = LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = string,
    ) -> None:
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            int64,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )
