"""CRC-32C checksums, masked as in TensorFlow's files.

Source: core/lib/hash/crc32c.h.
"""

from __future__ import annotations

from crc32c import crc32c

MASK_DELTA = 0xA282EAD8


def masked(crc: int) -> int:
    """A CRC, rotated and offset, so that data may itself contain CRCs."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: bytes | memoryview) -> int:
    """The masked CRC-32C of some data."""
    return masked(crc32c(data))


class Crc32c:
    """The CRC-32C of data that comes in pieces.

    Attributes:
      value: of the data so far, not masked.
    """

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def update(self, data: bytes | memoryview) -> None:
        """Append a piece."""
        self.value = crc32c(data, self.value)
