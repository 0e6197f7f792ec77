"""TensorFlow's random numbers in NumPy: Philox4x32-10 and its distributions.

The generator is a function of a 128-bit counter and a 64-bit key, so all blocks of four
32-bit words come from one vectorised computation.  Words map to numbers as in
TensorFlow's CPU kernels, so equal seeds yield TensorFlow's numbers.

Paper: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
Source: core/lib/random/philox_random.h, random_distributions.h; kernels/random_op.cc.
"""

from __future__ import annotations

import functools
import math
import secrets
import threading
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument

Array = np.ndarray[Any, Any]

_MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_MASK32 = 0xFFFFFFFF
_MASK64 = (1 << 64) - 1
_MASK128 = (1 << 128) - 1
_LOW = np.uint64(_MASK32)
_HIGH = np.uint64(32)
_CHUNK = 1 << 14  # blocks at a time: the working arrays fit in the cache
_WORDS = 4  # 32-bit words in a block
RESERVED_BLOCKS = 256  # per sample; TF's bound for rejection sampling
_TRUNCATION = 2.0
_LEAST_UNIFORM = 1.0e-7  # below it the logarithm in Box-Muller would overflow


# Memory for larger arrays is allocated before their numbers are drawn.
_MANY = 1 << 27


def count_of(sizes: Sequence[int]) -> int:
    """The number of elements of a shape.

    Raises:
      InvalidArgumentError: a size is negative, or the product overflows int64.
      MemoryError: there is not enough memory.
    """
    for size in sizes:
        if size < 0:
            raise invalid_argument(f"Dimension {size} must be >= 0")
    count = math.prod(sizes)
    if count >= 1 << 63:
        raise invalid_argument(
            f"Shape {shapes.text(tuple(sizes))} would have more than 2**63 - 1 elements"
        )
    if count > _MANY:
        np.empty(count, np.float32)
    return count


class Philox:
    """A counter and a key.

    Attributes:
      counter: a 128-bit int, the index of the next block.
      key: two 32-bit ints.
    """

    __slots__ = ("counter", "key")

    def __init__(self, counter: int, key: tuple[int, int]) -> None:
        self.counter = counter & _MASK128
        self.key = key

    def skipped(self, blocks: int) -> Philox:
        """This generator, advanced by `blocks`."""
        return Philox(self.counter + blocks, self.key)

    def blocks(self, count: int, first: int = 0) -> Array:
        """Words of consecutive blocks: uint32 [count, 4]."""
        return self.blocks_at(np.arange(first, first + count, dtype=np.uint64))

    def blocks_at(self, offsets: Array) -> Array:
        """Words of the blocks at `offsets` from here: uint32 [len(offsets), 4]."""
        words = np.empty((offsets.size, _WORDS), np.uint32)
        for start in range(0, offsets.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            self._fill(offsets[part], words[part])
        return words

    def _fill(self, offsets: Array, words: Array) -> None:
        low = np.uint64(self.counter & _MASK64)
        high = self.counter >> 64
        lows = offsets + low
        carried = np.uint64((high + 1) & _MASK64)
        highs = np.where(lows < low, carried, np.uint64(high))
        # Two rows at a time: words 0 and 2, which are multiplied, and words 1 and 3.
        counters = np.stack((lows, highs))
        even, odd = counters & _LOW, counters >> _HIGH
        product = np.empty_like(even)
        for key in _round_keys(self.key):
            np.multiply(even, _MULTIPLIERS, out=product)
            np.bitwise_and(product, _LOW, out=even)  # the next odd words, swapped
            np.right_shift(product, _HIGH, out=product)
            np.bitwise_xor(odd, key, out=odd)
            np.bitwise_xor(odd, product[::-1], out=odd)
            even, odd = odd, even[::-1]
        words[:, 0::2] = even.T
        words[:, 1::2] = odd.T


@functools.lru_cache(maxsize=256)
def _round_keys(key: tuple[int, int]) -> Array:
    """The keys of the ten rounds: uint64 [10, 2, 1]."""
    rows = [
        [(k + i * step) & _MASK32 for k, step in zip(key, _KEY_STEPS, strict=True)]
        for i in range(10)
    ]
    return np.array(rows, np.uint64)[..., None]


class Stream:
    """The generator of one op in one session; each run reserves blocks of it.

    Args:
      seed, seed2: the op's attributes; both 0: a different stream in each session.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        if seed == 0 and seed2 == 0:
            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        key = seed & _MASK32, seed >> 32 & _MASK32
        self._next = Philox((seed2 & _MASK64) << 64, key)
        self._lock = threading.Lock()

    def reserve(self, blocks: int) -> Philox:
        """The generator for this run; the next run starts `blocks` later."""
        with self._lock:
            own = self._next
            self._next = own.skipped(blocks)
            return own


# ---- words to uniform numbers


def uniform_float32(words: Array) -> Array:
    """Numbers in [0, 1) from the low 23 bits of each word."""
    bits = (words & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)
    return bits.view(np.float32) - np.float32(1)


def uniform_float64(words: Array) -> Array:
    """Numbers in [0, 1) from 52 bits of each pair of words: [..., 2n] -> [..., n]."""
    high = words[..., 0::2].astype(np.uint64) & np.uint64(0xFFFFF)
    bits = high << _HIGH | words[..., 1::2] | np.uint64(1023 << 52)
    return bits.view(np.float64) - 1.0


def _uniform_float16(words: Array) -> Array:
    bits = (words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
    return bits.view(np.float16) - np.float16(1)


def _uniform_bfloat16(words: Array) -> Array:
    bits = (words & np.uint32(0x7F)).astype(np.uint16) | np.uint16(127 << 7)
    one = bits.view(ml_dtypes.bfloat16).astype(np.float32)
    result: Array = (one - 1).astype(ml_dtypes.bfloat16)
    return result


_UNIFORM: dict[Any, tuple[int, Callable[[Array], Array]]] = {
    np.dtype(np.float32): (4, uniform_float32),
    np.dtype(np.float64): (2, uniform_float64),
    np.dtype(np.float16): (4, _uniform_float16),
    np.dtype(ml_dtypes.bfloat16): (4, _uniform_bfloat16),
}


def _grouped(count: int, per_group: int, make: Callable[[int, int], Array]) -> Array:
    """`count` numbers in groups of `per_group`, generated chunk by chunk."""
    groups = -(-count // per_group)
    parts = [
        make(first, min(_CHUNK, groups - first)).reshape(-1)
        for first in range(0, groups, _CHUNK)
    ]
    if len(parts) == 1:
        return parts[0][:count]
    return np.concatenate(parts)[:count] if parts else np.empty(0)


def uniform(generator: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """`count` numbers in [0, 1)."""
    per_group, convert = _UNIFORM[dtype]
    return _grouped(
        count, per_group, lambda first, n: convert(generator.blocks(n, first))
    ).astype(dtype, copy=False)


def uniform_int(
    generator: Philox, count: int, low: int, high: int, dtype: np.dtype[Any]
) -> Array:
    """`count` integers in [low, high); as in TF slightly biased (by the remainder)."""
    span = high - low
    blocks = generator.blocks(-(-count * dtype.itemsize // 16))
    if dtype == np.int32:
        found = blocks.reshape(-1)[:count] % np.uint32(span)
        return (found + np.uint32(low & _MASK32)).view(np.int32)
    wide = blocks[:, 0::2] | blocks[:, 1::2].astype(np.uint64) << _HIGH
    found = wide.reshape(-1)[:count] % np.uint64(span)
    result: Array = (found + np.uint64(low & _MASK64)).view(np.int64)
    return result


# ---- normal numbers


def _box_muller_float32(words: Array) -> Array:
    # In float64, rounded once: closer to the C library's float functions than NumPy's.
    u = uniform_float32(words)
    radius = np.maximum(u[:, 0::2], np.float32(_LEAST_UNIFORM)).astype(np.float64)
    np.log(radius, out=radius)
    radius = np.sqrt(np.float32(-2) * radius.astype(np.float32))
    angle = (2 * np.pi * u[:, 1::2].astype(np.float64)).astype(np.float32)
    wide_angle = angle.astype(np.float64)
    normal = np.empty(words.shape, np.float32)
    normal[:, 0::2] = np.sin(wide_angle)
    normal[:, 1::2] = np.cos(wide_angle)
    normal[:, 0::2] *= radius
    normal[:, 1::2] *= radius
    return normal


def box_muller_float64(words: Array) -> Array:
    u = uniform_float64(words)  # [n, 2]
    radius = np.sqrt(-2.0 * np.log(np.maximum(u[:, 0], _LEAST_UNIFORM)))
    angle = 2 * np.pi * u[:, 1]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=1)


def _normal_of(dtype: np.dtype[Any]) -> tuple[int, Callable[[Array], Array]]:
    return (2, box_muller_float64) if dtype == np.float64 else (4, _box_muller_float32)


def normal(generator: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """`count` standard normal numbers (Box-Muller)."""
    per_group, make = _normal_of(dtype)
    return _grouped(
        count, per_group, lambda first, n: make(generator.blocks(n, first))
    ).astype(dtype, copy=False)


def truncated_normal(generator: Philox, count: int, dtype: np.dtype[Any]) -> Array:
    """`count` standard normal numbers, redrawn until they are within (-2, 2)."""
    per_group, make = _normal_of(dtype)
    step = per_group * RESERVED_BLOCKS // _WORDS  # blocks reserved for a group
    return _grouped(
        count, per_group,
        lambda first, n: _truncated(generator, first, n, per_group, step, make),
    ).astype(dtype, copy=False)  # fmt: skip


def _truncated(
    generator: Philox, first: int, groups: int, size: int, step: int, make: Any
) -> Array:
    """The numbers of some groups; each group draws from its own blocks."""
    starts = np.arange(first, first + groups, dtype=np.uint64) * np.uint64(step)
    found = np.empty((groups, size), np.float64 if size == 2 else np.float32)
    filled = np.zeros(groups, np.intp)
    pending = np.arange(groups)
    drawn = 0
    while pending.size:
        numbers = make(generator.blocks_at(starts[pending] + np.uint64(drawn)))
        accepted = np.abs(numbers) < _TRUNCATION
        places = filled[pending, None] + np.cumsum(accepted, axis=1) - 1
        rows, columns = np.nonzero(accepted & (places < size))
        found[pending[rows], places[rows, columns]] = numbers[rows, columns]
        filled[pending] += accepted.sum(axis=1)
        pending = pending[filled[pending] < size]
        drawn += 1
    return found


# ---- permutations and choices


def permutation(generator: Philox, size: int) -> list[int]:
    """The order in which TF's shuffle puts `size` elements."""
    words = generator.blocks(-(-(size - 1) // _WORDS)).reshape(-1)[: size - 1]
    picks = words % np.arange(size, 1, -1, dtype=np.uint32)
    order = list(range(size))
    for i, pick in enumerate(picks.tolist(), 0):
        j = i + pick
        order[i], order[j] = order[j], order[i]
    return order


def choices(generator: Philox, logits: Array, count: int) -> Array:
    """Class indices drawn with probabilities softmax(logits): int64 [batch, count].

    All rows share one stream in sequence, as in TF on one thread.
    """
    batch = logits.shape[0]
    words = generator.blocks(-(-batch * count * 2 // _WORDS)).reshape(-1)
    draws = uniform_float64(words[: batch * count * 2]).reshape(batch, count)
    found = np.empty((batch, count), np.int64)
    finite = np.isfinite(logits)
    for row in range(batch):
        values = logits[row].astype(np.float64)
        top = values[finite[row]].max(initial=-np.inf)
        weights = np.where(finite[row], np.exp(values - top), 0.0)
        cumulative = np.cumsum(weights)
        total = cumulative[-1]
        found[row] = np.searchsorted(cumulative, draws[row] * total, side="right")
    return found
