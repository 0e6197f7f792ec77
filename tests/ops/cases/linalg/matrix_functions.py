"""Matrix logarithms and square roots, by SciPy."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import BATCH, A, Z, one_by_one
from tfteach.ops.linalg.matrix_functions import MatrixLogarithm, MatrixSquareRoot

JORDAN = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]])

CASES = [
    Case(MatrixSquareRoot(), (A,), scipy.linalg.sqrtm),
    Case(MatrixSquareRoot(), (JORDAN,), scipy.linalg.sqrtm, "jordan", tolerance=1e-5),
    Case(MatrixSquareRoot(), (BATCH[:3],), one_by_one(scipy.linalg.sqrtm), "batch",
         tolerance=1e-5),
    Case(MatrixLogarithm(), (Z,), lambda z: scipy.linalg.logm(z.astype(complex)),
         tolerance=1e-5),
    Case(MatrixLogarithm(), (JORDAN.astype(complex),), scipy.linalg.logm, "jordan",
         tolerance=1e-8),
]  # fmt: skip
