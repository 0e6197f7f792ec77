"""Snappy blocks, written by hand after its format's description."""

from __future__ import annotations

import pytest

from tfteach.framework.files.snappy import decompress


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"\x00", b""),
        (b"\x03\x08abc", b"abc"),
        (b"\x46\xf0\x45" + b"q" * 70, b"q" * 70),  # its length in a byte of its own
        (b"\x08\x04ab\x09\x02", b"ababababab"[:8]),  # an overlapping copy
        (b"\x06\x08abc\x0a\x03\x00", b"abcabc"),  # offset of two bytes
        (b"\x06\x08abc\x0b\x03\x00\x00\x00", b"abcabc"),  # of four
        (b"\x41\x00z\xfe\x01\x00", b"z" * 65),
    ],
)
def test_blocks(block: bytes, expected: bytes) -> None:
    assert decompress(block) == expected


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (b"", "ends"),
        (b"\x03\x08ab", "ends"),
        (b"\x06\x08abc\x0a\x03", "ends"),
        (b"\x06\x08abc\x0a\x04\x00", "a copy from 4 bytes before, of 3"),
        (b"\x06\x08abc\x0a\x00\x00", "a copy from 0 bytes before"),
        (b"\x02\x08abc", "has 3 bytes, not 2"),
        (b"\x04\x08abc", "has 3 bytes, not 4"),
        (b"\xff\xff\xff\xff\x0f\x08abc", "cannot expand to 4294967295"),
    ],
)
def test_damaged(block: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        decompress(block)
