"""Sums, maxima and minima of sparse tensors, against dense NumPy."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.sparse.small_matrices import INDICES, SHAPE, WHOLE, dense, sparse
from tfteach.ops.sparse.sparse_add import (
    SparseAdd,
    SparseAddGrad,
    SparseSparseMaximum,
    SparseSparseMinimum,
)

OTHER = (np.int64([[0, 1], [1, 2]]), np.float32([2.5, -3.0]), SHAPE)

CASES = [
    Case(
        SparseAdd(),
        (*WHOLE, *OTHER, np.float32(0)),
        sparse(dense(*WHOLE) + dense(*OTHER)),
        exact_shape=False,
    ),
    Case(
        SparseAdd(),
        (*WHOLE, *OTHER, np.float32(4.5)),  # which only the one sum is held against
        (np.int64([[0, 3], [1, 2], [2, 0]]), np.float32([-2, -3, 4]), SHAPE),
        "threshold",
        exact_shape=False,
    ),
    Case(
        SparseAdd(),
        (*WHOLE, *OTHER, np.float32(4)),  # the sum itself
        sparse(dense(*WHOLE) + dense(*OTHER)),
        "at the threshold",
        gradient=False,  # a step of the difference drops the sum
        exact_shape=False,
    ),
    Case(
        SparseAddGrad(),
        (np.float32([1, 2]), INDICES, OTHER[0], np.int64([[0, 1], [2, 0]])),
        (np.float32([1, 0, 2]), np.float32([1, 0])),
    ),
    Case(
        SparseSparseMaximum(),
        (*WHOLE, *OTHER),
        (np.int64([[0, 1], [0, 3], [1, 2], [2, 0]]), np.float32([2.5, 0, 0, 4])),
        gradient=False,
        exact_shape=False,
    ),
    Case(
        SparseSparseMinimum(),
        (*WHOLE, *OTHER),
        (np.int64([[0, 1], [0, 3], [1, 2], [2, 0]]), np.float32([1.5, -2, -3, 0])),
        gradient=False,
        exact_shape=False,
    ),
]  # fmt: skip
