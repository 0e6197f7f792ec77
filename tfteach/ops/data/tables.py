"""Datasets of the rows of tables: CSV files and SQL queries.

Source: core/kernels/data/experimental/{csv,sql}_dataset_op.cc.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType, bool_, string
from tfteach.framework.errors import OpError, UnknownError, invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.csv_records import Record, raw_lines, records_of
from tfteach.ops.data.dataset import Dataset, Running, integer
from tfteach.ops.data.elements import Element, column_elements
from tfteach.ops.data.reading import FileRecords, file_names
from tfteach.ops.data.sources import SourceOp
from tfteach.ops.io.decode_csv import (
    DecodeCSV,
    FieldReader,
    check_default_shapes,
    check_defaults,
)

_BLOCK = 64


class CsvRows(Dataset):
    """The rows of CSV files.

    Args:
      records: the records of the files, lines or `Record`s.
      decoder: splits and converts them.
      defaults: one for each column.
    """

    def __init__(
        self, records: FileRecords, decoder: DecodeCSV, defaults: Sequence[Array]
    ) -> None:
        self._records, self._decoder = records, decoder
        self._defaults = defaults

    def elements(self, running: Running) -> Iterator[Element]:
        records = (element[0].item() for element in self._records.elements(running))
        return CsvElements(records, self._decoder, self._defaults)


class CsvElements:
    """Decodes records, many at a time; a wrong one raises in its place."""

    def __init__(
        self,
        records: Iterator[bytes | Record],
        decoder: DecodeCSV,
        defaults: Sequence[Array],
    ) -> None:
        self._records, self._decoder, self._defaults = records, decoder, defaults
        self._fields = FieldReader(decoder.na_value, defaults)
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
        block = list(islice(self._records, _BLOCK))
        if not block:
            raise StopIteration
        lines = [record for record in block if isinstance(record, bytes)]
        if len(lines) == len(block):
            shape = (len(lines),)
            columns = self._decoder.split_at_once(lines, self._defaults, shape)
            if columns is not None:
                return list(zip(*map(column_elements, columns), strict=True))
        return [self._decoded_or_error(record) for record in block]

    def _decoded_or_error(self, record: bytes | Record) -> Element | OpError:
        if isinstance(record, bytes):
            record = Record(record.split(self._decoder.field_delim.encode()))
        try:
            return self._decoded(record)
        except OpError as error:
            return error

    def _decoded(self, record: Record) -> Element:
        if record.error is not None and record.error_at < 0:
            raise invalid_argument(record.error)
        wanted = self._decoder.select_cols
        expected = f"Expect {len(self._defaults)} fields but have"
        found: list[Any] = []
        for number, field in enumerate(record.fields):
            if number == record.error_at:
                raise invalid_argument(str(record.error))
            if wanted and number not in wanted:
                continue
            if len(found) == len(self._defaults):
                raise invalid_argument(f"{expected} more in record")
            found.append(self._fields.value(len(found), field, "record"))
        if len(found) < len(self._defaults):
            raise invalid_argument(f"{expected} {len(found)} in record")
        columns = [self._fields.column(i, [value]) for i, value in enumerate(found)]
        return tuple([column_elements(column)[0] for column in columns])


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
                rows = connection.execute(_first_statement(self._query))
                count = len(rows.description or ())
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
                if code == sqlite3.SQLITE_READONLY:  # a statement without columns
                    raise self._wrong_count(0) from error
                raise UnknownError(
                    None, None, f"Prepare() failed: [{code}] {error}: {self._query}"
                ) from error
            if count != len(self._types):
                raise self._wrong_count(count)
            return self._cells(rows, stack.pop_all())

    def _wrong_count(self, count: int) -> OpError:
        return invalid_argument(
            f"The number of columns in query ({count}) must match the number of "
            f"elements in output_types ({len(self._types)})."
        )

    def _cells(
        self, rows: sqlite3.Cursor, opened: contextlib.ExitStack
    ) -> Iterator[Element]:
        with opened:
            for row in rows:
                yield tuple(map(_cell, row, self._types))


def _first_statement(query: str) -> str:
    """The first statement of a query, which SQLite prepares."""
    end = query.find(";")
    while end >= 0:
        if sqlite3.complete_statement(query[: end + 1]):
            return query[: end + 1]
        end = query.find(";", end + 1)
    return query


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
    uses_files: ClassVar[bool] = True

    def infer_shape(self, *inputs: Any) -> Shape:
        check_default_shapes(inputs[-1])
        return ()

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        names, kind, size, header, delimiter, quotes, missing, columns = inputs[:8]
        texts = [np.asarray(t, object).item() for t in (kind, delimiter, missing)]
        compression, separator, na_value = (text.decode() for text in texts)
        if integer(size) <= 0:
            raise invalid_argument("buffer_size should be positive")
        if len(texts[1]) != 1:
            raise invalid_argument("field_delim should be only 1 char")
        if compression not in ("", "GZIP", "ZLIB"):
            raise invalid_argument(f"Unsupported compression_type: {compression}.")
        defaults = inputs[8:]
        check_defaults(defaults)
        selected = tuple(np.asarray(columns).tolist())
        _check_selected(selected, len(defaults))
        decoder = DecodeCSV(separator, bool(quotes), na_value, selected)

        def records(source: Any, path: str) -> Iterator[Any]:
            lines = raw_lines(source)
            return records_of(lines, texts[1], bool(quotes), bool(header))

        return CsvRows(
            FileRecords(file_names(names), compression, records), decoder, defaults
        )


def _check_selected(columns: Sequence[int], count: int) -> None:
    if columns and len(columns) != count:
        raise invalid_argument("select_cols should match output size")
    if any(a >= b for a, b in pairwise(columns)):
        raise invalid_argument("select_cols should be strictly increasing indices")
    if columns and columns[0] < 0:
        raise invalid_argument("select_cols should be non-negative indices")


class SqlDataset(SourceOp):
    """The rows of a query.  Source: experimental_dataset_ops.cc, SqlDataset."""

    signature = (
        "driver_name: string, data_source_name: string, query: string "
        "-> handle: variant"
    )
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    uses_files: ClassVar[bool] = True

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        driver, path, query = (np.asarray(t, object).item().decode() for t in inputs)
        if driver != "sqlite":
            raise invalid_argument(
                f"The database type, {driver}, is not supported by SqlDataset. The "
                "set of supported databases is: {'sqlite'}."
            )
        return QueryRows(path, query, self.output_types)
