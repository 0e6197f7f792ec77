"""Blocks moved between space and batch, by loops."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, i32
from tfteach.ops.array.space_to_batch import BatchToSpaceND, SpaceToBatchND

CASES = [
    Case(
        SpaceToBatchND(),
        (f32(1, 2, 3, 1), i32(2, 1), i32([1, 1], [0, 1])),
        [
            [[[0], [0], [0], [0]], [[3.5], [4.5], [5.5], [0]]],
            [[[0.5], [1.5], [2.5], [0]], [[0], [0], [0], [0]]],
        ],
    ),
    Case(
        BatchToSpaceND(),
        (f32(4, 2, 3, 1) - 0.5, i32(2, 1), i32([1, 0], [0, 1])),
        [
            [[[12], [13]], [[3], [4]], [[15], [16]]],
            [[[18], [19]], [[9], [10]], [[21], [22]]],
        ],
    ),
]
