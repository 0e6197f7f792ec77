"""Matrices that the rows of several decompositions and solvers share."""

from __future__ import annotations

from typing import Any

import numpy as np

A = np.array([[4.0, 1.5, -0.5], [1.25, 3.0, 0.75], [0.25, -1.0, 2.5]])
B = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]])
SLIM = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.75]])
BATCH = np.stack([A, A.T * 2, A @ A, A - 1, -A]).astype(np.float32)
MANY = np.stack([B, B * 2, -B, B + 1, B - 1]).astype(np.float32)
Z = (A + 1j * A[::-1]).astype(np.complex64)


def one_by_one(function: Any) -> Any:
    """A function of matrices as one of batches."""

    def apply(*batches: Any) -> Any:
        rows = [function(*row) for row in zip(*batches, strict=True)]
        if isinstance(rows[0], tuple):
            return tuple(np.stack(part) for part in zip(*rows, strict=True))
        return np.stack(rows)

    return apply
