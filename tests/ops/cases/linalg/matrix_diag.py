"""Diagonals of matrices; the answers are written out or looped."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, looped
from tfteach.ops.linalg.matrix_diag import (
    Diag,
    DiagPart,
    MatrixBandPart,
    MatrixDiag,
    MatrixDiagPart,
    MatrixSetDiag,
)

CASES = [
    Case(
        MatrixDiag(),
        (f32(2, 3),),
        lambda d: looped(lambda b, i, j: d[b, i] * (i == j), 2, 3, 3),
    ),
    Case(
        MatrixDiagPart(),
        (f32(2, 3, 4),),
        lambda m: looped(lambda b, i: m[b, i, i], 2, 3),
    ),
    Case(MatrixDiagPart(), (f32(3, 3),), [0.5, 4.5, 8.5], "square"),
    Case(
        MatrixSetDiag(),
        (f32(2, 3), np.array([8, 9], np.float32)),
        [[8, 1.5, 2.5], [3.5, 9, 5.5]],
    ),
    Case(
        MatrixBandPart(),
        (f32(3, 4), np.int64(1), np.int64(0)),
        [[0.5, 0, 0, 0], [4.5, 5.5, 0, 0], [0, 9.5, 10.5, 0]],
    ),
    Case(
        MatrixBandPart(),
        (f32(3, 4), np.int64(0), np.int64(-1)),
        [[0.5, 1.5, 2.5, 3.5], [0, 5.5, 6.5, 7.5], [0, 0, 10.5, 11.5]],
        "upper",
    ),
    Case(
        Diag(),
        (f32(2, 3),),
        lambda d: looped(lambda i, j, k, m: d[i, j] * ((i, j) == (k, m)), 2, 3, 2, 3),
    ),
    Case(
        DiagPart(),
        (f32(2, 3, 2, 3),),
        lambda t: looped(lambda i, j: t[i, j, i, j], 2, 3),
    ),
]  # fmt: skip
