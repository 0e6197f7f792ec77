"""Slices and their gradients; the answers are written out or filled by loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import Z, i32, looped
from tfteach.ops.array.slicing import Slice


def strided(*entries: Any) -> tuple[Any, Any, Any]:
    """begin, end, strides from triples."""
    return tuple(np.array(column, np.int32) for column in zip(*entries, strict=True))  # type: ignore[return-value]


CASES = [
    Case(
        Slice(),
        (Z, i32(1, 0, 2), i32(2, -1, 3)),
        lambda z, b, s: looped(lambda i, j, k: z[i + 1, j, k + 2], 2, 3, 3),
    ),
]
