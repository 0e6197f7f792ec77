"""Bucketize; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.math.bucketize import Bucketize

LIMITS = (-1.0, 0.5, 0.5, 3.0)
ODD = np.array([np.nan, np.inf, -np.inf, 0.1], np.float32)

CASES = [
    Case(
        Bucketize(LIMITS),
        (np.array([[-2.0, -1.0, 0.25], [0.5, 3.0, 9.0]], np.float32),),
        [[0, 1, 1], [3, 4, 4]],
        gradient=False,
    ),
    Case(Bucketize(LIMITS), (np.array([-5, 0, 3]),), [0, 1, 4], "ints", False),
    Case(Bucketize((0.1,)), (np.array([0.1, 0.1 + 1e-7]),), [0, 1], "doubles", False),
    Case(Bucketize((0.1,)), (ODD,), [1, 1, 0, 1], "not finite", False),
    Case(Bucketize((2.0**24,)), (np.array([2**24 - 1, 2**24 + 1]),), [0, 1], "large",
         False),
    Case(Bucketize(()), (np.zeros([0, 2], np.float32),), np.zeros([0, 2]), "empty",
         False),
]  # fmt: skip
