"""Levenshtein distances of sparse sequences."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.sparse.edit_distance import EditDistance

CASES = [
    Case(
        EditDistance(),
        (
            np.int64([[0, 0], [0, 1], [0, 2], [1, 0]]),
            np.int64([1, 2, 3, 4]),
            np.int64([2, 3]),
            np.int64([[0, 0], [0, 1]]),
            np.int64([1, 3]),
            np.int64([2, 2]),
        ),
        np.float32([0.5, np.inf]),
    ),
    Case(
        EditDistance(False),
        (
            np.int64([[0, 0], [1, 0]]),
            np.int64([1, 4]),
            np.int64([2, 1]),
            np.int64([[0, 0], [0, 1]]),
            np.int64([2, 3]),
            np.int64([2, 2]),
        ),
        np.float32([2, 1]),
        "counted",
    ),
]  # fmt: skip
