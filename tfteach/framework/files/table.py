"""Tables: sorted pairs of byte strings in a file, in LevelDB's format.

A table is a sequence of blocks.  The last one, the index, has a pair for each of the
others: a key not before its last one, and where it stands.  Inside a block a key omits
what it shares with the key before, except at restarts.

    entry:   varints (shared, unshared, value's size), rest of the key, value
    block:   entries, uint32 positions of the restarts, their uint32 number
    trailer: compression (0 none, 1 Snappy), uint32 masked CRC-32C of block and type
    footer:  varints (position, size) of the metaindex and the index, zeros up to
             40 bytes, the magic number

Source: core/lib/io/{format,block,table}.cc; LevelDB's doc/table_format.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, NoReturn, Protocol

from tfteach.framework.errors import DataLossError
from tfteach.framework.files.crc32c import masked_crc32c
from tfteach.framework.files.snappy import decompress
from tfteach.framework.protos.wire_format import read_varint, varint

MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
FOOTER_BYTES = 48
_TRAILER_BYTES = 5
_BLOCK_BYTES = 256 * 1024  # of contents, approximately; TensorFlow's
_RESTART_INTERVAL = 16
_RAW, _SNAPPY = 0, 1


class _Place(NamedTuple):
    """Where a block stands, without its trailer."""

    offset: int
    size: int


class Table:
    """A table that is read from an open file.

    Args:
      file: the file; the table does not close it.
      path: its name, for messages.

    Raises:
      DataLossError: the file is not a table, or its index is damaged.
    """

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file, self._path = file, path
        self._size = file.seek(0, 2)
        if self._size < FOOTER_BYTES:
            self._fail("file is too short to be an sstable")
        footer = self._read(_Place(self._size - FOOTER_BYTES, FOOTER_BYTES))
        if footer[-8:] != MAGIC:
            self._fail("not an sstable (bad magic number)")
        try:
            metaindex, at = _place(footer, 0)
            place = _place(footer, at)[0]
        except IndexError:
            self._fail("not an sstable (bad block handle in the footer)")
        self._block(metaindex)  # nothing is in it, but it may be damaged
        self._blocks = [
            (key, _place(value, 0)[0]) for key, value in self._entries(place)
        ]

    def get(self, key: bytes) -> bytes | None:
        """The value of a key; None if it is not in the table.

        Raises:
          DataLossError: the block that may contain it is damaged.
        """
        for last, place in self._blocks:
            if key <= last:
                return dict(self._entries(place)).get(key)
        return None

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for _, place in self._blocks:
            yield from self._entries(place)

    def _entries(self, place: _Place) -> Iterator[tuple[bytes, bytes]]:
        """The pairs of a block."""
        data = self._block(place)
        try:
            restarts = struct.unpack("<I", data[-4:])[0]
            end = len(data) - 4 * (restarts + 1)
            at, key = 0, b""
            while at < end:
                shared, at = read_varint(data, at)
                unshared, at = read_varint(data, at)
                size, at = read_varint(data, at)
                middle, behind = at + unshared, at + unshared + size
                if shared > len(key) or behind > end:
                    raise IndexError
                key = key[:shared] + data[at:middle]
                yield key, data[middle:behind]
                at = behind
        except (IndexError, struct.error):
            self._fail(f"bad entry in the block at offset {place.offset}")

    def _block(self, place: _Place) -> bytes:
        """The contents of a block, whose checksum is compared."""
        data = self._read(_Place(place.offset, place.size + _TRAILER_BYTES))
        kind, crc = struct.unpack("<BI", data[-_TRAILER_BYTES:])
        if masked_crc32c(data[:-4]) != crc:
            self._fail(f"block checksum mismatch at offset {place.offset}")
        contents = data[:-_TRAILER_BYTES]
        if kind == _SNAPPY:
            try:
                return decompress(contents)
            except ValueError as error:
                self._fail(
                    "corrupted compressed block contents at offset "
                    f"{place.offset}: {error}"
                )
        if kind != _RAW:
            self._fail(f"bad block type {kind} at offset {place.offset}")
        return contents

    def _read(self, place: _Place) -> bytes:
        if place.offset + place.size > self._size:
            self._fail(
                f"truncated block read: {place.size} bytes at offset {place.offset} of "
                f"{self._size}"
            )
        self._file.seek(place.offset)
        data = self._file.read(place.size)
        if len(data) < place.size:
            self._fail(f"truncated block read at offset {place.offset}")
        return data

    def _fail(self, what: str) -> NoReturn:
        raise DataLossError(None, None, f"{what}: {self._path}")


def _place(data: bytes, at: int) -> tuple[_Place, int]:
    """A block's place at a position, and the position behind it."""
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return _Place(offset, size), at


class Writable(Protocol):
    """What a table is written to."""

    def write(self, data: bytes, /) -> object: ...


class TableBuilder:
    """Writes a table.

    Args:
      file: an open file, at its beginning.
    """

    def __init__(self, file: Writable) -> None:
        self._file = file
        self._at = 0
        self._block = _BlockBuilder(_RESTART_INTERVAL)
        self._index = _BlockBuilder(1)

    def add(self, key: bytes, value: bytes) -> None:
        """Append a pair; its key must be greater than those before.

        Raises:
          ValueError: it is not.
        """
        if self._at + self._block.count and key <= self._block.last:
            raise ValueError(f"key {key!r} after {self._block.last!r}")
        self._block.add(key, value)
        if self._block.size_bytes >= _BLOCK_BYTES:
            self._end_block()

    def finish(self) -> None:
        """Write what is left; the caller closes the file."""
        if self._block.count:
            self._end_block()
        metaindex = self._write(_BlockBuilder(1))
        index = self._write(self._index)
        footer = (metaindex + index).ljust(FOOTER_BYTES - len(MAGIC), b"\0")
        self._file.write(footer + MAGIC)

    def _end_block(self) -> None:
        last = self._block.last
        self._index.add(last, self._write(self._block))
        self._block = _BlockBuilder(_RESTART_INTERVAL)
        self._block.last = last

    def _write(self, block: _BlockBuilder) -> bytes:
        """Write a block; returns its place, encoded."""
        contents = block.contents() + bytes((_RAW,))
        self._file.write(contents + struct.pack("<I", masked_crc32c(contents)))
        place = varint(self._at) + varint(len(contents) - 1)
        self._at += len(contents) + 4
        return place


class _BlockBuilder:
    """Pairs on their way into a block."""

    def __init__(self, restart_interval: int) -> None:
        self._interval = restart_interval
        self._parts: list[bytes] = []
        self._restarts = [0]
        self.size_bytes = 0
        self.count = 0
        self.last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count % self._interval:
            limit = min(len(key), len(self.last))
            while shared < limit and key[shared] == self.last[shared]:
                shared += 1
        elif self.count:
            self._restarts.append(self.size_bytes)
        sizes = varint(shared), varint(len(key) - shared), varint(len(value))
        entry = b"".join((*sizes, key[shared:], value))
        self._parts.append(entry)
        self.size_bytes += len(entry)
        self.count += 1
        self.last = key

    def contents(self) -> bytes:
        count = len(self._restarts)
        tail = struct.pack(f"<{count + 1}I", *self._restarts, count)
        return b"".join((*self._parts, tail))
