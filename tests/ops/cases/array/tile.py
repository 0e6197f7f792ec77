"""Tiles; the answers are written out."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.sample_arrays import X, i32
from tfteach.ops.array.tile import Tile

CASES = [
    Case(
        Tile(),
        (X, i32(2, 2)),
        [[0.5, 1.5, 2.5, 0.5, 1.5, 2.5], [3.5, 4.5, 5.5, 3.5, 4.5, 5.5]] * 2,
    ),
]
