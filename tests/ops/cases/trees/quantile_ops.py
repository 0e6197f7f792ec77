"""Buckets of values and summaries of features: by loops over boundaries and values."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.trees.quantile_ops import (
    BoostedTreesBucketize,
    BoostedTreesMakeQuantileSummaries,
)

F, I32 = np.float32, np.int32
VALUES = [F([-1, 0, 0.5, 1, 7]), F([3, 3, 2, 9, 2])]
LIMITS = [F([0, 1]), F([2, 3, 5])]


def buckets(values, limits):
    found = []
    for column, bounds in zip(values, limits, strict=True):
        first = [[i for i, b in enumerate(bounds) if b >= v] for v in column]
        found.append(I32([(over or [max(len(bounds) - 1, 0)])[0] for over in first]))
    return tuple(found)


def summaries(values, weights, epsilon):
    """Those of so few values are exact."""
    found = []
    for column in values:
        each = [*weights] * (len(column) if len(weights) == 1 else 1)
        rows, rank = [], 0
        for value in sorted({v for v, w in zip(column, each, strict=True) if w > 0}):
            weight = sum(w for v, w in zip(column, each, strict=True) if v == value)
            rows.append((value, weight, rank, rank + weight))
            rank += weight
        found.append(F(rows))
    return tuple(found)


CASES = [
    Case(BoostedTreesBucketize(2), (VALUES, LIMITS), buckets),
    Case(BoostedTreesBucketize(1), ([VALUES[0]], [F([])]), buckets, "no boundaries"),
    Case(BoostedTreesMakeQuantileSummaries(2), (VALUES, F([1, 2, 3, 4, 5]), F(0.1)),
         summaries, exact_shape=False),
    Case(BoostedTreesMakeQuantileSummaries(1), ([VALUES[1]], F([0.5]), F(0.1)),
         summaries, "one weight", exact_shape=False),
]  # fmt: skip
