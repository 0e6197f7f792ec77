"""Indexing as CuPy does it, for tests/strict_card.py: out of range wraps around."""

from __future__ import annotations

from typing import Any

import numpy as np


def get_item(host: Any, index: Any) -> Any:
    return np.asarray(host[_wrapped(host, index)])


def set_item(host: Any, index: Any, value: Any) -> None:
    host[_wrapped(host, index)] = value


def _wrapped(host: Any, index: Any) -> Any:
    """The index; integers in arrays count modulo the dimension."""
    if not isinstance(index, tuple):
        index = (index,)
    parts: list[Any] = []
    axis = 0
    for i, part in enumerate(index):
        inner = part
        if part is None:
            parts.append(part)
            continue
        if part is Ellipsis:
            axis = host.ndim - sum(p is not None for p in index[i + 1 :])
        elif isinstance(part, np.ndarray) and part.dtype.kind in "iu":
            inner = part % max(host.shape[axis], 1)
        if part is not Ellipsis:
            axis += 1
        parts.append(inner)
    return tuple(parts)
