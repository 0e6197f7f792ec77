"""Reductions of chosen rows by segment, one row at a time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.sparse import sparse_segment

NONE = np.zeros(0, np.int32)
DATA = np.float64([[1, 2], [3, -4], [5, 6], [-7, 8], [0.5, 9]])
INDICES = np.int32([4, 0, 1, 1, 2, 4])
IDS = np.int32([0, 0, 2, 2, 2, 3])


def segments(power: float, count: int | None = None) -> Any:
    def apply(data: Any, indices: Any, ids: Any, *_: Any) -> Any:
        rows = int(ids[-1]) + 1 if count is None else count
        found = np.zeros((rows, *data.shape[1:]))
        for index, i in zip(indices, ids, strict=True):
            found[i] += data[index] / Counter(ids.tolist())[i] ** power
        return found

    return apply


def shares(power: float) -> Any:
    def apply(grad: Any, indices: Any, ids: Any, rows: Any) -> Any:
        found = np.zeros((int(rows), *grad.shape[1:]))
        for index, i in zip(indices, ids, strict=True):
            found[index] += grad[i] / Counter(ids.tolist())[i] ** power
        return found

    return apply


def sparse_rows() -> list[Case]:
    found = []
    for name, power in (("Sum", 0.0), ("Mean", 1.0), ("SqrtN", 0.5)):
        plain = getattr(sparse_segment, f"SparseSegment{name}")
        counted = getattr(sparse_segment, f"SparseSegment{name}WithNumSegments")
        inputs = DATA, INDICES, IDS
        found += [
            Case(plain(), inputs, segments(power), exact_shape=False),
            Case(plain(), (DATA, NONE, NONE), DATA[:0], "none", exact_shape=False),
            Case(counted(), (*inputs, np.int32(6)), segments(power, 6)),
        ]
        if power:
            share = getattr(sparse_segment, f"SparseSegment{name}Grad")
            inputs = DATA[:4], INDICES, IDS, np.int32(5)
            found.append(Case(share(), inputs, shares(power)))
    return found


CASES = [
    *sparse_rows(),
]  # fmt: skip
