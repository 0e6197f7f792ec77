"""Elements gathered by their coordinates."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import Z, i32
from tfteach.ops.array.gather_nd import GatherNd

ROWS = np.array([[3, 1.5], [2, -5], [1, 4], [0.5, 7], [6, 2.5]], np.float32)

CASES = [
    Case(GatherNd(), (Z, i32([[3, 1], [0, 2]])), [[Z[3, 1], Z[0, 2]]]),
    Case(
        GatherNd(), (ROWS, i32([4], [4])), [[6, 2.5], [6, 2.5]], "rows", gradient=False
    ),
    Case(GatherNd(), (ROWS, np.zeros((2, 0), np.int32)), [ROWS, ROWS], "whole"),
]  # fmt: skip
