"""Scattered updates; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, i32
from tfteach.ops.array.scatter_nd import (
    ScatterNd,
    TensorScatterAdd,
    TensorScatterSub,
    TensorScatterUpdate,
)

ROWS = np.array([[3, 1.5], [2, -5], [1, 4], [0.5, 7], [6, 2.5]], np.float32)

CASES = [
    Case(
        ScatterNd(),
        (i32([2], [0], [2]), f32(3, 2), i32(4, 2)),
        [[2.5, 3.5], [0, 0], [0.5 + 4.5, 1.5 + 5.5], [0, 0]],
    ),
    Case(
        ScatterNd(),
        (i32([0, 1], [2, 0]), f32(2), i32(3, 2)),
        [[0, 0.5], [0, 0], [1.5, 0]],
        "elements",
    ),
    Case(
        TensorScatterUpdate(),
        (ROWS, i32([1], [3]), f32(2, 2)),
        [[3, 1.5], [0.5, 1.5], [1, 4], [2.5, 3.5], [6, 2.5]],
    ),
    Case(
        TensorScatterAdd(),
        (ROWS, i32([1], [1]), f32(2, 2)),
        [[3, 1.5], [5, 0], [1, 4], [0.5, 7], [6, 2.5]],
    ),
    Case(
        TensorScatterSub(),
        (ROWS, i32([1], [1]), f32(2, 2)),
        [[3, 1.5], [-1, -10], [1, 4], [0.5, 7], [6, 2.5]],
    ),
]  # fmt: skip
