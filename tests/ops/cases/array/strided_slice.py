"""Strided slices and their gradients; answers written out or filled by loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import Z, f32, i32, looped
from tfteach.ops.array.strided_slice import StridedSlice, StridedSliceGrad


def strided(*entries: Any) -> tuple[Any, Any, Any]:
    """begin, end, strides from triples."""
    return tuple(np.array(column, np.int32) for column in zip(*entries, strict=True))  # type: ignore[return-value]


CASES = [
    Case(
        StridedSlice(),
        (Z, *strided((1, 3, 1), (0, 3, 2))),
        lambda z, *_: looped(lambda i, j, k: z[i + 1, 2 * j, k], 2, 2, 5),
    ),
    Case(
        StridedSlice(shrink_axis_mask=1, begin_mask=2, end_mask=2),
        (Z, *strided((-1, 0, 1), (0, 0, -2))),
        lambda z, *_: looped(lambda j, k: z[3, 2 - 2 * j, k], 2, 5),
        "x[-1,::-2]",
    ),
    Case(
        StridedSlice(ellipsis_mask=1, new_axis_mask=2),
        (Z, *strided((0, 0, 1), (0, 0, 1), (1, 3, 1))),
        lambda z, *_: looped(lambda i, j, _, k: z[i, j, k + 1], 4, 3, 1, 2),
        "x[...,newaxis,1:3]",
    ),
    Case(
        StridedSlice(),
        (Z, *strided((3, 9, 1))),
        lambda z, *_: z.tolist()[3:],
        "past the end",
    ),
    Case(
        StridedSlice(end_mask=1),
        (Z, *strided((9, 0, 1))),
        np.zeros((0, 3, 5)),
        "nothing",
    ),
    Case(
        StridedSliceGrad(shrink_axis_mask=2),
        (i32(4, 3), *strided((0, 4, 3), (1, 2, 1)), f32(2)),
        [[0, 0.5, 0], [0, 0, 0], [0, 0, 0], [0, 1.5, 0]],
    ),
    Case(
        StridedSliceGrad(begin_mask=1, end_mask=1),
        (i32(3), *strided((0, 0, -1)), f32(3)),
        [2.5, 1.5, 0.5],
        "backwards",
    ),
]
