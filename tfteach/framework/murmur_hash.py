"""A. Appleby's MurmurHash64A, with TensorFlow's seed.

Source: core/lib/hash/hash.cc.
"""

from __future__ import annotations

SEED = 0xDECAFCAFFE
_MASK = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995


def murmur64(data: bytes, seed: int = SEED) -> int:
    """The 64-bit hash of some bytes.

    Example:
      >>> murmur64(b"")
      10362690089216041653
    """
    hashed = seed ^ len(data) * _FACTOR & _MASK
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * _FACTOR & _MASK
        word = (word ^ word >> 47) * _FACTOR & _MASK
        hashed = (hashed ^ word) * _FACTOR & _MASK
    if whole < len(data):
        tail = int.from_bytes(data[whole:], "little")
        hashed = (hashed ^ tail) * _FACTOR & _MASK
    hashed = (hashed ^ hashed >> 47) * _FACTOR & _MASK
    return hashed ^ hashed >> 47
