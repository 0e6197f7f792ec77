"""Stacking and unstacking; the answers are written out or filled by loops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, f32
from tfteach.ops.core.stack_unstack import Pack, ParallelConcat, Unpack

WHOLE = np.arange(12.0).reshape(3, 4)

CASES = [
    Case(Pack(), ([f32(3), f32(3) * 2],), [[0.5, 1.5, 2.5], [1, 3, 5]]),
    Case(Pack(1), ([f32(3), f32(3) * 2],), [[0.5, 1], [1.5, 3], [2.5, 5]], "last"),
    Case(Pack(), ([np.int32(4), np.int32(5)],), [4, 5], "scalars"),
    Case(Unpack(2), (X,), (f32(3), f32(3) + 3)),
    Case(Unpack(3, -1), (X,), ([0.5, 3.5], [1.5, 4.5], [2.5, 5.5]), "last"),
    Case(ParallelConcat((3, 3, 4)), ([WHOLE[None], WHOLE[None] * 2, WHOLE[None] - 1],),
         lambda parts: np.concatenate(parts)),
]  # fmt: skip
