"""Counts and histograms, one element at a time."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import int64
from tfteach.ops.array.bincount_histogram import Bincount, HistogramFixedWidth

NUMBERS = np.int32([[3, 1, 0], [1, 1, 7]])
NONE = np.zeros(0, np.int32)
VALUES = np.float32([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0, 3.25])

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
]  # fmt: skip
