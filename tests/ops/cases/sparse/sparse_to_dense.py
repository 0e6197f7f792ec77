"""Rows for tfteach/ops/sparse/sparse_to_dense.py."""

import numpy as np

from tests.ops.case import Case
from tfteach.ops.sparse.sparse_to_dense import SparseToDense


def filled(indices, shape, values, default):
    dense = np.full(shape, default, values.dtype)
    for i, where in enumerate(indices):
        dense[tuple(np.atleast_1d(where))] = values if values.ndim == 0 else values[i]
    return dense


POINTS = np.array([[0, 1], [1, 0], [1, 3]])
SHAPE = np.array([2, 5])
VALUES = np.array([1.5, -2.0, 0.25])
# Its gradient is in golden/embeddings: TF gives the indices one too, zeros.
CASES = [
    Case(
        SparseToDense(), (POINTS, SHAPE, VALUES, np.float64(0.5)), filled,
        gradient=False,
    ),
    Case(
        SparseToDense(), (np.array([1, 3]), SHAPE[1:], np.float64(3), np.float64(0)),
        filled, "vector", gradient=False,
    ),
    Case(
        SparseToDense(False),
        (POINTS[::-1].astype(np.int32), SHAPE.astype(np.int32), VALUES, np.float64(0)),
        filled, "any order", gradient=False,
    ),
    Case(  # sampled_softmax_loss where no label was drawn
        SparseToDense(), (POINTS[:0], SHAPE, VALUES[:0], np.float64(0.5)), filled,
        "of nothing", gradient=False,
    ),
    Case(
        SparseToDense(), (POINTS[:0, 0], SHAPE[1:], VALUES[:0], np.float64(1)), filled,
        "vector of nothing", gradient=False,
    ),
]  # fmt: skip
