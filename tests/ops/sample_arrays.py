"""Small arrays that the rows of several ops share, and arrays filled by loops."""

from __future__ import annotations

from typing import Any

import numpy as np


def f32(*shape: int) -> Any:
    """0.5, 1.5, 2.5, ... in a shape."""
    flat = np.arange(np.prod(shape, dtype=int)) + 0.5
    return flat.astype(np.float32).reshape(shape)


def i32(*values: Any) -> Any:
    return np.array(values, np.int32)


def looped(function: Any, *shape: int) -> Any:
    """The array whose element at each index is `function(*index)`."""
    result = np.zeros(shape, np.float32)
    for index in np.ndindex(*shape):
        result[index] = function(*index)
    return result


X, Y, Z = f32(2, 3), f32(2, 1), f32(4, 3, 5)


def text(values: Any) -> Any:
    """An array of byte strings."""
    return np.array(values, object)
