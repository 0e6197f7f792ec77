"""Lines of CSV files as columns.

Source: core/ops/parsing_ops.cc, core/kernels/decode_csv_op.cc.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name, dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.text.byte_string_arrays import strings
from tfteach.ops.text.string_conversion import float_of, integer_of

# What Python's int() and float() accept, but TensorFlow does not.
_FOREIGN = (b"_", b"+")
_QUOTE, _NEW_LINES = ord('"'), b"\n\r"


class DecodeCSV(MultiOutputOp):
    """Records as columns.  Source: core/ops/parsing_ops.cc, DecodeCSV."""

    signature = "records: string, record_defaults: *OUT_TYPE -> output: *OUT_TYPE"
    OUT_TYPE = dtypes_of("float32 float64 int32 int64 string")
    field_delim: str = ","
    use_quote_delim: bool = True
    na_value: str = ""
    select_cols: tuple[int, ...] = ()

    on_gpu: ClassVar[bool] = False
    minimum: ClassVar[dict[str, int]] = {"OUT_TYPE": 1}

    def infer_shape(self, records: Shape, record_defaults: list[Shape]) -> list[Shape]:
        check_default_shapes(record_defaults)
        return [records] * len(record_defaults)

    def compute(self, xp: ArrayModule, records: Array, *defaults: Array) -> Any:
        check_defaults(defaults)
        if len(self.field_delim.encode()) != 1:
            raise invalid_argument(
                f"field_delim should be only 1 char: got {self.field_delim!r}"
            )
        lines: list[bytes] = records.reshape(-1).tolist()
        return self.split_at_once(lines, defaults, records.shape) or self._checked(
            lines, defaults, records.shape
        )

    def split_at_once(
        self, lines: list[bytes], defaults: Sequence[Array], shape: tuple[int, ...]
    ) -> tuple[Any, ...] | None:
        """The columns of records without quotes; None if a record may need more."""
        text = b"".join(lines)
        if (self.use_quote_delim and b'"' in text) or b"\n" in text or b"\r" in text:
            return None
        delimiter = self.field_delim.encode()
        if not lines or b"" in lines or any(mark in text for mark in _FOREIGN):
            return None
        rows = [line.split(delimiter) for line in lines]
        if self.select_cols:
            wanted = self.select_cols
            if any(len(row) <= wanted[-1] for row in rows):
                return None
            columns = [[row[i] for row in rows] for i in wanted]
        else:
            if any(len(row) != len(defaults) for row in rows):
                return None
            columns = [list(column) for column in zip(*rows, strict=True)]
        missing = {b"", self.na_value.encode()}
        try:
            found = [
                _column(column, default, missing)
                for column, default in zip(columns, defaults, strict=True)
            ]
        except (ValueError, OverflowError):
            return None  # `_checked` finds the first error
        if any(column is None for column in found):
            return None
        return tuple(column.reshape(shape) for column in found)

    def _checked(
        self, lines: list[bytes], defaults: Sequence[Array], shape: tuple[int, ...]
    ) -> tuple[Any, ...]:
        """The columns, record by record, as TensorFlow reads them."""
        columns: list[list[Any]] = [[] for _ in defaults]
        reader = FieldReader(self.na_value, defaults)
        for i, line in enumerate(lines):
            fields = self._fields(line)
            if len(fields) != len(defaults):
                raise invalid_argument(
                    f"Expect {len(defaults)} fields but have {len(fields)} in record "
                    f"{i}"
                )
            for f, field in enumerate(fields):
                columns[f].append(reader.value(f, field, f"record {i}"))
        return tuple(
            reader.column(f, column).reshape(shape) for f, column in enumerate(columns)
        )

    def _fields(self, line: bytes) -> list[bytes]:
        """The selected fields of a record."""
        delimiter, last = self.field_delim.encode()[0], len(line) - 1
        wanted, number, at = self.select_cols, 0, 0
        found: list[bytes] = []
        while at <= last:
            if line[at] in _NEW_LINES:
                at += 1
                continue
            if self.use_quote_delim and line[at] == _QUOTE:
                field, at = _quoted(line, at + 1, delimiter)
            else:
                end = line.find(delimiter, at)
                end = last + 1 if end < 0 else end
                field, at = line[at:end], end + 1
                quotes = self.use_quote_delim and _QUOTE in field
                if quotes or any(mark in field for mark in _NEW_LINES):
                    raise invalid_argument(
                        "Unquoted fields cannot have quotes/CRLFs inside"
                    )
            if not wanted or wanted[len(found)] == number:
                found.append(field)
                if len(found) == len(wanted):
                    return found
            number += 1
        ends_open = bool(line) and line[last] == delimiter
        if ends_open and (not wanted or wanted[len(found)] == number):
            found.append(b"")
        return found


class FieldReader:
    """Converts single fields.

    Args:
      na_value: a text of a missing value, beside "".
      defaults: for each column its value if it is missing, of its type; empty if it is
        required.
    """

    def __init__(self, na_value: str, defaults: Sequence[Array]) -> None:
        self._missing = {b"", na_value.encode()}
        self._defaults = defaults
        self._readers = [_reader(default) for default in defaults]

    def value(self, number: int, field: bytes, where: str) -> Any:
        """The value of a field.

        Args:
          number: that of the column.
          field: the text.
          where: the record, for messages.

        Raises:
          InvalidArgumentError: it is missing without a default, or no such number.
        """
        default = self._defaults[number]
        if field not in self._missing:
            value = self._readers[number](field)
            if value is None:
                raise invalid_argument(
                    f"Field {number} in {where} is not a valid "
                    f"{c_name(_dtype(default))}: {field.decode('utf-8', 'replace')}"
                )
            return value
        if not default.size:
            raise invalid_argument(
                f"Field {number} is required but missing in {where}!"
            )
        return default.reshape(-1)[0]

    def column(self, number: int, values: list[Any]) -> Any:
        """Values of a column as an array of its type."""
        return _array(values, self._defaults[number])


def check_default_shapes(static: Sequence[Shape]) -> None:
    """Raise ValueError for a default with several elements."""
    for shape in static:
        if shape is not None and len(shape) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(shape)}")
        if shape and (shape[0] or 0) > 1:
            raise ValueError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )


def check_defaults(defaults: Sequence[Array]) -> None:
    """Raise InvalidArgumentError for a default with several elements."""
    for i, default in enumerate(defaults):
        if default.ndim > 1:
            raise invalid_argument(
                f"Each record default should be at most rank 1: default {i} has shape "
                f"{shapes.text(default.shape)}"
            )
        if default.size > 1:
            raise invalid_argument(
                f"There should only be 1 default per field but field {i} has "
                f"{default.size}"
            )


def _quoted(line: bytes, at: int, delimiter: int) -> tuple[bytes, int]:
    """A quoted field from behind its first quote, and where the next one starts."""
    last = len(line) - 1
    field = bytearray()
    while at < last and not (line[at] == _QUOTE and line[at + 1] == delimiter):
        if line[at] == _QUOTE:
            if line[at + 1] != _QUOTE:
                raise invalid_argument(
                    "Quote inside a string has to be escaped by another quote"
                )
            at += 1
        field.append(line[at])
        at += 1
    if at > last or line[at] != _QUOTE:
        raise invalid_argument(
            "Quoted field has to end with quote followed by delim or end"
        )
    return bytes(field), at + 2


def _dtype(default: Array) -> DType:
    from tfteach.framework.dtypes import as_dtype, string

    return string if default.dtype.hasobject else as_dtype(default.dtype)


def _reader(default: Array) -> Callable[[bytes], Any]:
    """The function that reads a field; it returns None if the field is wrong."""
    if default.dtype.hasobject:
        return lambda field: field
    if default.dtype.kind == "f":
        return float_of
    limits = np.iinfo(default.dtype)
    return lambda field: integer_of(field, int(limits.min), int(limits.max))


def _array(values: list[Any], default: Array) -> Any:
    if default.dtype.hasobject:
        return strings(values, (len(values),))
    with np.errstate(over="ignore"):
        return np.array(values).astype(default.dtype)


def _column(column: list[bytes], default: Array, missing: set[bytes]) -> Any:
    """A column read at once; None if a field is wrong, or missing without a default.

    Raises:
      ValueError: a field is no number.
    """
    if not missing.isdisjoint(column):
        if not default.size:
            return None
        if default.dtype.hasobject:
            filler = default.reshape(-1)[0]
        else:  # which the conversion below turns into the same number
            filler = repr(default.reshape(-1)[0].item()).encode()
        column = [filler if field in missing else field for field in column]
    if default.dtype.hasobject:
        return strings(column, (len(column),))
    if default.dtype.kind == "f":
        return _array(list(map(float, column)), default)
    numbers = list(map(int, column))
    limits = np.iinfo(default.dtype)
    if numbers and not limits.min <= min(numbers) <= max(numbers) <= limits.max:
        return None
    return np.array(numbers, default.dtype)


@export("decode_csv", "io.decode_csv")
def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[TensorLike],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The columns of CSV records, each a Tensor of the records' shape.

    Args:
      records: a string Tensor; each element is a line, without its end.
      record_defaults: for each column a Tensor of its type (float32, float64, int32,
        int64 or string): the value of empty fields, a scalar or of shape [1]; of shape
        [0] if the column may not be empty.
      field_delim: the character between fields.
      use_quote_delim: whether double quotes enclose fields; if not, they are characters
        like others.
      name: the op's name.
      na_value: a text that means an empty field, too.
      select_cols: the columns to return, ascending; None for all.

    Raises:
      ValueError: `select_cols` is not ascending, or of another length than
        `record_defaults`; a default has several elements.
      tf.errors.InvalidArgumentError: in a run, a record has another number of fields, a
        field is no number, or empty without a default; or a quote is misplaced.

    Example:
      >>> age, name = tf.decode_csv(["31,Ada", ",Bob"], [[0], [""]])
      >>> age  # [31, 0]

    Source: DecodeCSV in core/ops/parsing_ops.cc.
    """
    if select_cols is not None and any(
        a >= b for a, b in itertools.pairwise(select_cols)
    ):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    if not isinstance(record_defaults, list | tuple):
        raise TypeError(
            "Expected list for 'record_defaults' argument to 'DecodeCSV' Op, not "
            f"{record_defaults!r}."
        )
    op = DecodeCSV(field_delim, use_quote_delim, na_value, tuple(select_cols or ()))
    return op(records, record_defaults, name=name)
