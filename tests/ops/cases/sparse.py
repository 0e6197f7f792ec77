"""Sparse tensors, against dense NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.sparse.edit_distance import EditDistance
from tfteach.ops.sparse.sparse_add import (
    SparseAdd,
    SparseAddGrad,
    SparseSparseMaximum,
    SparseSparseMinimum,
)
from tfteach.ops.sparse.sparse_concat_split import SparseConcat, SparseSplit
from tfteach.ops.sparse.sparse_dense_math import (
    SparseDenseCwiseAdd,
    SparseDenseCwiseDiv,
    SparseDenseCwiseMul,
    SparseTensorDenseAdd,
    SparseTensorDenseMatMul,
)
from tfteach.ops.sparse.sparse_reduce import (
    SparseReduceMax,
    SparseReduceMaxSparse,
    SparseReduceSum,
    SparseReduceSumSparse,
    SparseSoftmax,
)
from tfteach.ops.sparse.sparse_shape import (
    SparseFillEmptyRows,
    SparseFillEmptyRowsGrad,
    SparseReorder,
    SparseReshape,
    SparseSlice,
    SparseSliceGrad,
)

INDICES = np.int64([[0, 1], [0, 3], [2, 0]])
VALUES = np.float32([1.5, -2.0, 4.0])
SHAPE = np.int64([3, 4])
WHOLE = (INDICES, VALUES, SHAPE)
OTHER = (np.int64([[0, 1], [1, 2]]), np.float32([2.5, -3.0]), SHAPE)
DENSE = np.arange(1, 13, dtype=np.float32).reshape(3, 4) / 4


def dense(indices: Any, values: Any, shape: Any) -> Any:
    """Element by element."""
    found = np.zeros(shape, values.dtype)
    for index, value in zip(indices, values, strict=True):
        found[tuple(index)] += value
    return found


def sparse(array: Any) -> Any:
    """The parts of what is not zero."""
    indices = np.argwhere(array)
    return indices, array[tuple(indices.T)], np.int64(array.shape)


CASES = [
    Case(
        SparseTensorDenseMatMul(),
        (*WHOLE, DENSE.T),
        lambda i, v, s, b: dense(i, v, s) @ b,
    ),
    Case(
        SparseTensorDenseMatMul(True, True),
        (*WHOLE, DENSE[:, :3].T[:2]),
        lambda i, v, s, b: dense(i, v, s).T @ b.T,
        "adjoint",
    ),
    Case(SparseTensorDenseAdd(), (*WHOLE, DENSE), dense(*WHOLE) + DENSE),
    Case(
        SparseDenseCwiseAdd(),
        (*WHOLE, DENSE),
        VALUES + DENSE[tuple(INDICES.T)],
        gradient=False,
    ),
    Case(SparseDenseCwiseMul(), (*WHOLE, DENSE), VALUES * DENSE[tuple(INDICES.T)]),
    Case(
        SparseDenseCwiseMul(),
        (*WHOLE, DENSE[0]),
        VALUES * DENSE[0][INDICES[:, 1]],
        "broadcast",
    ),
    Case(SparseDenseCwiseDiv(), (*WHOLE, DENSE), VALUES / DENSE[tuple(INDICES.T)]),
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
    Case(
        SparseSoftmax(),
        WHOLE,
        lambda i, v, s: np.r_[np.exp(v[:2]) / np.exp(v[:2]).sum(), 1],
    ),
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
    Case(
        SparseConcat(1),
        ([INDICES, np.int64([[0, 0]])], [VALUES, np.float32([5])], [SHAPE, SHAPE]),
        (
            np.int64([[0, 1], [0, 3], [0, 4], [2, 0]]),
            np.float32([1.5, -2, 5, 4]),
            np.int64([3, 8]),
        ),
    ),
    Case(
        EditDistance(),
        (
            np.int64([[0, 0], [0, 1], [0, 2], [1, 0]]),
            np.int64([1, 2, 3, 4]),
            np.int64([2, 3]),
            np.int64([[0, 0], [0, 1]]),
            np.int64([1, 3]),
            np.int64([2, 2]),
        ),
        np.float32([0.5, np.inf]),
    ),
    Case(
        EditDistance(False),
        (
            np.int64([[0, 0], [1, 0]]),
            np.int64([1, 4]),
            np.int64([2, 1]),
            np.int64([[0, 0], [0, 1]]),
            np.int64([2, 3]),
            np.int64([2, 2]),
        ),
        np.float32([2, 1]),
        "counted",
    ),
]
