"""Products of matrices with many zeros, by NumPy."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.linalg.sparse_matmul import SparseMatMul

X = np.arange(12.0).reshape(3, 4)
WIDE = np.arange(30.0).reshape(2, 3, 5)

CASES = [
    Case(SparseMatMul(), (X.astype(np.float32), WIDE.reshape(5, 6)[:4].astype("f4")),
         lambda a, b: a @ b, gradient=False),
    Case(SparseMatMul(True, True, True),
         (X.astype(np.float32), WIDE.reshape(10, 3).astype("f4")),
         lambda a, b: a.T @ b.T, "turned", gradient=False),
]  # fmt: skip
