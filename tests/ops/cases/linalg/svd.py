"""Singular values, up to the signs of the vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import SLIM, A
from tfteach.ops.linalg.svd import Svd


def turned(a: Any, full: bool) -> Any:
    u, s, vh = scipy.linalg.svd(a, full_matrices=full)
    return s, u, vh.T


CASES = [
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
]  # fmt: skip
