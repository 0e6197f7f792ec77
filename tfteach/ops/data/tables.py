"""Datasets of the rows of tables: CSV files and SQL queries.

Source: core/kernels/data/experimental/{csv,sql}_dataset_op.cc.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType, bool_, string
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import Dataset, Element, Running, column_elements
from tfteach.ops.data.reading import (
    FileRecords,
    compression_kind,
    file_names,
    lines_of,
)
from tfteach.ops.data.sources import SourceOp
from tfteach.ops.io.decode_csv import DecodeCSV
from tfteach.ops.text.byte_string_arrays import strings

_BLOCK = 64


class CsvRows(Dataset):
    """The rows of CSV files.

    Args:
      records: the lines of the files.
      decoder: splits and converts them.
      defaults: one for each column.
      joins: whether a quoted field may contain line feeds.
    """

    def __init__(
        self,
        records: FileRecords,
        decoder: DecodeCSV,
        defaults: Sequence[Array],
        joins: bool,
    ) -> None:
        self._records, self._decoder = records, decoder
        self._defaults, self._joins = defaults, joins

    def elements(self, running: Running) -> Iterator[Element]:
        lines = (element[0].item() for element in self._records.elements(running))
        records = joined_lines(lines) if self._joins else lines
        return CsvElements(records, self._decoder, self._defaults)


def joined_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Records: lines, of which those inside quotes belong together."""
    begun: list[bytes] = []
    quotes = 0
    for line in lines:
        begun.append(line)
        quotes += line.count(b'"')
        if quotes % 2 == 0:
            yield b"\n".join(begun)
            begun, quotes = [], 0
    if begun:
        yield b"\n".join(begun)


class CsvElements:
    """Decodes records, many at a time; a wrong one raises when its turn comes."""

    def __init__(
        self, records: Iterator[bytes], decoder: DecodeCSV, defaults: Sequence[Array]
    ) -> None:
        self._records, self._decoder, self._defaults = records, decoder, defaults
        self._ready: Iterator[Any] = iter(())

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for found in self._ready:
                if isinstance(found, OpError):
                    raise found
                return found  # type: ignore[no-any-return]
            self._ready = iter(self._block())

    def _block(self) -> list[Any]:
        block = [line for _, line in zip(range(_BLOCK), self._records, strict=False)]
        if not block:
            raise StopIteration
        try:
            return self._decoded(block)
        except OpError:
            return [self._decoded_or_error(line) for line in block]

    def _decoded(self, lines: list[bytes]) -> list[Element]:
        records = strings(lines, (len(lines),))
        columns = self._decoder.compute(np, records, *self._defaults)
        return list(zip(*map(column_elements, columns), strict=True))

    def _decoded_or_error(self, line: bytes) -> Element | OpError:
        try:
            if not line and not self._defaults[0].size:
                raise invalid_argument("Field 0 is required but missing in record!")
            return self._decoded([line])[0]
        except OpError as error:
            error._message = error._message.replace(" in record 0", " in record")
            return error


class QueryRows(Dataset):
    """The rows that a query of an SQLite database returns.

    Args:
      path: the database.
      query: an SQL statement.
      types: of the columns.
    """

    def __init__(self, path: str, query: str, types: tuple[DType, ...]) -> None:
        self._path, self._query = path, query
        self.types = types

    def elements(self, running: Running) -> Iterator[Element]:
        return QueryElements(self._path, self._query, self.types)


class QueryElements:
    """Draws rows; each request tries again after an error of the query."""

    def __init__(self, path: str, query: str, types: tuple[DType, ...]) -> None:
        self._path, self._query, self._types = path, query, types
        self._rows: Iterator[Element] | None = None

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if self._rows is None:
            self._rows = self._opened()
        return next(self._rows)

    def _opened(self) -> Iterator[Element]:
        with contextlib.ExitStack() as stack:
            try:
                connection = stack.enter_context(
                    contextlib.closing(_connection(self._path))
                )
                rows = connection.execute(self._query)
            except sqlite3.Error as error:
                message = f"Failed to execute the query {self._query!r}: {error}"
                raise invalid_argument(message) from error
            count = len(rows.description or ())
            if count != len(self._types):
                raise invalid_argument(
                    f"The number of columns in query ({count}) must match the number "
                    f"of elements in output_types ({len(self._types)})."
                )
            return self._cells(rows, stack.pop_all())

    def _cells(
        self, rows: sqlite3.Cursor, opened: contextlib.ExitStack
    ) -> Iterator[Element]:
        with opened:
            for row in rows:
                yield tuple(map(_cell, row, self._types))


def _connection(path: str) -> sqlite3.Connection:
    # Several threads may draw from an iterator, one at a time.
    uri = f"file:{path}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.text_factory = bytes
    return connection


def _cell(value: Any, dtype: DType) -> Any:
    """A value of a database as a scalar of a type; NULL is 0 or ""."""
    if dtype is string:
        text = b"" if value is None else value
        return np.array(text if isinstance(text, bytes) else str(text).encode(), object)
    number = 0 if value is None else value
    number = float(number) if isinstance(number, bytes) else number
    kind: Any = dtype.as_numpy_dtype
    return np.bool_(number != 0) if dtype is bool_ else kind(number)


# ---- ops


class CSVDataset(SourceOp):
    """The rows of CSV files.  Source: experimental_dataset_ops.cc, CSVDataset."""

    signature = (
        "filenames: string, compression_type: string, buffer_size: int64, "
        "header: bool, field_delim: string, use_quote_delim: bool, na_value: string, "
        "select_cols: int64, record_defaults: *output_types -> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        names, kind, _, header, delimiter, quotes, missing, columns = inputs[:8]
        texts = [np.asarray(t, object).item().decode() for t in (delimiter, missing)]
        if len(texts[0]) != 1:
            raise invalid_argument(" field_delim should be only 1 char")
        defaults = inputs[8:]
        for i, default in enumerate(defaults):
            if default.ndim > 1 or default.size > 1:
                raise invalid_argument(
                    f" There should only be 1 default per field but field {i} has "
                    f"{default.size}"
                )
        selected = tuple(np.asarray(columns).tolist())
        decoder = DecodeCSV(texts[0], bool(quotes), texts[1], selected)

        def lines(source: Any, path: str) -> Iterator[bytes]:
            found = lines_of(source, path)
            if header:
                next(found, None)
            return found

        records = FileRecords(file_names(names), compression_kind(kind), lines)
        return CsvRows(records, decoder, defaults, bool(quotes))


class SqlDataset(SourceOp):
    """The rows of a query.  Source: experimental_dataset_ops.cc, SqlDataset."""

    signature = (
        "driver_name: string, data_source_name: string, query: string "
        "-> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        driver, path, query = (np.asarray(t, object).item().decode() for t in inputs)
        if driver != "sqlite":
            raise invalid_argument(
                f"The database type, {driver}, is not supported by SqlDataset. The "
                "set of supported databases is: {'sqlite'}."
            )
        return QueryRows(path, query, self.output_types)
