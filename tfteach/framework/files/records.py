"""TFRecord framing: length, its checksum, data, its checksum.

    record: uint64 length, its masked CRC-32C, data, their masked CRC-32C

Source: core/lib/io/{record_writer,record_reader}.cc.
"""

from __future__ import annotations

import functools
import io
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import NoReturn, Protocol, Self

from crc32c import crc32c

from tfteach.framework.errors import DataLossError, ResourceExhaustedError
from tfteach.framework.files.crc32c import MASK_DELTA, Crc32c, masked, masked_crc32c

PIECE_BYTES = 256 * 1024
_HEAD_BYTES, _TAIL_BYTES = 12, 4
_DIFFERENT_DATA = "the checksum of its data does not match"
_MAX_LENGTH = (1 << 63) - 1
# A longer record is read only after a first pass found that it is whole: a few
# compressed bytes can claim, and even deliver, more than there is memory.
_LONG_BYTES = 64 << 20
_unpack_head = struct.Struct("<QI").unpack
_unpack_check = struct.Struct("<I").unpack_from
_pack_check = struct.Struct("<I").pack


@functools.lru_cache(maxsize=1024)
def record_head(length: int) -> bytes:
    """What precedes a record of that length."""
    packed = struct.pack("<Q", length)
    return packed + _pack_check(masked_crc32c(packed))


def record_tail(data: bytes) -> bytes:
    """What follows a record."""
    return _pack_check(masked(crc32c(data)))


def frame(data: bytes) -> bytes:
    """A record in the file's format."""
    return b"".join((record_head(len(data)), data, record_tail(data)))


class RecordSource(Protocol):
    """Where records are read from: a file, or what it is decompressed to."""

    def read(self, limit: int, /) -> bytes:
        """At most `limit` bytes, and none only at the end.

        Raises:
          DataLossError: what follows cannot be decompressed.
        """

    def lookahead(self) -> AbstractContextManager[Self]:
        """A source at the same position, whose reading does not move this one."""


def read_records(
    source: RecordSource, path: str, ends_in_head: bool = False
) -> Iterator[bytes]:
    """The records of an open file.

    At most 64 MB are held of a record that turns out to be damaged.

    Args:
      source: the file.
      path: its name, for messages.
      ends_in_head: whether a file that is cut within the length of a record and its
        checksum just ends there.

    Raises:
      DataLossError: a record is truncated or damaged.  Those before it were yielded.
    """
    buffer, at, start = b"", 0, 0  # start: of the buffer, in the file
    known_head, length = None, 0
    while True:
        body = at + _HEAD_BYTES
        head = buffer[at:body]
        if head != known_head:
            if len(head) < _HEAD_BYTES:
                piece = source.read(PIECE_BYTES)
                buffer, at, start = head + piece, 0, start + at
                if piece:
                    continue
                if head and not ends_in_head:
                    _fail("truncated", start, path, f"only {len(head)} bytes are left")
                return
            length = _checked_length(head, start + at, path)
            known_head = head
        end = body + length
        if end + _TAIL_BYTES <= len(buffer):
            data = buffer[body:end]
            stored = _unpack_check(buffer, end)[0]
            at = end + _TAIL_BYTES
        else:
            place = start + at
            begun = buffer[body:]
            data, stored = _rest_of_record(source, begun, length, place, path)
            buffer, at, start = b"", 0, place + _HEAD_BYTES + length + _TAIL_BYTES
        crc = crc32c(data)
        # `masked`, without the call: once a record
        if ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF != stored:
            place = start + at - _TAIL_BYTES - length  # of the data, as TensorFlow
            _fail("corrupted", place, path, _DIFFERENT_DATA)
        yield data


def _checked_length(head: bytes, at: int, path: str) -> int:
    length, check = _unpack_head(head)
    if masked_crc32c(head[:8]) != check:
        why = "the checksum of its length does not match"
        if at == 0 and head.startswith(b"\x1f\x8b"):
            why = 'the file is compressed: read it with options="GZIP"'
        elif at == 0 and head[0] & 15 == 8 and (head[0] << 8 | head[1]) % 31 == 0:
            why = 'the file seems to be compressed: read it with options="ZLIB"'
        _fail("corrupted", at, path, why)
    if length > _MAX_LENGTH:
        _fail("corrupted", at, path, f"its length is {length - (1 << 64)}")
    return int(length)


def _rest_of_record(
    source: RecordSource, begun: bytes, length: int, at: int, path: str
) -> tuple[bytes, int]:
    """A record that ends behind what has been read of the file.

    Args:
      source: the file.
      begun: the first bytes of the data, or all and some of their checksum.
      length: of the data.
      at: where the record begins.
      path: of the file.

    Returns:
      The data and the stored checksum.
    """
    if length > _LONG_BYTES:
        crc = Crc32c()
        with source.lookahead() as ahead:
            stored = _pass_on(ahead, begun, length, crc.update)
        if stored is not None and masked(crc.value) != stored:
            _fail("corrupted", at + _HEAD_BYTES, path, _DIFFERENT_DATA)
        if stored is not None and length > _memory_bytes():
            raise ResourceExhaustedError(
                None,
                None,
                f"record at {at} ({path}): it has {length} bytes, this machine "
                f"{_memory_bytes()} bytes of memory",
            )
        if stored is None:
            _fail("truncated", at, path, f"its length is {length}")
    data = io.BytesIO()
    stored = _pass_on(source, begun, length, data.write)
    if stored is None:
        why = f"its length is {length}, {data.tell()} bytes are left"
        _fail("truncated", at, path, why)
    return data.getvalue(), stored


def _pass_on(
    source: RecordSource, begun: bytes, length: int, use: Callable[[bytes], object]
) -> int | None:
    """Call `use` with the data, piece by piece: the checksum, or None if it ends."""
    use(begun[:length])
    tail, missing = begun[length:], length - len(begun)
    while missing > 0:
        piece = source.read(min(missing, PIECE_BYTES))
        if not piece:
            return None
        use(piece)
        missing -= len(piece)
    while len(tail) < _TAIL_BYTES:
        piece = source.read(_TAIL_BYTES - len(tail))
        if not piece:
            return None
        tail += piece
    return int(_unpack_check(tail)[0])


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _fail(what: str, at: int, path: str, why: str) -> NoReturn:
    raise DataLossError(None, None, f"{what} record at {at} ({path}): {why}")
