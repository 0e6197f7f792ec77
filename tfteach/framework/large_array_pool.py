"""A memory pool for large results, reused from step to step.

The C library returns freed blocks of more than 32 MB to the system: each step would
fault every page in again, 14 ms for 40 MB, more than the arithmetic takes.
"""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np

# Smaller arrays stay in the C library's heap (see engine/devices/malloc_tuning.py).
MIN_BYTES = 32 << 20
_KEPT_BYTES = 512 << 20

_lock = threading.RLock()  # a garbage collection inside may free memory
_free: dict[int, list[np.ndarray[Any, Any]]] = {}
_cached = 0


class _Lease:
    """Owns memory while arrays refer to it; then it is available for reuse."""

    def __init__(self, memory: np.ndarray[Any, Any]) -> None:
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        global _cached
        size = self.memory.nbytes
        with _lock:
            if _cached + size <= _KEPT_BYTES:
                _cached += size
                _free.setdefault(size, []).append(self.memory)


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """`np.empty` for numbers, possibly in the memory of an earlier large array.

    Args:
      shape: of the array.
      dtype: a NumPy type of fixed size.
    """
    global _cached
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size < MIN_BYTES or dtype.hasobject:
        return np.empty(shape, dtype)
    with _lock:
        memory = _free[size].pop() if _free.get(size) else None
        if memory is not None:
            _cached -= size
    if memory is None:
        memory = np.empty(size, np.uint8)
    lent: np.ndarray[Any, Any] = np.ndarray(shape, dtype, np.asarray(_Lease(memory)))
    return lent


def is_sole_view(array: np.ndarray[Any, Any]) -> bool:
    """Whether it is all of a leased buffer, and the only array on it."""
    whole = array.base
    return (
        isinstance(whole, np.ndarray)
        and isinstance(whole.base, _Lease)
        and array.nbytes == whole.nbytes
        and sys.getrefcount(whole) <= _SOLE_REFERENCES
    )


def _count_sole_references() -> int:
    """`sys.getrefcount(whole)` above if there is exactly one view."""
    view = np.empty(4, np.uint8)[:2]
    whole = view.base
    return sys.getrefcount(whole)


_SOLE_REFERENCES = _count_sole_references()
