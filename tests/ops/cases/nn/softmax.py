"""Softmax and its logarithm, in plain Python."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.softmax import LogSoftmax, Softmax

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 7.5]], np.float32)
DEEP = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8 - 1


def softmax(rows: Any) -> Any:
    flat = [[float(v) for v in row] for row in rows.reshape(-1, rows.shape[-1])]
    sums = [sum(exp(v) for v in row) for row in flat]
    return np.reshape(
        [[exp(v) / s for v in row] for row, s in zip(flat, sums, strict=True)],
        rows.shape,
    )


CASES = [
    Case(Softmax(), (X,), softmax),
    Case(Softmax(), (DEEP,), softmax, "deep"),
    Case(Softmax(), (np.float32([800.0, 800.0]),), [0.5, 0.5], "large"),
    Case(Softmax(), (np.zeros((3, 0), np.float32),), np.zeros((3, 0)), "empty"),
    Case(LogSoftmax(), (X,), lambda x: np.log(softmax(x))),
    Case(LogSoftmax(), (np.float64([0.0, 900.0]),), [-900.0, 0.0], "large"),
]  # fmt: skip
