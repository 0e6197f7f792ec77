"""Transposed, reversed and rolled arrays; the answers are written out or looped."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, Z, f32, i32, looped
from tfteach.ops.array.transpose_reverse import (
    ConjugateTranspose,
    InvertPermutation,
    ReverseSequence,
    ReverseV2,
    Roll,
    Transpose,
)

C = (f32(2, 3) - 1j * f32(2, 3)).astype(np.complex64)

CASES = [
    Case(
        Transpose(),
        (Z, i32(2, 0, 1)),
        lambda z, p: looped(lambda i, j, k: z[j, k, i], 5, 4, 3),
    ),
    Case(
        ConjugateTranspose(),
        (C, i32(1, 0)),
        [[complex(C[j, i]).conjugate() for j in range(2)] for i in range(3)],
    ),
    Case(InvertPermutation(), (i32(2, 0, 3, 1),), [1, 3, 0, 2], gradient=False),
    Case(ReverseV2(), (X, i32(-1)), [[2.5, 1.5, 0.5], [5.5, 4.5, 3.5]]),
    Case(ReverseSequence(1, 0), (X, i32(2, 3)), [[1.5, 0.5, 2.5], [5.5, 4.5, 3.5]]),
    Case(
        ReverseSequence(0, 1),
        (X, i32(2, 1, 0)),
        [[3.5, 1.5, 2.5], [0.5, 4.5, 5.5]],
        "columns",
    ),
    Case(Roll(), (X, i32(1, -1), i32(0, 1)), [[4.5, 5.5, 3.5], [1.5, 2.5, 0.5]]),
]  # fmt: skip
