"""The records of CSV files: lines, except where quotes or carriage returns matter.

Source: core/kernels/data/experimental/csv_dataset_op.cc (rules and messages).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_PIECE_BYTES = 1 << 18
_QUOTE, _LINE_FEED, _CARRIAGE_RETURN = b'"', b"\n", b"\r"
_ENDS_IN_QUOTES = "Reached end of file without closing quoted field in record"


class Record:
    """A record in fields.

    Attributes:
      fields: all fields, also those that are not selected.
      error: the message of the first field that breaks a rule, or None.
      error_at: the number of that field; -1 if there is none.
    """

    def __init__(self, fields: list[bytes], error: str | None = None) -> None:
        self.fields = fields
        self.error = error
        self.error_at = -1


def raw_lines(source: Any) -> Iterator[bytes]:
    """The lines of an open file, each with its line feed."""
    rest = b""
    while piece := source.read(_PIECE_BYTES):
        *lines, rest = (rest + piece).split(_LINE_FEED)
        for line in lines:
            yield line + _LINE_FEED
    if rest:
        yield rest


def records_of(
    lines: Iterator[bytes], delimiter: bytes, uses_quotes: bool, skips_header: bool
) -> Iterator[bytes | Record]:
    """The records of a file.

    Args:
      lines: its lines, each with its line feed.
      delimiter: the byte between two fields.
      uses_quotes: whether quotes enclose fields.
      skips_header: whether to omit the first record.

    Yields:
      A line without its end, if each delimiter in it separates two fields; else a
      Record.
    """
    if skips_header:
        scanner = _Scanner(next(lines, b""), lines, delimiter, uses_quotes)
        if not scanner.text or scanner.record().error is not None:
            yield Record([], "Can't read header of file")
        while scanner.has_more():
            yield scanner.record()
    for line in lines:
        body = line.removesuffix(_LINE_FEED).removesuffix(_CARRIAGE_RETURN)
        if _CARRIAGE_RETURN not in body and not (uses_quotes and _QUOTE in body):
            yield body
            continue
        scanner = _Scanner(line, lines, delimiter, uses_quotes)
        while scanner.has_more():
            yield scanner.record()


class _Scanner:
    """Splits text into records; draws further lines while a quoted field is open."""

    def __init__(
        self, text: bytes, lines: Iterator[bytes], delimiter: bytes, uses_quotes: bool
    ) -> None:
        self.text = text
        self._at = 0
        self._lines = lines
        self._delimiter = delimiter
        self._uses_quotes = uses_quotes

    def has_more(self) -> bool:
        """Whether the text has another record."""
        return self._at < len(self.text)

    def record(self) -> Record:
        """The next record."""
        made = Record([])
        while True:
            is_quoted = self._uses_quotes and self._here() == _QUOTE
            field, error = self._quoted() if is_quoted else self._unquoted()
            if error is not None and made.error is None:
                made.error, made.error_at = error, len(made.fields)
            made.fields.append(field)
            if error == _ENDS_IN_QUOTES:
                return made
            end = self._here()
            self._at += 1
            if end != self._delimiter:
                if end == _CARRIAGE_RETURN and self._here() == _LINE_FEED:
                    self._at += 1
                return made

    def _here(self) -> bytes:
        return self.text[self._at : self._at + 1]

    def _unquoted(self) -> tuple[bytes, str | None]:
        """A field up to its end, and what is wrong with it."""
        start, ends = self._at, (self._delimiter, _CARRIAGE_RETURN, _LINE_FEED)
        found = [self.text.find(end, start) for end in ends]
        self._at = min((end for end in found if end >= 0), default=len(self.text))
        field = self.text[start : self._at]
        if self._uses_quotes and _QUOTE in field:
            return field, "Unquoted fields cannot have quotes inside"
        return field, None

    def _quoted(self) -> tuple[bytes, str | None]:
        """A field from its opening quote, and what is wrong with it."""
        parts: list[bytes] = []
        error = None
        self._at += 1
        while True:
            end = self.text.find(_QUOTE, self._at)
            if end < 0:
                parts.append(self.text[self._at :])
                self.text, self._at = next(self._lines, b""), 0
                if not self.text:
                    return b"", _ENDS_IN_QUOTES
                continue
            parts.append(self.text[self._at : end])
            self._at = end + 1
            after = self._here()
            if after in (b"", self._delimiter, _CARRIAGE_RETURN, _LINE_FEED):
                return b"".join(parts), error
            if after == _QUOTE:
                parts.append(_QUOTE)
                self._at += 1
            else:
                error = "Quote inside a string has to be escaped by another quote"
