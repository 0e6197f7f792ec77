"""CRC-32C: the standard's check values, and that both ways agree."""

import numpy as np
import pytest

from tfteach.lib.files import crc


@pytest.mark.parametrize("function", [crc.crc32c, crc.crc32c_numpy])
def test_known_values(function):  # RFC 3720, B.4
    assert function(b"") == 0
    assert function(b"123456789") == 0xE3069283
    assert function(bytes(32)) == 0x8A9136AA
    assert function(b"\xff" * 32) == 0x62A8AB43
    assert function(bytes(range(32))) == 0x46DD794E


@pytest.mark.parametrize("size", [1, 65535, 65536, 100_003, 1_000_000])
def test_numpy_in_columns_equals_byte_by_byte(size):
    data = np.random.default_rng(size).bytes(size)
    slow = crc._step(crc._table_list(), 0xFFFFFFFF, data) ^ 0xFFFFFFFF
    assert crc.crc32c_numpy(data) == slow == crc.crc32c(data)


def test_mask():
    value = crc.crc32c(b"abc")
    rotated = (value >> 15 | value << 17) & 0xFFFFFFFF
    assert crc.masked_crc32c(b"abc") == (rotated + 0xA282EAD8) % 2**32
