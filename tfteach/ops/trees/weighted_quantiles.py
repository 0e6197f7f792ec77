"""Approximate quantiles of a stream of weighted values.

A summary lists some of the values in ascending order, each with its weight and the
bounds of its rank.  Summaries merge without loss; compressing one keeps every rank
within a fraction epsilon of the total weight.  A stream holds a summary for each power
of two of the blocks seen so far, so that its memory grows with their logarithm.

Source: core/kernels/boosted_trees/quantiles; Q. Zhang, W. Wang, "A Fast Algorithm for
Approximate Quantiles in High Speed Data Streams", 2007; T. Chen, C. Guestrin, "XGBoost:
A Scalable Tree Boosting System", 2016, for weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# The columns of a summary, an array of shape [entries, 4].
VALUE, WEIGHT, MIN_RANK, MAX_RANK = range(4)

Summary = np.ndarray[Any, Any]
EMPTY: Summary = np.zeros((0, 4), np.float32)


def summary_of(values: Any, weights: Any) -> Summary:
    """The exact summary of values; those whose weight is not positive are left out."""
    used = ~(weights <= 0)
    values, weights = values[used], weights[used]
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    distinct, start = np.unique(values, return_index=True)
    if not distinct.size:
        return EMPTY
    sums = np.add.reduceat(weights, start)
    after = np.cumsum(sums, dtype=np.float32)
    before = np.concatenate([np.zeros(1, np.float32), after[:-1]])
    return np.stack([distinct, sums, before, after], axis=1).astype(np.float32)


def _next_min_rank(summary: Summary) -> Any:
    """The least rank that the next larger value may have."""
    return summary[:, MIN_RANK] + summary[:, WEIGHT]


def _previous_max_rank(summary: Summary) -> Any:
    """The largest rank that the next smaller value may have."""
    return summary[:, MAX_RANK] - summary[:, WEIGHT]


def merged(a: Summary, b: Summary) -> Summary:
    """The summary of both streams; equal values become one entry."""
    if not len(a) or not len(b):
        return a if len(a) else b
    values = np.unique(np.concatenate([a[:, VALUE], b[:, VALUE]]))
    parts = [_at(summary, values) for summary in (a, b)]
    return np.stack(
        [values, *(x + y for x, y in zip(*parts, strict=True))], axis=1
    ).astype(np.float32)


def _at(summary: Summary, values: Any) -> list[Any]:
    """Weights and bounds of ranks that one summary gives to all values of a merge."""
    own = summary[:, VALUE]
    above = np.searchsorted(own, values)
    is_own = np.zeros(len(values), bool)
    is_own[above < len(own)] = own[above[above < len(own)]] == values[above < len(own)]
    least = np.concatenate([np.zeros(1, np.float32), _next_min_rank(summary)])
    most = np.concatenate([_previous_max_rank(summary), summary[-1:, MAX_RANK]])
    index = np.minimum(above, len(own) - 1)
    return [
        np.where(is_own, summary[index, WEIGHT], np.float32(0)),
        np.where(is_own, summary[index, MIN_RANK], least[above]),
        np.where(is_own, summary[index, MAX_RANK], most[above]),
    ]


def compressed(summary: Summary, size: int, epsilon: float) -> Summary:
    """At most about `size` entries, whose ranks stay within `epsilon`.

    Entries are dropped evenly, and only where the gap that arises between the bounds of
    neighbouring ranks stays below max(1 / size, epsilon) of the total weight.
    """
    size = max(size, 2)
    count = len(summary)
    if count <= size:
        return summary
    limit = float(summary[-1, MAX_RANK]) * max(1.0 / size, epsilon)
    next_min = _next_min_rank(summary).tolist()
    previous_max = _previous_max_rank(summary).tolist()
    kept, read, credit = [0], 0, 0
    while read + 1 < count:
        following = read + 1
        start = next_min[read]
        while (
            following < count
            and credit < count
            and previous_max[following] - start <= limit
        ):
            credit += size
            following += 1
        read = read + 1 if read == following - 1 else following - 1
        kept.append(read)
        credit -= count
    if kept[-1] + 1 < count:
        kept.append(count - 1)
    return summary[kept]


def approximation_error(summary: Summary) -> float:
    """The largest uncertainty of a rank, as a fraction of the total weight."""
    if not len(summary):
        return 0.0
    within = summary[:, MAX_RANK] - summary[:, MIN_RANK] - summary[:, WEIGHT]
    between = _previous_max_rank(summary)[1:] - _next_min_rank(summary)[:-1]
    gap = max(within.max(), between.max(initial=0), 0)
    return float(gap / summary[-1, MAX_RANK])


def boundaries(summary: Summary, number: int) -> Any:
    """Distinct values that divide the stream into about `number` parts."""
    if not len(summary):
        return np.zeros(0, np.float32)
    epsilon = approximation_error(summary) + 1.0 / number
    return np.unique(compressed(summary, number, epsilon)[:, VALUE])


def quantiles(summary: Summary, number: int) -> Any:
    """The values at ranks 0, 1/number, ..., 1: `number` + 1 of them, at least 3."""
    if not len(summary):
        return np.zeros(0, np.float32)
    number = max(number, 2)
    total = summary[-1, MAX_RANK]
    doubled = summary[:, MIN_RANK] + summary[:, MAX_RANK]
    next_min, previous_max = _next_min_rank(summary), _previous_max_rank(summary)
    found, current = [], 0
    for rank in range(number + 1):
        target = np.float32(2) * (np.float32(rank) * total / np.float32(number))
        following = current + 1
        while following < len(summary) and target >= doubled[following]:
            following += 1
        current = following - 1
        is_next = (
            following < len(summary)
            and target >= next_min[current] + previous_max[following]
        )
        found.append(summary[following if is_next else current, VALUE])
    return np.array(found, np.float32)


class QuantileStream:
    """The summary of a stream, in levels.

    Args:
      epsilon: the error of ranks, as a fraction of the total weight.
      max_elements: the number of values for which this holds.

    Attributes:
      boundaries: the values that `flush` found, or that were restored.
    """

    def __init__(self, epsilon: float, max_elements: int) -> None:
        self.epsilon = epsilon
        levels, block = 1, 2
        while (1 << levels) * block < max_elements:
            block = math.ceil(levels / epsilon) + 1
            levels += 1
        self.block_size = block
        self.levels: list[Summary] = []
        self.boundaries: Any = np.zeros(0, np.float32)

    def push(self, summary: Summary) -> None:
        """Add a summary of further values."""
        summary = compressed(summary, self.block_size, self.epsilon)
        if not len(summary):
            return
        level = 0
        while True:
            if level == len(self.levels):
                self.levels.append(EMPTY)
            is_free = not len(self.levels[level])
            summary = merged(summary, self.levels[level])
            self.levels[level] = EMPTY
            if len(summary) <= self.block_size + 1 or is_free:
                self.levels[level] = summary
                return
            summary = compressed(summary, self.block_size, self.epsilon)
            level += 1

    def drain(self) -> Summary:
        """The summary of all values so far; the stream starts anew."""
        found = EMPTY
        for summary in self.levels:
            found = merged(found, summary)
        self.levels = []
        return found


def summarized(values: Any, weights: Any, epsilon: float) -> Summary:
    """The summary of one batch, built from blocks; ranks err by at most epsilon."""
    most = len(values) + 1
    stream = QuantileStream(epsilon, most)
    buffer = min(2 * stream.block_size, most)
    used = np.flatnonzero(~(weights <= 0))
    for start in range(0, len(used), buffer):
        block = used[start : start + buffer]
        stream.push(summary_of(values[block], weights[block]))
    return stream.drain()
