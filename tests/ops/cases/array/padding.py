"""Paddings; the answers are written out or filled by loops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import Y, f32, i32
from tfteach.ops.array.padding import MirrorPad, MirrorPadGrad, Pad, PadV2

CASES = [
    Case(Pad(), (Y, i32([1, 0], [0, 0])), lambda x, p: np.pad(x, p), "rows before"),
    Case(Pad(), (Y, i32([0, 0], [2, 3])), lambda x, p: np.pad(x, p), "columns"),
    Case(Pad(), (Y, i32([0, 0], [0, 0])), lambda x, p: x.copy(), "nothing"),
    Case(
        Pad(), (Y, i32([1, 0], [2, 1])), [[0, 0, 0, 0], [0, 0, 0.5, 0], [0, 0, 1.5, 0]]
    ),
    Case(
        PadV2(), (Y, i32([0, 1], [1, 0]), np.float32(9)), [[9, 0.5], [9, 1.5], [9, 9]]
    ),
    Case(
        MirrorPad("REFLECT"),
        (f32(2, 3), i32([1, 0], [0, 2])),
        [
            [3.5, 4.5, 5.5, 4.5, 3.5],
            [0.5, 1.5, 2.5, 1.5, 0.5],
            [3.5, 4.5, 5.5, 4.5, 3.5],
        ],
    ),
    Case(
        MirrorPad("SYMMETRIC"),
        (f32(3), i32([2, 3])),
        [1.5, 0.5, 0.5, 1.5, 2.5, 2.5, 1.5, 0.5],
        "symmetric",
    ),
    Case(MirrorPadGrad("REFLECT"), (f32(5), i32([0, 2])), [5, 5, 2.5]),
    Case(
        MirrorPadGrad("SYMMETRIC"),
        (f32(6), i32([1, 2])),
        [0.5 + 1.5, 2.5 + 5.5, 3.5 + 4.5],
        "symmetric",
    ),
]  # fmt: skip
