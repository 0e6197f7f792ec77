"""CRC-32C checksums, masked as in TensorFlow's record files.

Source: core/lib/hash/crc32c.h.
"""

from __future__ import annotations

from crc32c import crc32c

_MASK_DELTA = 0xA282EAD8


def masked_crc32c(data: bytes) -> int:
    """The CRC-32C, rotated and offset, so that data may itself contain CRCs."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
