"""Concatenation and splitting; the answers are written out or filled by loops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, Y, f32, i32
from tfteach.ops.array.concat_split import Concat, ConcatOffset, ConcatV2, Split, SplitV

CASES = [
    Case(
        ConcatV2(), ([X, Y], np.int32(1)), [[0.5, 1.5, 2.5, 0.5], [3.5, 4.5, 5.5, 1.5]]
    ),
    Case(
        ConcatV2(),
        ([X, f32(1, 3)], np.int32(-2)),
        [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [0.5, 1.5, 2.5]],
        "rows",
    ),
    Case(
        ConcatV2(),
        ([f32(2, n + 1) for n in range(18)], np.int32(1)),
        lambda parts, axis: [
            [p[r, c] for p in parts for c in range(p.shape[1])] for r in range(2)
        ],
        "many",
    ),
    Case(Concat(), (np.int32(1), [X, Y]), [[0.5, 1.5, 2.5, 0.5], [3.5, 4.5, 5.5, 1.5]]),
    Case(
        ConcatOffset(),
        (np.int32(1), [i32(2, 3), i32(2, 1), i32(2, 4)]),
        (i32(0, 0), i32(0, 3), i32(0, 4)),
        exact_shape=False,
    ),
    Case(Split(3), (np.int32(1), X), ([[0.5], [3.5]], [[1.5], [4.5]], [[2.5], [5.5]])),
    Case(
        SplitV(2),
        (X, i32(-1, 1), np.int32(1)),
        ([[0.5, 1.5], [3.5, 4.5]], [[2.5], [5.5]]),
    ),
]  # fmt: skip
