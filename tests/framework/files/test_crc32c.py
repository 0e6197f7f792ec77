"""Masked CRC-32C checksums."""

from __future__ import annotations

import pytest

from tfteach.framework.files.crc32c import masked_crc32c


@pytest.mark.parametrize(
    ("data", "crc"),  # RFC 3720, B.4
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_known_checksums_are_rotated_and_shifted(data: bytes, crc: int) -> None:
    rotated = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    assert masked_crc32c(data) == (rotated + 0xA282EAD8) % 2**32
