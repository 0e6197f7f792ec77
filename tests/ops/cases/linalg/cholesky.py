"""Cholesky factors and their gradients, by SciPy or by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import A
from tfteach.ops.linalg.cholesky import Cholesky, CholeskyGrad

POSITIVE = A @ A.T


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


CASES = [
    # TF's gradient is that of symmetric changes: see golden/mathematics.py.
    Case(Cholesky(), (POSITIVE,), lambda a: scipy.linalg.cholesky(a, lower=True),
         gradient=False),
    Case(CholeskyGrad(), (np.linalg.cholesky(POSITIVE), A), cholesky_gradient,
         tolerance=1e-4),
]  # fmt: skip
