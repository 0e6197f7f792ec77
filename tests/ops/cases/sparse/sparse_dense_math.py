"""Arithmetic of sparse and dense tensors, against dense NumPy."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.sparse.small_matrices import INDICES, VALUES, WHOLE, dense
from tfteach.ops.sparse.sparse_dense_math import (
    SparseDenseCwiseAdd,
    SparseDenseCwiseDiv,
    SparseDenseCwiseMul,
    SparseTensorDenseAdd,
    SparseTensorDenseMatMul,
)

DENSE = np.arange(1, 13, dtype=np.float32).reshape(3, 4) / 4

CASES = [
    Case(
        SparseTensorDenseMatMul(),
        (*WHOLE, DENSE.T),
        lambda i, v, s, b: dense(i, v, s) @ b,
    ),
    Case(
        SparseTensorDenseMatMul(True, True),
        (*WHOLE, DENSE[:, :3].T[:2]),
        lambda i, v, s, b: dense(i, v, s).T @ b.T,
        "adjoint",
    ),
    Case(SparseTensorDenseAdd(), (*WHOLE, DENSE), dense(*WHOLE) + DENSE),
    Case(
        SparseDenseCwiseAdd(),
        (*WHOLE, DENSE),
        VALUES + DENSE[tuple(INDICES.T)],
        gradient=False,
    ),
    Case(SparseDenseCwiseMul(), (*WHOLE, DENSE), VALUES * DENSE[tuple(INDICES.T)]),
    Case(
        SparseDenseCwiseMul(),
        (*WHOLE, DENSE[0]),
        VALUES * DENSE[0][INDICES[:, 1]],
        "broadcast",
    ),
    Case(SparseDenseCwiseDiv(), (*WHOLE, DENSE), VALUES / DENSE[tuple(INDICES.T)]),
]  # fmt: skip
