"""Partitions and stitches; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, i32
from tfteach.ops.array.dynamic_partition import DynamicPartition, DynamicStitch

ROWS = np.array([[3, 1.5], [2, -5], [1, 4], [0.5, 7], [6, 2.5]], np.float32)

CASES = [
    Case(
        DynamicPartition(3),
        (ROWS, i32(2, 0, 2, 0, 0)),
        (ROWS[[1, 3, 4]], np.zeros((0, 2)), ROWS[[0, 2]]),
        exact_shape=False,
    ),
    Case(
        DynamicStitch(),
        ([i32(3, 0), i32([1, 0])], [f32(2, 2), f32(1, 2, 2) + 9]),
        [[11.5, 12.5], [9.5, 10.5], [0, 0], [0.5, 1.5]],
        exact_shape=False,
        gradient=False,
    ),  # of equal indices TF gives both the gradient
    Case(
        DynamicStitch(),
        ([i32(3, 0), i32(1, 2)], [f32(2, 2), f32(2, 2) + 9]),
        [[2.5, 3.5], [9.5, 10.5], [11.5, 12.5], [0.5, 1.5]],
        "distinct",
        exact_shape=False,
    ),
]  # fmt: skip
