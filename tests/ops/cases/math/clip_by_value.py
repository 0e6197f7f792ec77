"""Clipping; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.element_wise import X
from tfteach.ops.math.clip_by_value import ClipByValue

CASES = [
    Case(
        ClipByValue(), (X, np.float32(-1), np.float32(1)),
        [[0.5, -1, 1], [1, -0.25, 1]],
    ),
]  # fmt: skip
