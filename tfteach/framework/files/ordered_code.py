"""Encodings of numbers and text whose bytes sort as the values do.

They form the keys under which checkpoints store the slices of partitioned variables.
Source: core/lib/strings/ordered_code.cc.
"""

from __future__ import annotations

import re

_ESCAPED = {b"\x00": b"\x00\xff", b"\xff": b"\xff\x00"}


def encoded_text(value: bytes) -> bytes:
    """Text with its end marked; no other text's encoding begins with it."""
    escaped = re.sub(b"[\x00\xff]", lambda found: _ESCAPED[found[0]], value)
    return escaped + b"\x00\x01"


def encoded_unsigned(value: int) -> bytes:
    """A number >= 0: how many bytes it needs, and these."""
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, "big")


def encoded_signed(value: int) -> bytes:
    """A number from -2^63 to 2^63 - 1: seven bits in each byte, the sign first."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    # The first `size` bits are set, the next one is not; all are inverted if negative.
    marks = ((1 << size) - 1) << (8 * size - size)
    bits = value & ((1 << 8 * size) - 1)
    return (bits ^ marks).to_bytes(size, "big")
