"""Choices by a condition; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, Y
from tfteach.ops.array.where_select import Select, SelectV2, Where

CASES = [
    Case(
        Where(),
        (np.array([[0, 1.5], [np.nan, 0]], np.float32),),
        [[0, 1], [1, 0]],
        exact_shape=False,
        gradient=False,
    ),
    Case(Select(), (X > 2, X, -X), [[-0.5, -1.5, 2.5], [3.5, 4.5, 5.5]]),
    Case(
        Select(),
        (np.array([True, False]), X, -X),
        [[0.5, 1.5, 2.5], [-3.5, -4.5, -5.5]],
        "rows",
    ),
    Case(Select(), (np.array(False), X, -X), -X, "scalar"),
    Case(SelectV2(), (Y > 1, X, np.float32(9)), [[9, 9, 9], [3.5, 4.5, 5.5]]),
]  # fmt: skip
