"""Readers as resources of a session: each kind of file as records.

Source: core/framework/reader_base.cc, core/kernels/{text_line,whole_file,
fixed_length_record,tf_record,identity}_reader_op.cc (keys, counters, messages).
"""

from __future__ import annotations

import io
import threading
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

import numpy as np

from tfteach.framework.dtypes import string
from tfteach.framework.errors import (
    OutOfRangeError,
    UnimplementedError,
    invalid_argument,
)
from tfteach.framework.files import file_system
from tfteach.framework.files.compression import WINDOW_BITS, opened_source
from tfteach.framework.files.os_errors import os_errors_translated
from tfteach.framework.files.records import read_records
from tfteach.framework.protos.wire_format import chunk, read_varint, varint
from tfteach.framework.resource_names import ReferencedResource
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.io.example_wire import message_fields

Record = tuple[bytes, bytes]  # key and value
_RECORD_FRAME_BYTES = 16  # what a TFRecord file has beside a record


class Reader(ReferencedResource):
    """Reads records of files whose names come from a queue.

    Args:
      node_name: for messages.

    Attributes:
      kind: its type, for messages.
      has_state: whether its state can be saved: it is never amid a file.
      records_produced: the number of records read.
      units_started, units_completed: the numbers of files.
    """

    kind: ClassVar[str]
    has_state: ClassVar[bool] = False

    def __init__(self, node_name: str) -> None:
        self.node_name = self.name = node_name
        # One read at a time, as TensorFlow's.
        self.lock = threading.Lock()
        self.records: Iterator[Record] | None = None
        self.file: BinaryIO | None = None
        self.clear()

    # Its handle is a scalar.
    shape: tuple[int, ...] = ()
    ndim = 0
    dtype = np.dtype(object)

    def open(self, path: str) -> Iterator[Record]:
        """The records of a file."""
        raise NotImplementedError

    def clear(self) -> None:
        """Forget the file and the counters."""
        self._close()
        self.units_started = self.units_completed = self.records_produced = 0
        self.unit = b""

    def _close(self) -> None:
        self.records = None
        if self.file is not None:
            self.file.close()
            self.file = None

    def __del__(self) -> None:
        # A session may go while a file is open.
        if getattr(self, "file", None) is not None:
            self._close()

    def _opened(self, path: str) -> BinaryIO:
        self.file = file_system.open_file(file_system.resolve(path), "rb")
        return self.file

    def read(self, ctx: KernelContext, queue: Any) -> Record:
        """The next record, of the next file that has any."""
        with self.lock:
            while True:
                found = self._next(ctx, queue)
                if found is not None:
                    return found

    def read_up_to(self, ctx: KernelContext, queue: Any, count: int) -> list[Record]:
        """At most `count` records, all of one file."""
        found: list[Record] = []
        if count <= 0:
            return found
        with self.lock:
            while not found:
                self._next_unit(ctx, queue)
                while len(found) < count and self.records is not None:
                    record = self._next(ctx, queue)
                    if record is not None:
                        found.append(record)
        return found

    def _next_unit(self, ctx: KernelContext, queue: Any) -> None:
        """Open the next file, unless one is open."""
        if self.records is not None:
            return
        self.unit = _file_name(queue, queue.dequeue(ctx))
        self.units_started += 1
        try:
            self.records = self.open(self.unit.decode())
        except BaseException:
            self._close()
            raise

    def _next(self, ctx: KernelContext, queue: Any) -> Record | None:
        """A record; None at the end of a file."""
        self._next_unit(ctx, queue)
        assert self.records is not None
        try:
            found = next(self.records, None)
        except BaseException:
            self._close()
            raise
        if found is None or self.has_state:  # a file is one record
            self._close()
            self.units_completed += 1
        if found is not None:
            self.records_produced += 1
        return found

    # ---- ReaderBaseState: started 1, completed 2, produced 3, current file 4

    def saved(self) -> bytes:
        """The state as a protocol message."""
        if not self.has_state:
            raise UnimplementedError(None, None, "Reader SerializeState")
        with self.lock:
            numbers = self.units_started, self.units_completed, self.records_produced
            parts = [
                bytes((8 * i,)) + varint(number)
                for i, number in enumerate(numbers, start=1)
                if number
            ]
            return b"".join(parts) + (chunk(b'"', self.unit) if self.unit else b"")

    def restore(self, state: bytes) -> None:
        """Take over a state."""
        if not self.has_state:
            raise UnimplementedError(None, None, "Reader RestoreState")
        numbers, unit = {1: 0, 2: 0, 3: 0}, b""
        try:
            for field, wire, start, end in message_fields(state, 0, len(state)):
                if field in numbers and not wire:
                    numbers[field] = read_varint(state, start)[0]
                elif field == 4:
                    unit = state[start:end]
        except ValueError:
            raise invalid_argument(
                f"Could not parse state for {self.kind} '{self.node_name}': "
                f"{state.decode('utf-8', 'replace')}"
            ) from None
        with self.lock:
            self._close()
            self.units_started, self.units_completed = numbers[1], numbers[2]
            self.records_produced, self.unit = numbers[3], unit


def _file_name(queue: Any, element: Any) -> bytes:
    """The one string of an element."""
    if len(element) != 1:
        raise invalid_argument("Expected single component queue")
    name = np.asarray(element[0], object)  # of bytes NumPy would cut zeros
    if queue.dtypes[0] is not string:
        raise invalid_argument("Expected queue with single string component")
    if name.size != 1:
        raise invalid_argument("Expected to dequeue a one-element string tensor")
    found: bytes = name.reshape(-1)[0]
    return found


class TextLines(Reader):
    """The lines of text files; a key is `file:line`."""

    kind: ClassVar[str] = "TextLineReader"

    def __init__(self, name: str, skip_header_lines: int) -> None:
        super().__init__(name)
        self.skip_header_lines = skip_header_lines

    def open(self, path: str) -> Iterator[Record]:
        return self._lines(self._opened(path), path)

    def _lines(self, file: BinaryIO, path: str) -> Iterator[Record]:
        with os_errors_translated(path):
            for number, line in enumerate(file, start=1):
                if number > self.skip_header_lines:
                    text = line.removesuffix(b"\n").replace(b"\r", b"")
                    yield f"{path}:{number}".encode(), text


class WholeFiles(Reader):
    """Files as single records; a key is the file's name."""

    kind: ClassVar[str] = "WholeFileReader"
    has_state: ClassVar[bool] = True

    def open(self, path: str) -> Iterator[Record]:
        return iter([(path.encode(), file_system.read_file(path))])


class Identities(Reader):
    """What the queue has, as keys and values."""

    kind: ClassVar[str] = "IdentityReader"
    has_state: ClassVar[bool] = True

    def open(self, path: str) -> Iterator[Record]:
        return iter([(path.encode(), path.encode())])


class FixedLengthRecords(Reader):
    """Records of one size; a key is `file:number`."""

    kind: ClassVar[str] = "FixedLengthRecordReader"

    def __init__(
        self, name: str, header: int, size: int, footer: int, hop: int, encoding: str
    ) -> None:
        super().__init__(name)
        sizes = {"header": header, "record": size, "footer": footer, "hop": hop}
        for what, found in sizes.items():
            if found < 0:
                raise invalid_argument(f"{what}_bytes must be >= 0 not {found}")
        self.header, self.size, self.footer = header, size, footer
        self.hop, self.encoding = hop or size, encoding

    def open(self, path: str) -> Iterator[Record]:
        file = self._opened(path)
        if self.encoding in WINDOW_BITS:
            work = zlib.decompressobj(WINDOW_BITS[self.encoding])
            file = io.BytesIO(work.decompress(file.read()))
        end = file.seek(0, io.SEEK_END)
        if self.header > end:
            raise OutOfRangeError(None, None, "reached end of file")
        return self._parts(file, path, end - self.footer)

    def _parts(self, file: BinaryIO, path: str, end: int) -> Iterator[Record]:
        at, number = self.header, 0
        while at + self.size <= end:
            with os_errors_translated(path):
                file.seek(at)
                data = file.read(self.size)
            yield f"{path}:{number}".encode(), data
            at, number = at + self.hop, number + 1


class TFRecords(Reader):
    """The records of TFRecord files; a key is `file:offset`."""

    kind: ClassVar[str] = "TFRecordReader"

    def __init__(self, name: str, compression_type: str) -> None:
        super().__init__(name)
        self.compression_type = compression_type

    def open(self, path: str) -> Iterator[Record]:
        return self._records(self._opened(path), path)

    def _records(self, file: BinaryIO, path: str) -> Iterator[Record]:
        offset = 0
        for data in read_records(
            opened_source(file, path, self.compression_type), path
        ):
            yield f"{path}:{offset}".encode(), data
            offset += len(data) + _RECORD_FRAME_BYTES
