"""Reductions of sparse tensors, against dense NumPy."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.sparse.small_matrices import VALUES, WHOLE, dense, sparse
from tfteach.ops.sparse.sparse_reduce import (
    SparseReduceMax,
    SparseReduceMaxSparse,
    SparseReduceSum,
    SparseReduceSumSparse,
    SparseSoftmax,
)

CASES = [
    Case(SparseReduceSum(), (*WHOLE, np.int32([1])), dense(*WHOLE).sum(1)),
    Case(
        SparseReduceSum(),
        (*WHOLE, np.int32([])),
        VALUES.sum(),
        "all",
        gradient=False,  # TensorFlow's takes no axes for none of them
    ),
    Case(
        SparseReduceSum(True),
        (*WHOLE, np.int32(-2)),
        dense(*WHOLE).sum(0, keepdims=True),
        "kept",
    ),
    Case(
        SparseReduceSumSparse(),
        (*WHOLE, np.int32([0])),
        sparse(dense(*WHOLE).sum(0)),
        exact_shape=False,
    ),
    Case(SparseReduceMax(), (*WHOLE, np.int32([1])), np.float32([1.5, 0, 4])),
    Case(
        SparseReduceMaxSparse(),
        (*WHOLE, np.int32([1])),
        sparse(np.float32([1.5, 0, 4])),
        exact_shape=False,
    ),
    Case(
        SparseSoftmax(),
        WHOLE,
        lambda i, v, s: np.r_[np.exp(v[:2]) / np.exp(v[:2]).sum(), 1],
    ),
]  # fmt: skip
