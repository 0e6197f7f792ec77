"""Constant arrays; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, i32
from tfteach.ops.core.fill import Fill, OnesLike, ZerosLike

TEXT = np.array([["a", "bc"], ["", "d"]], object)

CASES = [
    Case(Fill(), (i32(2, 3), np.float32(7)), [[7, 7, 7], [7, 7, 7]]),
    Case(ZerosLike(), (X,), [[0, 0, 0], [0, 0, 0]]),
    Case(ZerosLike(), (TEXT,), np.full((2, 2), b"", object), "text"),
    Case(OnesLike(), (X,), [[1, 1, 1], [1, 1, 1]]),
]  # fmt: skip
