"""Half the squared length, by Python."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.l2_loss import L2Loss

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 7.5]], np.float32)

CASES = [
    Case(L2Loss(), (X,), lambda t: sum(float(v) ** 2 for v in t.ravel()) / 2),
    Case(L2Loss(), (np.float64(3.0),), 4.5, "scalar"),
]  # fmt: skip
