"""`tensorflow.python.framework.dtypes.float32_ref` ...: types of variables' references.

Source: python/framework/dtypes.py (names).
"""

from __future__ import annotations

from tfteach.framework import dtypes
from tfteach.framework.dtypes import DType, as_dtype

_NAMES = {
    dtype.name: dtype for dtype in vars(dtypes).values() if isinstance(dtype, DType)
}
_NAMES |= {"double": dtypes.float64, "half": dtypes.float16}


def __getattr__(name: str) -> DType:
    base = _NAMES.get(name.removesuffix("_ref"))
    if base is None or not name.endswith("_ref"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return as_dtype(base).as_ref
