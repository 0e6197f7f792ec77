"""Checked values: what is finite passes unchanged."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.debug.check_numerics import CheckNumerics

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
EMPTY = np.zeros([0, 3], np.float64)

CASES = [
    Case(CheckNumerics("message"), (X,), X),
    Case(CheckNumerics(""), (EMPTY,), EMPTY, "empty"),
]
