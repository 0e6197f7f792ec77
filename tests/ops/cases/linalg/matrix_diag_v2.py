"""Any diagonals of matrices: real TensorFlow's answers."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.linalg.matrix_diag_v2 import (
    MatrixDiagPartV2,
    MatrixDiagV2,
    MatrixSetDiagV2,
)

X = np.arange(12.0).reshape(3, 4)
BAND = -np.arange(12.0).reshape(4, 3)
K, ONE = np.int32([-1, 2]), np.int32(1)
FREE = np.int32(-1)
WIDE = np.arange(30.0).reshape(2, 3, 5)

CASES = [
    Case(MatrixDiagV2(), (np.array([1.0, 2.0]), ONE, FREE, FREE, np.float64(5)),
         [[5, 1, 5], [5, 5, 2], [5, 5, 5]]),
    Case(MatrixDiagV2(), (BAND, K, FREE, FREE, np.float64(50)),
         [[-6, -3, 0], [-9, -7, -4], [50, -10, -8]], "band"),
    Case(MatrixDiagV2(), (BAND, K, np.int32(5), FREE, np.float64(50)),
         [[-6, -3, 0], [-9, -7, -4], [50, -10, -8], [50, 50, -11], [50, 50, 50]],
         "rows"),
    Case(MatrixDiagPartV2(), (X, K, np.float64(-5)),
         [[2, 7, -5], [1, 6, 11], [0, 5, 10], [4, 9, -5]]),
    Case(MatrixDiagPartV2(), (WIDE, np.int32(-1), np.float64(0)),
         [[5, 11], [20, 26]], "one"),
    Case(MatrixSetDiagV2(), (X, BAND, K),
         [[-6, -3, 0, 3], [-9, -7, -4, -1], [8, -10, -8, -5]]),
    Case(MatrixSetDiagV2(), (X, np.array([-1.0, -2.0, -3.0]), ONE),
         [[0, -1, 2, 3], [4, 5, -2, 7], [8, 9, 10, -3]], "one"),
]  # fmt: skip
