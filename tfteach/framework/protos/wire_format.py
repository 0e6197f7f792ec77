"""Protobuf's wire format: varints and length-delimited fields."""

from __future__ import annotations


def varint(number: int) -> bytes:
    """A varint; negative numbers take ten bytes."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The varint at a position, and the position after it.

    Raises:
      IndexError: the data ends before the number does, or it has more than 10 bytes.
    """
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise IndexError("a number has more bytes than 64 bits need")


def chunk(tag: bytes, payload: bytes) -> bytes:
    """A length-delimited field; `tag` is its number and wire type, encoded."""
    size = len(payload)
    return tag + (bytes((size,)) if size < 128 else varint(size)) + payload
