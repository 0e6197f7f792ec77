"""Blocks moved between space, depth and batch, by loops."""

from __future__ import annotations

from typing import Any

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, i32, looped
from tfteach.ops.array.space_to_batch import BatchToSpaceND, SpaceToBatchND


def depth_loop(x: Any) -> Any:
    """Space to depth of NHWC with blocks of 2."""
    _, h, w, c = x.shape
    return looped(
        lambda n, i, j, k: x[n, 2 * i + k // (2 * c), 2 * j + k // c % 2, k % c],
        len(x),
        h // 2,
        w // 2,
        4 * c,
    )


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
