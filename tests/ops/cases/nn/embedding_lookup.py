"""Rows for tfteach/ops/nn/embedding_lookup.py."""

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.embedding_lookup import ParallelDynamicStitch

ROWS = [np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])]
WHERE = [np.int32([1]), np.int32([2, 0])]

CASES = [
    Case(
        ParallelDynamicStitch(),
        (WHERE, ROWS),
        np.stack([ROWS[1][1], ROWS[0][0], ROWS[1][0]]),
        exact_shape=False,
    )
]
