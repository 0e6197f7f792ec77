"""Element-wise operations on arrays of byte strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def strings(values: list[bytes], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array of byte strings."""
    result = np.empty(len(values), object)
    result[:] = values
    return result.reshape(shape)


def each(function: Callable[..., bytes], *arrays: Any) -> np.ndarray[Any, Any]:
    """`function` applied to each element, with broadcasting, as an array of strings."""
    arrays = np.broadcast_arrays(*arrays) if len(arrays) > 1 else arrays
    shape = np.shape(arrays[0])
    columns = [np.asarray(a, object).ravel() for a in arrays]
    return strings([function(*row) for row in zip(*columns, strict=True)], shape)


def each_as(
    dtype: Any, function: Callable[[bytes], Any], array: Any
) -> np.ndarray[Any, Any]:
    """`function` applied to each element, as an array of a number type."""
    flat = np.asarray(array, object).ravel()
    found = np.array([function(value) for value in flat], dtype)
    return found.reshape(np.shape(array))
