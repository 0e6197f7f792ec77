"""Sums of lists, and clipping; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.element_wise import X
from tfteach.ops.math.add_n import AccumulateNV2, AddN, ClipByValue

CASES = [
    Case(AddN(), ([X, X + 1, -X],), lambda arrays: arrays[0] + 1),
    Case(AddN(), ([X],), X, id="one"),
    Case(AccumulateNV2((2, 3)), ([X, X + 1, -X],), lambda arrays: arrays[0] + 1),
    Case(
        ClipByValue(), (X, np.float32(-1), np.float32(1)),
        [[0.5, -1, 1], [1, -0.25, 1]],
    ),
]  # fmt: skip
