"""LU factors with their permutation, by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tests.ops.case import Case
from tests.ops.cases.linalg.matrices import A, one_by_one
from tfteach.framework.dtypes import int64
from tfteach.ops.linalg.lu import Lu


def pivoted(a: Any) -> Any:
    lu, swaps = scipy.linalg.lu_factor(a)
    order = np.arange(len(a))
    for i, j in enumerate(swaps):
        order[[i, j]] = order[[j, i]]
    return lu, order


CASES = [
    Case(Lu(), (A[::-1].copy(),), pivoted),
    Case(Lu(int64), (np.stack([A, A.T, A[::-1], -A]),), one_by_one(pivoted),
         "batch"),
]  # fmt: skip
