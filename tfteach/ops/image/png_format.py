"""PNG files: an encoder, and a decoder of those with 16 bits, which Pillow lacks.

Source: the PNG specification (ISO/IEC 15948).
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by the number of channels
_CHANNELS = {color: channels for channels, color in _COLOR_TYPES.items()}
_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4


def header(data: bytes) -> tuple[int, int, int, int, int]:
    """Width, height, bits of a channel, color type and interlacing."""
    width, height, bits, color, _, _, interlaced = struct.unpack_from(
        ">IIBBBBB", data, 16
    )
    return width, height, bits, color, interlaced


def encode(image: Any, level: int) -> bytes:
    """An image [height, width, channels] of uint8 or uint16 as a PNG file."""
    height, width, channels = image.shape
    bits = 8 * image.itemsize
    shape = struct.pack(
        ">IIBBBBB", width, height, bits, _COLOR_TYPES[channels], 0, 0, 0
    )
    big = image.astype(image.dtype.newbyteorder(">"), copy=False)
    rows = np.ascontiguousarray(big).view(np.uint8).reshape(height, -1)
    plain = np.insert(rows, 0, 0, axis=1).tobytes()  # each row with filter 0
    chunks = (b"IHDR", shape), (b"IDAT", zlib.compress(plain, level)), (b"IEND", b"")
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


def decode_16_bits(data: bytes) -> Any:
    """The uint16 image of a file with 16 bits.

    Raises:
      ValueError: the file is damaged.
      NotImplementedError: it is interlaced.
    """
    width, height, _, color, interlaced = header(data)
    if interlaced:
        raise NotImplementedError("decode_png: interlaced images of 16 bits")
    at, parts = 8, []
    while at + 8 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IDAT":
            parts.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    try:
        plain = zlib.decompress(b"".join(parts))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    channels = _CHANNELS[color]
    rows = np.frombuffer(plain, np.uint8).reshape(height, 1 + 2 * channels * width)
    result = np.zeros((height, width, 2 * channels), np.uint8)
    above = np.zeros((width, 2 * channels), np.uint8)
    for y, row in enumerate(rows):
        above = _unfiltered(int(row[0]), row[1:].reshape(width, -1), above)
        result[y] = above
    return result.view(">u2").astype(np.uint16)


def _unfiltered(kind: int, row: Any, above: Any) -> Any:
    """A row of pixels without its filter."""
    if kind == _SUB:
        return np.cumsum(row, axis=0, dtype=np.uint8)
    if kind == _UP:
        return row + above
    if kind not in (_AVERAGE, _PAETH):
        return row
    found = np.zeros_like(row)
    left = np.zeros(row.shape[1], np.int64)
    corner = np.zeros(row.shape[1], np.int64)
    for x, pixel in enumerate(row):
        up = above[x].astype(np.int64)
        if kind == _AVERAGE:
            guess = (left + up) // 2
        else:
            to_left, to_up = np.abs(up - corner), np.abs(left - corner)
            to_corner = np.abs(left + up - 2 * corner)
            is_left = (to_left <= to_up) & (to_left <= to_corner)
            guess = np.where(is_left, left, np.where(to_up <= to_corner, up, corner))
        left, corner = (pixel + guess) & 255, up
        found[x] = left
    return found
