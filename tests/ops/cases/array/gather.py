"""Gathered rows and elements, by indexing in loops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import Z, i32, looped
from tfteach.ops.array.gather import Gather, GatherV2

ROWS = np.array([[3, 1.5], [2, -5], [1, 4], [0.5, 7], [6, 2.5]], np.float32)

CASES = [
    Case(Gather(), (ROWS, i32([1], [4])), [[[2, -5]], [[6, 2.5]]], gradient=False),
    Case(
        GatherV2(),
        (ROWS, i32([1, 1, 0], [4, 0, 2]), np.int32(0)),
        lambda r, i, _: [[r[k].tolist() for k in row] for row in i],
        gradient=False,
    ),
    Case(
        GatherV2(),
        (Z, i32(2, 0, 2, 1), np.int32(1)),
        lambda z, i, _: looped(lambda a, b, c: z[a, i[b], c], 4, 4, 5),
        "axis 1",
    ),
    Case(GatherV2(), (Z, np.int32(2), np.int32(-1)), Z[:, :, 2], "one"),
    Case(
        GatherV2(1),
        (Z, i32([4, 0], [1, 1], [2, 3], [0, 4]), np.int32(2)),
        lambda z, i, _: looped(lambda a, b, c: z[a, b, i[a, c]], 4, 3, 2),
        "batch",
    ),
    Case(
        GatherV2(1),
        (Z, i32([2], [1], [0], [2]), np.int32(1)),
        lambda z, i, _: looped(lambda a, b, c: z[a, i[a, b], c], 4, 1, 5),
        "batch 1",
    ),
]  # fmt: skip
