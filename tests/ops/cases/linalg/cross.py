"""Cross products, by NumPy."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.linalg.cross import Cross

U = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.5]])
V = np.array([[0.25, 5.0, 1.0], [-1.0, 2.0, 6.0]])

CASES = [
    Case(Cross(), (U, V), np.cross),
    Case(Cross(), (np.int32([1, 2, 3]), np.int32([4, 6, 5])), [-8, 7, -2], "int"),
]  # fmt: skip
