"""Coordinates of flat indices; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.array.unravel_index import UnravelIndex

CASES = [
    Case(UnravelIndex(), (np.int32([2, 5, 7]), np.int32([3, 4])),
         [[0, 1, 1], [2, 1, 3]]),
    Case(UnravelIndex(), (np.int64(23), np.int64([2, 3, 4])), [1, 2, 3], "scalar"),
    Case(UnravelIndex(), (np.int32([-1, 9]), np.int32([3, 3])), [[0, 0], [-1, 0]],
         "outside"),  # real TensorFlow's answer,
]  # fmt: skip
