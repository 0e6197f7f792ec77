"""Systems of equations and decompositions, by SciPy or by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tfteach.framework.dtypes import int64
from tfteach.ops.linalg.cholesky import Cholesky, CholeskyGrad
from tfteach.ops.linalg.lu import Lu
from tfteach.ops.linalg.matrix_functions import MatrixLogarithm, MatrixSquareRoot
from tfteach.ops.linalg.matrix_solve_ls import MatrixSolveLs
from tfteach.ops.linalg.self_adjoint_eig import SelfAdjointEig, SelfAdjointEigV2
from tfteach.ops.linalg.solve import (
    LogMatrixDeterminant,
    MatrixDeterminant,
    MatrixInverse,
    MatrixSolve,
    MatrixTriangularSolve,
)
from tfteach.ops.linalg.svd import Svd
from tfteach.ops.linalg.tridiagonal import TridiagonalMatMul, TridiagonalSolve

A = np.array([[4.0, 1.5, -0.5], [1.25, 3.0, 0.75], [0.25, -1.0, 2.5]])
B = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]])
SLIM = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.75]])
BATCH = np.stack([A, A.T * 2, A @ A, A - 1, -A]).astype(np.float32)
MANY = np.stack([B, B * 2, -B, B + 1, B - 1]).astype(np.float32)
JORDAN = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]])
Z = (A + 1j * A[::-1]).astype(np.complex64)
POSITIVE = A @ A.T
EMPTY = np.zeros((0, 3, 3), np.float32)


def one_by_one(function: Any) -> Any:
    """A function of matrices as one of batches."""

    def apply(*batches: Any) -> Any:
        rows = [function(*row) for row in zip(*batches, strict=True)]
        if isinstance(rows[0], tuple):
            return tuple(np.stack(part) for part in zip(*rows, strict=True))
        return np.stack(rows)

    return apply


def three(above: Any, main: Any, below: Any) -> Any:
    return np.diag(above[:-1], 1) + np.diag(main) + np.diag(below[1:], -1)


def banded(diagonals: Any, b: Any) -> Any:
    return np.linalg.solve(three(*diagonals), b)


def ridge(a: Any, b: Any, weight: Any) -> Any:
    return np.linalg.solve(a.T @ a + weight * np.eye(a.shape[1]), a.T @ b)


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


def cholesky_gradient(factor: Any, grad: Any) -> Any:
    """From the definition, by differences of the symmetric matrix."""
    a = factor @ factor.T
    found = np.zeros_like(a)
    for i, j in np.ndindex(*a.shape):
        step = np.zeros_like(a)
        step[i, j] += 0.5e-6
        step[j, i] += 0.5e-6
        change = np.linalg.cholesky(a + step) - np.linalg.cholesky(a - step)
        found[i, j] = np.sum(np.tril(grad) * change) / 2e-6
    return found


def turned(a: Any, full: bool) -> Any:
    u, s, vh = scipy.linalg.svd(a, full_matrices=full)
    return s, u, vh.T


def pivoted(a: Any) -> Any:
    lu, swaps = scipy.linalg.lu_factor(a)
    order = np.arange(len(a))
    for i, j in enumerate(swaps):
        order[[i, j]] = order[[j, i]]
    return lu, order


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
    # TF's gradient is that of symmetric changes: see golden/mathematics.py.
    Case(Cholesky(), (POSITIVE,), lambda a: scipy.linalg.cholesky(a, lower=True),
         gradient=False),
    Case(CholeskyGrad(), (np.linalg.cholesky(POSITIVE), A), cholesky_gradient,
         tolerance=1e-4),
    Case(SelfAdjointEigV2(), (A,), lambda a: scipy.linalg.eigh(a, driver="evd")),
    Case(SelfAdjointEigV2(False), (BATCH,),
         lambda a: (one_by_one(scipy.linalg.eigvalsh)(a), np.zeros(0)), "values",
         tolerance=1e-5, gradient=False),
    Case(SelfAdjointEig(), (A,),
         lambda a: np.vstack(scipy.linalg.eigh(a, driver="evd"))),
    Case(Svd(False), (SLIM,), lambda a: (scipy.linalg.svdvals(a), *np.zeros((2, 0)))),
    *(
        Case(Svd(True, full), (b,), lambda a, full=full: turned(a, full),
             f"{full}-{b.shape[0]}x{b.shape[1]}")
        for full in (False, True) for b in (SLIM, SLIM.T.copy(), A)
    ),
    # One matrix with NaN leaves the others as they are.
    Case(Svd(False), (np.stack([SLIM, SLIM * np.nan, SLIM.T[:, :2].repeat(2, 0)[:3]]),),
         lambda a: (np.stack([scipy.linalg.svdvals(a[0]), np.full(2, np.nan),
                              scipy.linalg.svdvals(a[2])]), *np.zeros((2, 0))),
         "nan", gradient=False),
    Case(Lu(), (A[::-1].copy(),), pivoted),
    Case(Lu(int64), (np.stack([A, A.T, A[::-1], -A]),), one_by_one(pivoted),
         "batch"),
    Case(MatrixSquareRoot(), (A,), scipy.linalg.sqrtm),
    Case(MatrixSquareRoot(), (JORDAN,), scipy.linalg.sqrtm, "jordan", tolerance=1e-5),
    Case(MatrixSquareRoot(), (BATCH[:3],), one_by_one(scipy.linalg.sqrtm), "batch",
         tolerance=1e-5),
    Case(MatrixLogarithm(), (Z,), lambda z: scipy.linalg.logm(z.astype(complex)),
         tolerance=1e-5),
    Case(MatrixLogarithm(), (JORDAN.astype(complex),), scipy.linalg.logm, "jordan",
         tolerance=1e-8),
    Case(MatrixSolveLs(), (SLIM, B, np.float64(0.5)), ridge),
    Case(MatrixSolveLs(), (SLIM.T.copy(), B[:2], np.float64(0.5)), ridge, "wide"),
    Case(MatrixSolveLs(False), (np.stack([SLIM] * 4), np.stack([B] * 4), np.float64(1)),
         lambda a, b, _: np.stack([np.linalg.lstsq(SLIM, B)[0]] * 4), "slow",
         gradient=False),
    Case(TridiagonalSolve(), (A, B), banded),
    Case(TridiagonalSolve(False), (A, B), banded, "plain"),
    Case(TridiagonalSolve(), (BATCH * 1.0, MANY), one_by_one(banded), "batch",
         tolerance=1e-4),
    Case(TridiagonalMatMul(), (A[:1], A[1:2], A[2:], B),
         lambda above, main, below, b: three(above[0], main[0], below[0]) @ b),
]  # fmt: skip
