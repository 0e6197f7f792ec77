"""Targets among the largest predictions; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.array.in_top_k import InTopK, InTopKV2

SCORES = np.array(
    [[0.1, 0.5, 0.4], [0.3, 0.3, 0.3], [1.0, 2.0, np.nan], [1.0, np.inf, 2.0]],
    np.float32,
)
TARGETS = np.array([2, 0, 1, 7])
IN_TOP = [True, True, False, False]
TARGETS_32 = TARGETS.astype(np.int32)

CASES = [
    Case(InTopKV2(), (SCORES, TARGETS, np.int64(2)), IN_TOP, gradient=False),
    Case(InTopKV2(), (SCORES, TARGETS_32, np.int32(0)), [False] * 4, "none",
         gradient=False),
    Case(InTopK(2), (SCORES, TARGETS), IN_TOP, gradient=False),
]  # fmt: skip
