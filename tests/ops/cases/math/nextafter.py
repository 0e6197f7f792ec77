"""The next number, by NumPy."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.math.nextafter import NextAfter

U = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.5]])
V = np.array([[0.25, 5.0, 1.0], [-1.0, 2.0, 6.0]])

CASES = [
    Case(NextAfter(), (U, V[0]), np.nextafter),
]  # fmt: skip
