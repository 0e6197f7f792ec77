"""A small sparse tensor, and conversions between sparse and dense."""

from __future__ import annotations

from typing import Any

import numpy as np

INDICES = np.int64([[0, 1], [0, 3], [2, 0]])
VALUES = np.float32([1.5, -2.0, 4.0])
SHAPE = np.int64([3, 4])
WHOLE = (INDICES, VALUES, SHAPE)


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
