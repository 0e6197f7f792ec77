"""Slices; the answers are written out."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.sample_arrays import Z, i32, looped
from tfteach.ops.array.slicing import Slice

CASES = [
    Case(
        Slice(),
        (Z, i32(1, 0, 2), i32(2, -1, 3)),
        lambda z, b, s: looped(lambda i, j, k: z[i + 1, j, k + 2], 2, 3, 3),
    ),
]
