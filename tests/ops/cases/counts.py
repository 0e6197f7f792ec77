"""Counts, orders and chosen segments, one element at a time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import int64
from tfteach.ops.array.bincount_histogram import (
    Bincount,
    HistogramFixedWidth,
    UnravelIndex,
)
from tfteach.ops.array.sort_unique import UniqueV2, UniqueWithCountsV2
from tfteach.ops.sparse import sparse_segment

NUMBERS = np.int32([[3, 1, 0], [1, 1, 7]])
NONE = np.zeros(0, np.int32)
VALUES = np.float32([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0, 3.25])
ROWS = np.int32([[1, 0, 0], [2, 0, 0], [1, 0, 0], [0, 5, 5]])
NO_AXIS = np.zeros(0, np.int64)

DATA = np.float64([[1, 2], [3, -4], [5, 6], [-7, 8], [0.5, 9]])
INDICES = np.int32([4, 0, 1, 1, 2, 4])
IDS = np.int32([0, 0, 2, 2, 2, 3])


def segments(power: float, count: int | None = None) -> Any:
    def apply(data: Any, indices: Any, ids: Any, *_: Any) -> Any:
        rows = int(ids[-1]) + 1 if count is None else count
        found = np.zeros((rows, *data.shape[1:]))
        for index, i in zip(indices, ids, strict=True):
            found[i] += data[index] / Counter(ids.tolist())[i] ** power
        return found

    return apply


def shares(power: float) -> Any:
    def apply(grad: Any, indices: Any, ids: Any, rows: Any) -> Any:
        found = np.zeros((int(rows), *grad.shape[1:]))
        for index, i in zip(indices, ids, strict=True):
            found[index] += grad[i] / Counter(ids.tolist())[i] ** power
        return found

    return apply


def sparse_rows() -> list[Case]:
    found = []
    for name, power in (("Sum", 0.0), ("Mean", 1.0), ("SqrtN", 0.5)):
        plain = getattr(sparse_segment, f"SparseSegment{name}")
        counted = getattr(sparse_segment, f"SparseSegment{name}WithNumSegments")
        inputs = DATA, INDICES, IDS
        found += [
            Case(plain(), inputs, segments(power), exact_shape=False),
            Case(plain(), (DATA, NONE, NONE), DATA[:0], "none", exact_shape=False),
            Case(counted(), (*inputs, np.int32(6)), segments(power, 6)),
        ]
        if power:
            share = getattr(sparse_segment, f"SparseSegment{name}Grad")
            inputs = DATA[:4], INDICES, IDS, np.int32(5)
            found.append(Case(share(), inputs, shares(power)))
    return found


CASES = [
    Case(Bincount(), (NUMBERS, np.int32(9), NONE), [1, 3, 0, 1, 0, 0, 0, 1, 0]),
    Case(Bincount(), (NUMBERS, np.int32(2), np.zeros(0)), [1, 3], "less"),
    Case(Bincount(), (NUMBERS[0], np.int32(4), np.float32([0.5, 2, 3])),
         [3, 2, 0, 0.5], "weights"),
    Case(Bincount(), (NONE, np.int32(0), NONE), [], "empty"),
    Case(HistogramFixedWidth(), (VALUES, np.float32([0, 5]), np.int32(5)),
         [2, 1, 1, 1, 2]),
    Case(HistogramFixedWidth(int64), (NUMBERS, np.int32([1, 7]), np.int32(3)),
         [4, 1, 1], "int"),
    Case(UnravelIndex(), (np.int32([2, 5, 7]), np.int32([3, 4])),
         [[0, 1, 1], [2, 1, 3]]),
    Case(UnravelIndex(), (np.int64(23), np.int64([2, 3, 4])), [1, 2, 3], "scalar"),
    Case(UnravelIndex(), (np.int32([-1, 9]), np.int32([3, 3])), [[0, 0], [-1, 0]],
         "outside"),  # real TensorFlow's answer
    Case(UniqueV2(), (ROWS, np.int64([0])), (ROWS[[0, 1, 3]], [0, 1, 0, 2]),
         exact_shape=False),
    Case(UniqueV2(int64), (ROWS, np.int32([-1])), (ROWS[:, :2], [0, 1, 1]), "axis",
         exact_shape=False),
    Case(UniqueWithCountsV2(), (np.int32([3, 1, 3]), NO_AXIS),
         ([3, 1], [0, 1, 0], [2, 1]), exact_shape=False),
    Case(UniqueWithCountsV2(), (ROWS, np.int64([0])),
         (ROWS[[0, 1, 3]], [0, 1, 0, 2], [2, 1, 1]), "rows", exact_shape=False),
    *sparse_rows(),
]  # fmt: skip
