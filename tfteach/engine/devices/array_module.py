"""The differences between NumPy and CuPy, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.type_aliases import ArrayModule


def to_host(value: Any) -> Any:
    """Convert any array to a NumPy array or scalar."""
    if isinstance(value, np.ndarray | np.generic):
        return value
    get = getattr(value, "get", None)  # cupy.ndarray
    return value if get is None else get()


def to_device(value: Any, xp: ArrayModule) -> Any:
    """An array of the module `xp` from a host array (strings stay on the host)."""
    if xp is np or not isinstance(value, np.ndarray | np.generic):
        return value
    return value if value.dtype.hasobject else xp.asarray(value)


class _ErrState:
    """NumPy's public way to silence floating-point warnings."""

    def set(self, ignored: Any) -> Any:
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    def reset(self, state: Any) -> None:
        state.__exit__(None, None, None)


# Kernels follow IEEE 754 without warnings, as TF's do.  A run enters and leaves that
# mode, and np.errstate takes 0.9 us for it, as long as all the rest of a small run: the
# context variable behind it costs 0.1.  It is private to NumPy, hence the fallback.
try:
    from numpy._core.umath import (
        _extobj_contextvar as _numpy_errors,
    )
    from numpy._core.umath import _make_extobj

    float_errors: Any = _numpy_errors
    IGNORED: Any = _make_extobj(all="ignore")
except ImportError:
    float_errors, IGNORED = _ErrState(), None
