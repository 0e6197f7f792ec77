"""Formatted values; the answer is written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.debug.print_assert import StringFormat

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)

CASES = [
    Case(
        StringFormat("x {} y {}!", "{}"),
        ([X, np.arange(9)],),
        np.array(b"x [[0.5 -1.5 2]\n [3 -0.25 1]] y [0 1 2 ... 6 7 8]!", object),
    ),
]  # fmt: skip
