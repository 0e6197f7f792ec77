"""Element-wise arithmetic."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.math import Add

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
ROW = np.array([1.0, -2.0, 0.5], np.float32)

CASES = [
    Case(Add(), (X, ROW), lambda x, y: [[a + b for a, b in zip(r, y)] for r in x]),
    Case(Add(), (np.int32(3), np.int32(4)), 7, id="int-scalars"),
]
