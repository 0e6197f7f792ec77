"""Sequences of numbers; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.op import OPS

CASES = [
    Case(OPS["Range"](), (np.int32(3), np.int32(18), np.int32(4)), [3, 7, 11, 15]),
    Case(OPS["Range"](), (np.int64(5), np.int64(-2), np.int64(-3)), [5, 2, -1],
         id="down"),
    Case(OPS["Range"](), (np.float32(0), np.float32(1), np.float32(0.25)),
         [0, 0.25, 0.5, 0.75], id="float"),
    Case(OPS["Range"](), (np.int32(2), np.int32(2), np.int32(1)), [], id="empty"),
    Case(OPS["LinSpace"](), (np.float32(1), np.float32(2), np.int32(5)),
         [1, 1.25, 1.5, 1.75, 2]),
    Case(OPS["LinSpace"](), (np.float64(1), np.float64(2), np.int64(1)), [1], id="one"),
]  # fmt: skip
