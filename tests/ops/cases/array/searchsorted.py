"""Binary search; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32
from tfteach.ops.array.searchsorted import LowerBound, UpperBound

CASES = [
    Case(
        LowerBound(),
        (f32(1, 5), np.array([[-1, 1.5, 2, 9]], np.float32)),
        [[0, 1, 2, 5]],
        gradient=False,
    ),
    Case(
        UpperBound(),
        (f32(1, 5), np.array([[-1, 1.5, 2, 9]], np.float32)),
        [[0, 2, 2, 5]],
        gradient=False,
    ),
]  # fmt: skip
