"""Tiles, broadcasts and one-hot rows; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, Y, i32
from tfteach.ops.array.tile_broadcast import BroadcastArgs, BroadcastTo, OneHot, Tile

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
    Case(
        Tile(),
        (X, i32(2, 2)),
        [[0.5, 1.5, 2.5, 0.5, 1.5, 2.5], [3.5, 4.5, 5.5, 3.5, 4.5, 5.5]] * 2,
    ),
    Case(BroadcastTo(), (Y, i32(3, 2, 2)), [[[0.5, 0.5], [1.5, 1.5]]] * 3),
    Case(BroadcastArgs(), (i32(3, 1), i32(2, 1, 4)), [2, 3, 4]),
]  # fmt: skip
