"""One-hot rows; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import i32
from tfteach.ops.array.one_hot import OneHot

CASES = [
    Case(
        OneHot(),
        (i32(0, -1, 5, 2), np.int32(3), np.float32(4), np.float32(1)),
        [[4, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 4]],
        gradient=False,
    ),
    Case(
        OneHot(0),
        (i32([0, -1], [1, 2]), np.int32(3), np.int32(7), np.int32(1)),
        [[[7, 1], [1, 1]], [[1, 1], [7, 1]], [[1, 1], [1, 7]]],
        "first axis",
    ),
]
