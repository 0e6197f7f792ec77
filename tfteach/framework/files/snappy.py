"""Decompression of Snappy blocks, as tables of TensorFlow may contain them.

Source: google/snappy, format_description.txt.
"""

from __future__ import annotations

from tfteach.framework.protos.wire_format import read_varint


def decompress(data: bytes) -> bytes:
    """The contents of a block.

    Raises:
      ValueError: the block is damaged.  Memory is bounded by the size that its first
        bytes state, which a block cannot exceed 64-fold.
    """
    try:
        size, at = read_varint(data, 0)
        # The densest element has 3 bytes for 64.
        if size > 22 * len(data) + 64:
            raise ValueError(f"{len(data)} bytes cannot expand to {size}")
        out = bytearray()
        while at < len(data):
            tag = data[at]
            at += 1
            if tag & 3 == 0:
                at = _literal(data, at, tag >> 2, out)
            else:
                at = _copy(data, at, tag, out)
            if len(out) > size:
                break
    except IndexError:
        raise ValueError("the block ends within an element") from None
    if len(out) != size:
        raise ValueError(f"the block has {len(out)} bytes, not {size}")
    return bytes(out)


def _literal(data: bytes, at: int, length: int, out: bytearray) -> int:
    """Append bytes that stand in the block; returns the position behind them."""
    if length >= 60:
        width = length - 59
        length = int.from_bytes(data[at : at + width], "little")
        at += width
    length += 1
    if at + length > len(data):
        raise IndexError
    out += data[at : at + length]
    return at + length


def _copy(data: bytes, at: int, tag: int, out: bytearray) -> int:
    """Append bytes that were decompressed before, perhaps overlapping the new ones."""
    kind = tag & 3
    if kind == 1:
        length, offset = (tag >> 2 & 7) + 4, tag >> 5 << 8 | data[at]
        at += 1
    else:
        width = 2 if kind == 2 else 4
        length = (tag >> 2) + 1
        if at + width > len(data):
            raise IndexError
        offset = int.from_bytes(data[at : at + width], "little")
        at += width
    if not 0 < offset <= len(out):
        raise ValueError(f"a copy from {offset} bytes before, of {len(out)}")
    start = len(out) - offset
    if offset >= length:
        out += out[start : start + length]
    else:
        repeated = out[start:] * (length // offset + 1)
        out += repeated[:length]
    return at
