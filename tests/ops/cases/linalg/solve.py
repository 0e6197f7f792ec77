"""Systems of equations, determinants and inverses, by SciPy or by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import BATCH, MANY, A, B, Z, one_by_one
from tfteach.ops.linalg.solve import (
    LogMatrixDeterminant,
    MatrixDeterminant,
    MatrixInverse,
    MatrixSolve,
    MatrixTriangularSolve,
)

EMPTY = np.zeros((0, 3, 3), np.float32)


def cofactors(a: Any) -> Any:
    """The determinant by expansion along the first row."""
    if not len(a):
        return 1.0
    rest = [np.delete(a[1:], j, axis=1) for j in range(len(a))]
    return sum((-1) ** j * a[0, j] * cofactors(rest[j]) for j in range(len(a)))


def sign_and_log(a: Any) -> Any:
    det = cofactors(a)
    return np.asarray(det / abs(det)), np.asarray(np.log(abs(det)))


def adjoint(a: Any) -> Any:
    return np.conj(a.T)


def triangle(a: Any, b: Any, **how: Any) -> Any:
    return scipy.linalg.solve_triangular(a, b, **how)


CASES = [
    Case(MatrixInverse(), (A,), scipy.linalg.inv),
    # TF's gradient rules know neither the attribute nor complex determinants.
    Case(MatrixInverse(True), (Z,), lambda a: adjoint(scipy.linalg.inv(a)),
         "adjoint", tolerance=1e-5, gradient=False),
    Case(MatrixInverse(), (BATCH,), one_by_one(scipy.linalg.inv), "batch",
         tolerance=1e-5),
    Case(MatrixInverse(), (EMPTY,), EMPTY, "empty"),
    Case(MatrixDeterminant(), (A,), lambda a: np.asarray(cofactors(a))),
    Case(MatrixDeterminant(), (BATCH,), one_by_one(cofactors), "batch",
         tolerance=1e-5),
    Case(MatrixDeterminant(), (Z,), lambda a: np.asarray(cofactors(a)), "complex",
         tolerance=1e-5, gradient=False),
    Case(MatrixDeterminant(), (A.astype(np.float16),),
         lambda a: np.asarray(cofactors(a.astype(float))), "half", tolerance=1e-2),
    Case(LogMatrixDeterminant(), (A,), sign_and_log),
    Case(LogMatrixDeterminant(), (BATCH,), one_by_one(sign_and_log), "batch",
         tolerance=1e-5),
    Case(LogMatrixDeterminant(), (Z,), sign_and_log, "complex", tolerance=1e-5,
         gradient=False),
    Case(MatrixSolve(), (A, B), scipy.linalg.solve),
    Case(MatrixSolve(True), (A, B), lambda a, b: scipy.linalg.solve(a.T, b),
         "adjoint"),
    Case(MatrixSolve(), (BATCH, MANY), one_by_one(scipy.linalg.solve), "batch",
         tolerance=1e-5),
    Case(MatrixTriangularSolve(), (A, B), lambda a, b: triangle(a, b, lower=True)),
    Case(MatrixTriangularSolve(False), (A, B), triangle, "upper"),
    Case(MatrixTriangularSolve(True, True), (A, B),
         lambda a, b: triangle(a, b, lower=True, trans=1), "adjoint"),
    Case(MatrixTriangularSolve(False, True), (BATCH, MANY),
         one_by_one(lambda a, b: triangle(a, b, trans=1)), "batch", tolerance=1e-5),
]  # fmt: skip
