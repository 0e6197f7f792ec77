"""Least squares, by the normal equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import SLIM, B
from tfteach.ops.linalg.matrix_solve_ls import MatrixSolveLs


def ridge(a: Any, b: Any, weight: Any) -> Any:
    return np.linalg.solve(a.T @ a + weight * np.eye(a.shape[1]), a.T @ b)


CASES = [
    Case(MatrixSolveLs(), (SLIM, B, np.float64(0.5)), ridge),
    Case(MatrixSolveLs(), (SLIM.T.copy(), B[:2], np.float64(0.5)), ridge, "wide"),
    Case(MatrixSolveLs(False), (np.stack([SLIM] * 4), np.stack([B] * 4), np.float64(1)),
         lambda a, b, _: np.stack([np.linalg.lstsq(SLIM, B)[0]] * 4), "slow",
         gradient=False),
]  # fmt: skip
