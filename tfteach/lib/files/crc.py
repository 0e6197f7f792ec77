"""CRC-32C checksums, masked as in TensorFlow's record files.

The `crc32c` wheel computes them at memory speed; without it NumPy does, on columns of
the data side by side.
Source: core/lib/hash/crc32c.h.
"""

from __future__ import annotations

import contextlib
from functools import cache
from typing import Any

import numpy as np

_fast: Any = None
with contextlib.suppress(ImportError):
    from crc32c import crc32c as _fast

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
_COLUMNS = 4096
_MASK_DELTA = 0xA282EAD8


def crc32c(data: bytes) -> int:
    """The CRC-32C of `data`."""
    return int(_fast(data)) if _fast is not None else crc32c_numpy(data)


def masked_crc32c(data: bytes) -> int:
    """The CRC-32C, rotated and shifted so that a CRC of CRCs is no trivial value."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


@cache
def _table() -> np.ndarray[Any, Any]:
    table: np.ndarray[Any, Any] = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = table >> 1 ^ (table & 1) * np.uint32(_POLYNOMIAL)
    return table


@cache
def _table_list() -> list[int]:
    return _table().tolist()


def _step(table: list[int], crc: int, data: bytes) -> int:
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def crc32c_numpy(data: bytes) -> int:
    """The CRC-32C without the wheel."""
    length = len(data) // _COLUMNS
    if length < 16:
        return _step(_table_list(), 0xFFFFFFFF, data) ^ 0xFFFFFFFF
    # Each of the columns is one stretch of the data; all take a byte at a time.
    whole = length * _COLUMNS
    columns = np.frombuffer(data, np.uint8, whole).reshape(_COLUMNS, length)
    table = _table()
    crcs = np.zeros(_COLUMNS, np.uint32)
    crcs[0] = 0xFFFFFFFF
    for byte in np.ascontiguousarray(columns.T):
        crcs = table[(crcs ^ byte) & 255] ^ crcs >> 8
    # A stretch's CRC moves on by the zeros that stand for the stretches after it.
    shift = [row.tolist() for row in _shift_tables(length)]
    crc = 0
    for column in crcs.tolist():
        crc = column ^ (
            shift[0][crc & 255]
            ^ shift[1][crc >> 8 & 255]
            ^ shift[2][crc >> 16 & 255]
            ^ shift[3][crc >> 24]
        )
    return _step(_table_list(), crc, data[whole:]) ^ 0xFFFFFFFF


def _shift_tables(length: int) -> np.ndarray[Any, Any]:
    """What `length` zero bytes make of each byte of a CRC: a table [4, 256]."""
    table = _table()
    rows = [np.arange(256, dtype=np.uint32) << np.uint32(8 * i) for i in range(4)]
    crcs = np.stack(rows)
    result, power = crcs, table[crcs & 255] ^ crcs >> 8
    while length:  # by squaring: `power` is what 1, 2, 4 ... zero bytes do
        if length & 1:
            result = _apply(power, result)
        power = _apply(power, power)
        length >>= 1
    return result


def _apply(operator: np.ndarray[Any, Any], crcs: np.ndarray[Any, Any]) -> Any:
    parts = [operator[i][crcs >> np.uint32(8 * i) & 255] for i in range(4)]
    return parts[0] ^ parts[1] ^ parts[2] ^ parts[3]
