"""Reductions by segment, by plain loops over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, i32
from tfteach.ops.array.segment_ops import (
    SegmentMax,
    SegmentMean,
    SegmentMin,
    SegmentProd,
    SegmentSum,
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
    UnsortedSegmentSum,
)

ROWS = np.array([[3, 1.5], [2, -5], [1, 4], [0.5, 7], [6, 2.5]], np.float32)
WIDE = np.random.default_rng(3).normal(size=(7, 6)).astype(np.float32)
IDS = i32(2, 0, -1, 2, 0)
LOWEST = np.finfo(np.float32).min
HIGHEST = np.finfo(np.float32).max


def segment_loop(join: Any, start: float) -> Any:
    """Reduce rows by id with plain loops; negative ids drop their rows."""

    def apply(data: Any, ids: Any, count: Any = None) -> Any:
        rows = int(ids.max()) + 1 if count is None else int(count)
        found: list[Any] = [None] * rows
        for row, i in zip(data.tolist(), ids.tolist(), strict=True):
            if i >= 0:
                old = found[i]
                found[i] = (
                    row
                    if old is None
                    else [join(a, b) for a, b in zip(old, row, strict=True)]
                )
        width = data.shape[1]
        return [[start] * width if row is None else row for row in found]

    return apply


def add(a: float, b: float) -> float:
    return a + b


def times(a: float, b: float) -> float:
    return a * b


SORTED = i32(0, 0, 2, 2, 4)

CASES = [
    Case(SegmentSum(), (ROWS, SORTED), segment_loop(add, 0), exact_shape=False),
    Case(
        SegmentMean(),
        (ROWS, SORTED),
        [[2.5, -1.75], [0, 0], [0.75, 5.5], [0, 0], [6, 2.5]],
        exact_shape=False,
    ),
    Case(
        SegmentMean(),
        (i32(1, 2, 4, -3), i32(0, 0, 0, 1)),
        [2, -3],
        "int",
        exact_shape=False,
    ),
    Case(SegmentMax(), (ROWS, SORTED), segment_loop(max, 0), exact_shape=False),
    Case(SegmentMin(), (ROWS, SORTED), segment_loop(min, 0), exact_shape=False),
    Case(
        SegmentProd(),
        (ROWS, SORTED),
        segment_loop(times, 1),
        exact_shape=False,
        gradient=False,
    ),
    Case(UnsortedSegmentSum(), (ROWS, IDS, np.int32(4)), segment_loop(add, 0)),
    Case(
        UnsortedSegmentSum(),
        (WIDE, i32(3, 1, 3, 3, 0, 1, -1), np.int32(5)),
        segment_loop(add, 0),
        "wide",
    ),
    Case(
        UnsortedSegmentSum(),
        (WIDE, i32(3, 1, 6, 2, 0, 4, 5), np.int32(9)),
        segment_loop(add, 0),
        "distinct",
    ),
    Case(
        UnsortedSegmentSum(),
        (f32(2, 3), i32([1, 0, 1], [1, 1, -1]), np.int32(2)),
        [1.5, 0.5 + 2.5 + 3.5 + 4.5],
        "matrix of ids",
    ),
    Case(
        UnsortedSegmentSum(),
        (i32([5], [2**30], [7]), i32(1, 1, 0), np.int32(2)),
        [[7], [2**30 + 5]],
        "int",
    ),
    Case(UnsortedSegmentMax(), (ROWS, IDS, np.int32(4)), segment_loop(max, LOWEST)),
    Case(UnsortedSegmentMin(), (ROWS, IDS, np.int32(4)), segment_loop(min, HIGHEST)),
    Case(UnsortedSegmentProd(), (ROWS, IDS, np.int32(4)), segment_loop(times, 1)),
    Case(
        UnsortedSegmentProd(),
        (i32([0], [3], [4]).astype(np.float32), i32(0, 0, 1), np.int32(2)),
        [[0], [4]],
        "a zero",
    ),
]  # fmt: skip
