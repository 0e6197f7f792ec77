"""Hash functions of byte strings, with TensorFlow's values.

`fingerprint64` is FarmHash's 64-bit fingerprint (G. Pike, FarmHash, 2014)
A. Appleby's MurmurHash64A with TensorFlow's seed, `siphash` SipHash-2-4 (J.-P. Aumasson
and D. Bernstein, "SipHash: a fast short-input PRF", 2012).
"""

from __future__ import annotations

from collections.abc import Sequence

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _right(value: int, bits: int) -> int:
    """Rotate to the right."""
    return (value >> bits | value << (64 - bits)) & MASK


def _left(value: int, bits: int) -> int:
    return _right(value, 64 - bits)


# ---- FarmHash


def _shift_mix(value: int) -> int:
    return value ^ (value >> 47)


def _mix(u: int, v: int, factor: int) -> int:
    """Hash two words to one."""
    a = _shift_mix((u ^ v) * factor & MASK)
    b = _shift_mix((v ^ a) * factor & MASK)
    return b * factor & MASK


def _up_to_16(data: bytes) -> int:
    size = len(data)
    if size >= 8:
        factor = K2 + size * 2
        a, b = _word(data, 0) + K2 & MASK, _word(data, size - 8)
        c = _right(b, 37) * factor + a & MASK
        d = (_right(a, 25) + b) * factor & MASK
        return _mix(c, d, factor)
    if size >= 4:
        first = int.from_bytes(data[:4], "little")
        last = int.from_bytes(data[-4:], "little")
        return _mix(size + (first << 3), last, K2 + size * 2)
    if size:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[-1] << 2)
        return _shift_mix((y * K2 ^ z * K0) & MASK) * K2 & MASK
    return K2


def _up_to_64(data: bytes) -> int:
    size = len(data)
    factor = K2 + size * 2
    first = K1 if size <= 32 else K2
    a, b = _word(data, 0) * first & MASK, _word(data, 8)
    c, d = _word(data, size - 8) * factor & MASK, _word(data, size - 16) * K2
    y = _right(a + b & MASK, 43) + _right(c, 30) + d & MASK
    z = a + _right(b + K2 & MASK, 18) + c & MASK
    if size <= 32:
        return _mix(y, z, factor)
    z = _mix(y, z, factor)
    e, f = _word(data, 16) * factor & MASK, _word(data, 24)
    g = (y + _word(data, size - 32)) * factor & MASK
    h = (z + _word(data, size - 24)) * factor
    return _mix(
        _right(e + f & MASK, 43) + _right(g, 30) + h & MASK,
        e + _right(f + a & MASK, 18) + g & MASK,
        factor,
    )


def _weak_32(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Hash 32 bytes and two seeds to two words (weak and fast)."""
    w, x, y, z = (_word(data, at + 8 * i) for i in range(4))
    a += w
    b = _right(b + a + z & MASK, 21)
    c = a
    a = a + x + y & MASK
    b += _right(a, 44)
    return a + z & MASK, b + c & MASK


def _round(
    data: bytes, at: int, state: tuple[int, ...], factor: int, last: bool
) -> tuple[int, ...]:
    """Update the state (x, y, z, v0, v1, w0, w1) with 64 bytes."""
    x, y, z, v0, v1, w0, w1 = state
    weight = 9 if last else 1
    x = _right(x + y + v0 + _word(data, at + 8) & MASK, 37) * factor & MASK
    y = _right(y + v1 + _word(data, at + 48) & MASK, 42) * factor & MASK
    x ^= w1 * weight & MASK
    y = y + v0 * weight + _word(data, at + 40) & MASK
    z = _right(z + w0 & MASK, 33) * factor & MASK
    v0, v1 = _weak_32(data, at, v1 * factor & MASK, x + w0 & MASK)
    w0, w1 = _weak_32(data, at + 32, z + w1 & MASK, y + _word(data, at + 16) & MASK)
    return z, y, x, v0, v1, w0, w1


def fingerprint64(data: bytes) -> int:
    """FarmHash's 64-bit fingerprint."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 64:
        return _up_to_64(data)
    seed = 81
    y = seed * K1 + 113 & MASK
    z = _shift_mix(y * K2 + 113 & MASK) * K2 & MASK
    state: tuple[int, ...] = (seed * K2 + _word(data, 0) & MASK, y, z, 0, 0, 0, 0)
    for at in range(0, (size - 1) // 64 * 64, 64):
        state = _round(data, at, state, K1, last=False)
    x, y, z, v0, v1, w0, w1 = state
    factor = K1 + ((z & 0xFF) << 1)
    w0 = w0 + (size - 1 & 63) & MASK
    v0 = v0 + w0 & MASK
    w0 = w0 + v0 & MASK
    state = (x, y, z, v0, v1, w0, w1)
    x, y, z, v0, v1, w0, w1 = _round(data, size - 64, state, factor, last=True)
    # The round returns x and z swapped, as the final step requires.
    return _mix(
        _mix(v0, w0, factor) + _shift_mix(y) * K0 + z & MASK,
        _mix(v1, w1, factor) + x & MASK,
        factor,
    )


def fingerprint_cat64(first: int, second: int) -> int:
    """Combine two fingerprints.  Source: core/platform/fingerprint.h."""
    factor = 0xC6A4A7935BD1E995
    result = first ^ factor ^ _shift_mix(second * factor & MASK) * factor & MASK
    result = _shift_mix(result * factor & MASK) * factor & MASK
    return _shift_mix(result)


# ---- SipHash


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0, v2 = v0 + v1 & MASK, v2 + v3 & MASK
    v1, v3 = _left(v1, 13) ^ v0, _left(v3, 16) ^ v2
    v0, v2 = _left(v0, 32) + v3 & MASK, v2 + v1 & MASK
    v3, v1 = _left(v3, 21) ^ v0, _left(v1, 17) ^ v2
    return v0, v1, _left(v2, 32), v3


def siphash(key: Sequence[int], data: bytes) -> int:
    """SipHash-2-4 under a key of two 64-bit words."""
    k0, k1 = (word & MASK for word in key)
    text = b"somepseudorandomlygeneratedbytes"
    initial = [int.from_bytes(text[i : i + 8], "big") for i in range(0, 32, 8)]
    v0, v1, v2, v3 = (a ^ b for a, b in zip(initial, (k0, k1, k0, k1), strict=True))
    whole = len(data) // 8 * 8
    tail = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for at in range(0, whole + 8, 8):
        word = _word(data, at) if at < whole else _word(tail, 0)
        v3 ^= word
        v0, v1, v2, v3 = _sip_round(*_sip_round(v0, v1, v2, v3))
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3
