"""Parameters of branches that do not run."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import float32, int64
from tfteach.ops.functions.control_flow import FakeParam

CASES = [
    Case(FakeParam(float32, (2, 3)), (), np.zeros((2, 3), np.float32)),
    Case(FakeParam(int64, ()), (), np.int64(0), "scalar"),
    Case(FakeParam(float32, (0, 2)), (), np.zeros((0, 2), np.float32), "empty"),
]
