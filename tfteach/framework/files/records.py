"""TFRecord framing: length, its checksum, data, its checksum.

Source: core/lib/io/record_writer.cc, record_reader.cc.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from tfteach.framework.errors import DataLossError
from tfteach.framework.files.crc32c import masked_crc32c


def frame(data: bytes) -> bytes:
    """A record in the file's format."""
    length = struct.pack("<Q", len(data))
    return b"".join([
        length, struct.pack("<I", masked_crc32c(length)),
        data, struct.pack("<I", masked_crc32c(data)),
    ])  # fmt: skip


def read_records(file: BinaryIO) -> Iterator[bytes]:
    """The records of an open file.

    Raises:
      DataLossError: a record is truncated or damaged.
    """
    at = 0
    while head := file.read(12):
        if len(head) < 12:
            raise DataLossError(None, None, f"truncated record at {at}")
        length, check = struct.unpack("<QI", head)
        if masked_crc32c(head[:8]) != check:
            raise DataLossError(None, None, f"corrupted record at {at}")
        data, tail = file.read(length), file.read(4)
        if len(data) < length or len(tail) < 4:
            raise DataLossError(None, None, f"truncated record at {at}")
        if masked_crc32c(data) != struct.unpack("<I", tail)[0]:
            raise DataLossError(None, None, f"corrupted record at {at}")
        at += 16 + length
        yield data
