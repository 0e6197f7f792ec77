"""Eigenvalues of self-adjoint matrices, by SciPy."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import BATCH, A, one_by_one
from tfteach.ops.linalg.self_adjoint_eig import SelfAdjointEig, SelfAdjointEigV2

INF, NAN = np.inf, np.nan

CASES = [
    Case(SelfAdjointEigV2(), (A,), lambda a: scipy.linalg.eigh(a, driver="evd")),
    Case(SelfAdjointEigV2(False), (BATCH,),
         lambda a: (one_by_one(scipy.linalg.eigvalsh)(a), np.zeros(0)), "values",
         tolerance=1e-5, gradient=False),
    Case(SelfAdjointEig(), (A,),
         lambda a: np.vstack(scipy.linalg.eigh(a, driver="evd"))),
    # As TensorFlow answers: it reads the lower triangle, and infinity is no error.
    Case(SelfAdjointEigV2(), (np.array([[[INF, 1.0], [1, 1]], [[1, NAN], [0, 2]]]),),
         ([[NAN, NAN], [1, 2]], [np.eye(2)] * 2), "infinite", gradient=False),
    Case(SelfAdjointEigV2(), (np.array([[[INF]], [[NAN]], [[2.0]]]),),
         ([[INF], [NAN], [2]], np.ones((3, 1, 1))), "single", gradient=False),
]  # fmt: skip
