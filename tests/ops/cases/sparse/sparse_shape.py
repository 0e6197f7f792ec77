"""Sparse tensors reordered, reshaped, sliced and filled; written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.sparse.small_matrices import INDICES, SHAPE, VALUES, WHOLE
from tfteach.ops.sparse.sparse_shape import (
    SparseFillEmptyRows,
    SparseFillEmptyRowsGrad,
    SparseReorder,
    SparseReshape,
    SparseSlice,
    SparseSliceGrad,
)

CASES = [
    Case(
        SparseReorder(),
        (INDICES[[2, 0, 1]], VALUES[[2, 0, 1]], SHAPE),
        (INDICES, VALUES),
    ),
    Case(
        SparseReshape(),
        (INDICES, SHAPE, np.int64([2, -1])),
        (np.int64([[0, 1], [0, 3], [1, 2]]), np.int64([2, 6])),
    ),
    Case(
        # Indices out of range remain.
        SparseReshape(),
        (np.int64([[0, 5], [1, -1]]), np.int64([2, 2]), np.int64([-1, 2])),
        (np.int64([[0, 5], [1, -1]]), np.int64([2, 2])),
        "the same shape",
    ),
    Case(
        SparseSlice(),
        (*WHOLE, np.int64([0, 1]), np.int64([2, 9])),
        (np.int64([[0, 0], [0, 2]]), VALUES[:2], np.int64([2, 3])),
        exact_shape=False,
    ),
    Case(
        SparseSliceGrad(),
        (VALUES[:2], INDICES, np.int64([0, 1]), np.int64([[0, 0], [0, 2]])),
        np.float32([1.5, -2, 0]),
    ),
    Case(
        SparseFillEmptyRows(),
        (*WHOLE, np.float32(7)),
        (
            np.int64([[0, 1], [0, 3], [1, 0], [2, 0]]),
            np.float32([1.5, -2, 7, 4]),
            np.array([False, True, False]),
            np.int64([0, 1, 3]),
        ),
        exact_shape=False,
    ),
    Case(
        SparseFillEmptyRowsGrad(),
        (np.int64([0, 1, 3]), np.float32([1, 2, 4, 8])),
        (np.float32([1, 2, 8]), np.float32(4)),
    ),
]  # fmt: skip
