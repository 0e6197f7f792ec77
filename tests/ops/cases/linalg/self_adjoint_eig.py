"""Eigenvalues of self-adjoint matrices, by SciPy."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import BATCH, A, one_by_one
from tfteach.ops.linalg.self_adjoint_eig import SelfAdjointEig, SelfAdjointEigV2

CASES = [
    Case(SelfAdjointEigV2(), (A,), lambda a: scipy.linalg.eigh(a, driver="evd")),
    Case(SelfAdjointEigV2(False), (BATCH,),
         lambda a: (one_by_one(scipy.linalg.eigvalsh)(a), np.zeros(0)), "values",
         tolerance=1e-5, gradient=False),
    Case(SelfAdjointEig(), (A,),
         lambda a: np.vstack(scipy.linalg.eigh(a, driver="evd"))),
]  # fmt: skip
