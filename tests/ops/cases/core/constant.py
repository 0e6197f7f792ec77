"""Constants."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import float32
from tfteach.ops.core.constant import Const

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)

CASES = [
    Case(Const(X, float32), (), [[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]]),
]
