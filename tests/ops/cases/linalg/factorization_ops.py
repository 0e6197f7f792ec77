"""Normal equations and elements of products, by loops over the entries."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.linalg.factorization_ops import (
    MaskedMatmul,
    WALSComputePartialLhsAndRhs,
)

F = np.float32
A = F([[1, 2, 0.5], [3, -1, 2], [0, 4, 1], [2, 2, -3]])
B = F([[1, 0, 2, 5, -1], [2, 3, 1, 1, 1], [0.5, -1, 0, 2, 1]])
PLACES = np.int64([[0, 4], [3, 1], [0, 4], [2, 0]])
NO, YES = np.bool_(False), np.bool_(True)


def elements(a, b, places, transpose_a, transpose_b):
    product = (a.T if transpose_a else a) @ (b.T if transpose_b else b)
    return F([product[i, j] for i, j in places])


def equations(
    factors, factor_weights, rest, row_weights, places, values, weights, size, transpose
):
    width = factors.shape[1]
    lhs, rhs = np.zeros((size, width, width), F), np.zeros((size, width), F)
    for k, (place, value) in enumerate(zip(places, values, strict=True)):
        i, j = place[::-1] if transpose else place
        w = weights[k] if len(weights) else row_weights[i] * factor_weights[j]
        lhs[i] += w * np.outer(factors[j], factors[j])
        rhs[i] += (rest + w) * value * factors[j]
    return lhs, rhs


ENTRIES = np.int64([[0, 1], [1, 2], [1, 0], [0, 3]])
VALUES, EACH = F([1, -2, 0.5, 3]), F([0.5, 0.25, 2, 1])
ROWS, COLUMNS, NONE = F([0.5, 2, 1]), F([1, 0.25, 0.5, 3]), F([])
THREE = np.int64(3)  # the last row has no entry

CASES = [
    Case(MaskedMatmul(), (A, B, PLACES, NO, NO), elements, exact_shape=False),
    Case(MaskedMatmul(), (A.T, B.T, PLACES, YES, YES), elements, "transposed",
         exact_shape=False),
    Case(MaskedMatmul(), (A, B, PLACES[:0], NO, NO), elements, "none",
         exact_shape=False),
    Case(WALSComputePartialLhsAndRhs(),
         (A, COLUMNS, F(0.1), ROWS, ENTRIES, VALUES, NONE, THREE, NO), equations,
         exact_shape=False),
    Case(WALSComputePartialLhsAndRhs(),
         (A, COLUMNS, F(0.1), ROWS, ENTRIES[:, ::-1], VALUES, NONE, THREE, YES),
         equations, "transposed", exact_shape=False),
    Case(WALSComputePartialLhsAndRhs(),
         (A, NONE, F(0.1), NONE, ENTRIES, VALUES, EACH, THREE, NO), equations,
         "weights of entries", exact_shape=False),
]  # fmt: skip
