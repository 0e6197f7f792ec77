"""Sparse tensors joined and split; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.sparse.small_matrices import INDICES, SHAPE, VALUES, WHOLE
from tfteach.ops.sparse.sparse_concat_split import SparseConcat, SparseSplit

CASES = [
    Case(
        SparseSplit(3),
        (np.int64(1), *WHOLE),
        (
            np.int64([[0, 1], [2, 0]]),
            np.empty((0, 2), np.int64),
            np.int64([[0, 0]]),
            np.float32([1.5, 4]),
            np.empty(0, np.float32),
            np.float32([-2]),
            np.int64([3, 2]),
            np.int64([3, 1]),
            np.int64([3, 1]),
        ),
        exact_shape=False,
    ),
    Case(
        SparseConcat(1),
        ([INDICES, np.int64([[0, 0]])], [VALUES, np.float32([5])], [SHAPE, SHAPE]),
        (
            np.int64([[0, 1], [0, 3], [0, 4], [2, 0]]),
            np.float32([1.5, -2, 5, 4]),
            np.int64([3, 8]),
        ),
    ),
]  # fmt: skip
