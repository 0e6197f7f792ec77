"""Sets in rows: the results written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.sparse.set_operations import (
    DenseToDenseSetOperation,
    DenseToSparseSetOperation,
    SetSize,
    SparseToSparseSetOperation,
)

A = np.array([[9, 1, 5, 1, 1], [3, 3, 4, 8, 8]])
B = np.array([[1, 5, 5, 7, 2, 2], [0, 0, 0, 4, 4, 0]])
# Rows {1, 5} and {8}, in a tensor of shape [2, 3].
SPARSE = (np.array([[0, 0], [0, 2], [1, 1]]), np.array([5, 1, 8]), np.array([2, 3]))


def rows(*sets):
    """A sparse tensor with these rows."""
    places = [[i, j] for i, row in enumerate(sets) for j in range(len(row))]
    most = max(map(len, sets))
    return (
        np.array(places, np.int64).reshape(-1, 2),
        np.array([v for row in sets for v in row], np.int64),
        np.array([len(sets), most], np.int64),
    )


def case(op, inputs, right, name=""):
    return Case(op, inputs, right, name, exact_shape=False)


CASES = [
    case(DenseToDenseSetOperation("a-b"), (A, B), rows([9], [3, 8]), "a-b"),
    case(DenseToDenseSetOperation("b-a"), (A, B), rows([2, 7], [0]), "b-a"),
    case(DenseToDenseSetOperation("intersection"), (A, B), rows([1, 5], [4])),
    case(
        DenseToDenseSetOperation("union"),
        (A, B),
        rows([1, 2, 5, 7, 9], [0, 3, 4, 8]),
        "union",
    ),
    case(DenseToDenseSetOperation("a-b"), (A, A), rows([], []), "nothing left"),
    case(DenseToSparseSetOperation("a-b"), (A, *SPARSE), rows([9], [3, 4]), "a-b"),
    case(DenseToSparseSetOperation("intersection"), (A, *SPARSE), rows([1, 5], [8])),
    case(
        SparseToSparseSetOperation("union"),
        (*SPARSE, *rows([7], [8, 9])),
        rows([1, 5, 7], [8, 9]),
    ),
    case(SetSize(), SPARSE, np.array([2, 1], np.int32)),
    case(SetSize(), rows([4, 4, 6], []), np.array([2, 0], np.int32), "repeated"),
]
