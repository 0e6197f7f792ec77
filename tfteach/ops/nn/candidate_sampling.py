"""Candidate sampling for sampled losses, with TensorFlow's draws.

A sampler consumes 32-bit words of a Philox generator in sequence; here they are
generated in chunks, so that a batch of candidates takes a few array operations.
Source: core/kernels/range_sampler.cc; core/lib/random/simple_philox.cc,
exact_uniform_int.h, weighted_picker.cc, distribution_sampler.cc.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfteach.ops.random.philox import Philox, Stream, uniform_float32, uniform_float64

Array = np.ndarray[Any, Any]
_LARGEST_INT32 = 2**31 - 1
_TABLE = 1 << 20  # maximum number of classes whose logarithms are cached
_AHEAD, _AHEAD_BLOCKS = 32, 1 << 13  # batches and blocks generated at once


class Words:
    """The words of a generator, in sequence.

    Args:
      generator: their source.
      first: the words of its first blocks, already generated.
    """

    def __init__(self, generator: Philox, first: Array) -> None:
        self._generator = generator
        self._blocks = first.size // 4  # generated so far
        self._left = first

    def peek(self, count: int) -> Array:
        """The next words, without consuming them."""
        missing = count - self._left.size
        if missing > 0:
            blocks = -(-missing // 4) + 16
            more = self._generator.blocks(blocks, self._blocks).reshape(-1)
            self._blocks += blocks
            self._left = np.concatenate((self._left, more))
        return self._left[:count]

    def skip(self, count: int) -> None:
        """Skip the next words."""
        self._left = self._left[count:]

    def doubles(self, count: int) -> Array:
        """Numbers in [0, 1)."""
        found = uniform_float64(self.peek(2 * count))
        self.skip(2 * count)
        return found

    def integers(self, limit: int, count: int, bits: int) -> Array:
        """Integers in [0, limit) from words (or pairs of them) of `bits` bits.

        Numbers that would bias the result towards small ones are rejected and redrawn.
        """
        width = bits // 32
        kind: Any = np.uint64 if width == 2 else np.uint32
        found: Array = np.empty(0, kind)
        if limit & (limit - 1) == 0:
            found = self._wide(count, width) & kind(limit - 1)
            self.skip(count * width)
            return found
        least = kind((2**bits - 1) % limit + 1)
        while found.size < count:
            missing = count - found.size
            drawn = self._wide(missing, width)
            self.skip(missing * width)
            found = np.concatenate((found, drawn[drawn >= least]))
        result: Array = found % kind(limit)
        return result

    def _wide(self, count: int, width: int) -> Array:
        words = self.peek(count * width)
        if width == 1:
            return words
        result: Array = words[0::2] | words[1::2].astype(np.uint64) << np.uint64(32)
        return result


class Drawn(NamedTuple):
    """A batch of candidates."""

    found: Array  # int64 [count]
    tries: int  # the number of draws
    expected: Array  # float32 [count]: each one's expected count


class Batches:
    """The random words of successive batches of candidates.

    Array operations cost about as much for one batch as for many: the words of several
    batches are generated together, and so are candidates that depend on nothing else.

    Args:
      stream: the op's stream.
      reserved: the number of blocks reserved for a batch.
      likely: the number of words it will probably consume.
      draw_ahead: candidates from the words of batches, uint32 [batches, words]; None
        for batches whose words do not suffice.
    """

    def __init__(
        self,
        stream: Stream,
        reserved: int,
        likely: int,
        draw_ahead: Callable[[Array], list[Drawn | None]] | None = None,
    ) -> None:
        self._stream, self._reserved = stream, reserved
        self._blocks = -(-likely // 4)
        self._draw_ahead = draw_ahead
        self._ready: deque[tuple[Words, Drawn | None]] = deque()
        self._lock = threading.Lock()

    def next(self) -> tuple[Words, Drawn | None]:
        """The words of the next batch, and its candidates if they were drawn ahead."""
        with self._lock:
            if not self._ready:
                self._make()
            return self._ready.popleft()

    def _make(self) -> None:
        count = max(1, min(_AHEAD, _AHEAD_BLOCKS // self._blocks))
        generator = self._stream.reserve(count * self._reserved)
        starts = np.arange(count, dtype=np.uint64) * np.uint64(self._reserved)
        offsets = starts[:, None] + np.arange(self._blocks, dtype=np.uint64)
        words = generator.blocks_at(offsets.reshape(-1)).reshape(count, -1)
        ahead = self._draw_ahead
        drawn = [None] * count if ahead is None else ahead(words)
        for i in range(count):
            batch = generator.skipped(i * self._reserved)
            self._ready.append((Words(batch, words[i]), drawn[i]))


class Sampler:
    """A distribution over the classes [0, size)."""

    words_per_draw = 2

    def __init__(self, size: int) -> None:
        self.size = size

    def draw(self, words: Words, count: int) -> Array:
        """Classes: int64 [count]."""
        raise NotImplementedError

    def probability(self, classes: Array) -> Array:
        """The probability of each class: float32 of the same shape."""
        raise NotImplementedError

    def expected(self, classes: Array, count: int, tries: int) -> Array:
        """Expected counts among `count` samples drawn in `tries`: float32."""
        return _expected(self.probability(classes), count, tries)

    def learn(self, classes: Array) -> None:
        """Update the distribution with the true classes of a batch."""

    def ahead(self, count: int) -> Callable[[Array], list[Drawn | None]] | None:
        """A function that draws batches of `count` distinct classes ahead, or None."""
        return None


class Uniform(Sampler):
    """All classes with equal probability."""

    def draw(self, words: Words, count: int) -> Array:
        return words.integers(self.size, count, 64).astype(np.int64)

    def probability(self, classes: Array) -> Array:
        return np.full(classes.shape, 1.0 / self.size, np.float32)


class LogUniform(Sampler):
    """Class k with probability log((k + 2) / (k + 1)) / log(size + 1) (Zipf's law)."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._log_size = np.log(size + 1.0)
        self._log_absent: Array | None = None  # per class, computed on demand

    def draw(self, words: Words, count: int) -> Array:
        return self._classes(words.doubles(count))

    def _classes(self, numbers: Array) -> Array:
        result: Array = (
            np.exp(numbers * self._log_size).astype(np.int64) - 1
        ) % self.size
        return result

    def probability(self, classes: Array) -> Array:
        ratio = (classes + 2.0) / (classes + 1.0)
        result: Array = (np.log(ratio) / self._log_size).astype(np.float32)
        return result

    def expected(self, classes: Array, count: int, tries: int) -> Array:
        size, places = self.size, classes.view(np.uint64)  # negative ones become large
        is_inside = classes.size and places.item(places.argmax()) < size
        if tries == count or size > _TABLE or not is_inside:
            return super().expected(classes, count, tries)
        if self._log_absent is None:
            self._log_absent = np.log1p(-self.probability(np.arange(size)))
        return -np.expm1(np.float32(tries) * self._log_absent.take(classes))

    def ahead(self, count: int) -> Callable[[Array], list[Drawn | None]]:
        def draw(words: Array) -> list[Drawn | None]:
            drawn = self._classes(uniform_float64(words[:, : 2 * _first_draws(count)]))
            return _distinct_rows(drawn, count, self)

        return draw


class LearnedUnigram(Sampler):
    """Proportional to the counts of true classes so far; each class starts with 1."""

    words_per_draw = 1

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._counts = np.ones(size, np.int64)
        self._upto: Array | None = None  # cumulative counts, computed on demand

    def draw(self, words: Words, count: int) -> Array:
        if self._upto is None:
            self._upto = np.cumsum(self._counts)
        picks = words.integers(int(self._upto[-1]), count, 32)
        return np.searchsorted(self._upto, picks, side="right").astype(np.int64)

    def probability(self, classes: Array) -> Array:
        counts = self._counts[classes].astype(np.float32)
        return counts / np.float32(self._counts.sum())

    def learn(self, classes: Array) -> None:
        room = _LARGEST_INT32 - int(self._counts.sum())
        np.add.at(self._counts, classes.reshape(-1)[:room], 1)
        self._upto = None


class FixedUnigram(Sampler):
    """Given weights, by the alias method: one number decides between two classes.

    Args:
      weights: float32 [size].
    """

    def __init__(self, weights: Array) -> None:
        super().__init__(len(weights))
        self._weights = weights
        total = np.float32(0)
        for weight in weights:  # one by one in single precision, as in TF
            total += weight
        self._total = total
        self._threshold, self._other = _aliases(weights)

    def draw(self, words: Words, count: int) -> Array:
        size = self.size
        least = 0 if size & (size - 1) == 0 else (2**32 - 1) % size + 1
        pairs = words.peek(2 * count).reshape(-1, 2)
        if least and bool((pairs[:, 1] < np.uint32(least)).any()):
            drawn = [self._draw_one(words) for _ in range(count)]
            numbers, index = (np.array(part) for part in zip(*drawn, strict=True))
        else:
            words.skip(2 * count)
            numbers = uniform_float32(np.ascontiguousarray(pairs[:, 0]))
            index = (pairs[:, 1] % np.uint32(size)).astype(np.int64)
        return np.where(numbers < self._threshold[index], index, self._other[index])

    def _draw_one(self, words: Words) -> tuple[Any, int]:
        number = uniform_float32(words.peek(1).copy())[0]
        words.skip(1)
        return number, int(words.integers(self.size, 1, 32)[0])

    def probability(self, classes: Array) -> Array:
        is_known = (classes >= 0) & (classes < self.size)
        weights = self._weights[np.where(is_known, classes, 0)] / self._total
        return np.where(is_known, weights, np.float32(0))


def _aliases(weights: Array) -> tuple[Array, Array]:
    """For each class the probability of keeping its share, and its alias."""
    size = len(weights)
    share = (weights * np.float32(size)).astype(np.float64)
    share /= weights.astype(np.float64).sum()
    threshold, other = share.tolist(), [-1] * size
    low = [i for i in range(size) if threshold[i] < 1.0]
    high = [i for i in range(size) if not threshold[i] < 1.0]
    while low and high:
        poor, rich = low.pop(), high.pop()
        other[poor] = rich
        threshold[rich] -= 1.0 - threshold[poor]
        (low if threshold[rich] < 1.0 else high).append(rich)
    for i in low + high:  # 1, up to rounding
        threshold[i], other[i] = 1.0, -1
    return np.array(threshold, np.float32), np.array(other, np.int64)


def sample(
    sampler: Sampler,
    batch: tuple[Words, Drawn | None],
    count: int,
    unique: bool,
    true: Array,
) -> tuple[Array, Array, Array]:
    """A batch of candidates.

    Args:
      sampler: the distribution.
      batch: the random words of this batch, and candidates if they were drawn ahead.
      count: the number of candidates.
      unique: whether they must be distinct.
      true: int64 array of the true classes.

    Returns:
      The candidates, int64 [count]; the expected counts of each true class and of each
      candidate among them, float32 arrays.
    """
    words, drawn = batch
    if drawn is None:
        if unique:
            found, tries = _distinct(sampler, words, count)
        else:
            found, tries = sampler.draw(words, count), count
        drawn = Drawn(found, tries, sampler.expected(found, count, tries))
    of_true = sampler.expected(true, count, drawn.tries)
    return drawn.found, of_true, drawn.expected


def _first_draws(count: int) -> int:
    """The number of draws to start with for `count` distinct classes."""
    return count + count // 2 + 8


def _distinct(sampler: Sampler, words: Words, count: int) -> tuple[Array, int]:
    """The first `count` distinct classes drawn, and the number of draws."""
    drawn = sampler.draw(words, _first_draws(count))
    while True:
        _, first = np.unique(drawn, return_index=True)
        if first.size >= count:
            first.sort()
            return drawn[first[:count]], int(first[count - 1]) + 1
        drawn = np.concatenate((drawn, sampler.draw(words, drawn.size)))


def _distinct_rows(drawn: Array, count: int, sampler: Sampler) -> list[Drawn | None]:
    """The first `count` distinct classes of each row; None where there are fewer."""
    rows = np.arange(len(drawn))[:, None]
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered = drawn[rows, order]
    is_first = np.ones(drawn.shape, bool)
    is_first[rows, order[:, 1:]] = ordered[:, 1:] != ordered[:, :-1]
    numbers = np.cumsum(is_first, axis=1)
    enough = numbers[:, -1] >= count
    tries = np.sum(numbers < count, axis=1)[enough] + 1
    found = drawn[is_first & (numbers <= count) & enough[:, None]].reshape(-1, count)
    p = sampler.probability(found)
    expected = _chance(p, tries[:, None])
    expected[tries == count] = _expected(p[tries == count], count, count)
    # Copies, so that keeping one batch alive does not keep all of them.
    full = (
        Drawn(classes.copy(), taken, often.copy())
        for classes, taken, often in zip(found, tries.tolist(), expected, strict=True)
    )
    return [next(full) if is_enough else None for is_enough in enough.tolist()]


def _expected(p: Array, count: int, tries: int) -> Array:
    """Expected count of a class among `count` candidates; at most 1 if unique."""
    return p * np.float32(count) if tries == count else _chance(p, tries)


def _chance(p: Array, tries: Any) -> Array:
    """The probability that a class is drawn at least once in `tries` draws."""
    return -np.expm1(np.float32(tries) * np.log1p(-p))
