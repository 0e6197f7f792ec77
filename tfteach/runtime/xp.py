"""The differences between NumPy and CuPy, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_host(value: Any) -> Any:
    """A NumPy array or scalar from any array."""
    if isinstance(value, np.ndarray | np.generic):
        return value
    get = getattr(value, "get", None)  # cupy.ndarray
    return value if get is None else get()


def to_device(value: Any, xp: Any) -> Any:
    """An array of the module `xp` from a host array (strings stay on the host)."""
    if xp is np or not isinstance(value, np.ndarray | np.generic):
        return value
    return value if value.dtype.hasobject else xp.asarray(value)
