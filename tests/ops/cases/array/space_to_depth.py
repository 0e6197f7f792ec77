"""Blocks moved between space and depth, by loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, looped
from tfteach.ops.array.space_to_depth import DepthToSpace, SpaceToDepth


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
    Case(SpaceToDepth(2), (f32(1, 4, 6, 3),), depth_loop),
    Case(
        SpaceToDepth(2, "NCHW"),
        (f32(1, 3, 4, 6),),
        lambda x: np.moveaxis(depth_loop(np.moveaxis(x, 1, 3)), 3, 1),
        "NCHW",
    ),
    Case(DepthToSpace(2), (depth_loop(f32(1, 4, 6, 3)),), f32(1, 4, 6, 3)),
]
