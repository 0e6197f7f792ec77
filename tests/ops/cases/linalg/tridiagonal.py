"""Tridiagonal products and systems, as dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import BATCH, MANY, A, B, one_by_one
from tfteach.ops.linalg.tridiagonal import TridiagonalMatMul, TridiagonalSolve


def three(above: Any, main: Any, below: Any) -> Any:
    return np.diag(above[:-1], 1) + np.diag(main) + np.diag(below[1:], -1)


def banded(diagonals: Any, b: Any) -> Any:
    return np.linalg.solve(three(*diagonals), b)


CASES = [
    Case(TridiagonalSolve(), (A, B), banded),
    Case(TridiagonalSolve(False), (A, B), banded, "plain"),
    Case(TridiagonalSolve(), (BATCH * 1.0, MANY), one_by_one(banded), "batch",
         tolerance=1e-4),
    Case(TridiagonalMatMul(), (A[:1], A[1:2], A[2:], B),
         lambda above, main, below, b: three(above[0], main[0], below[0]) @ b),
]  # fmt: skip
