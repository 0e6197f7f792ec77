"""The largest, by Python's sort or written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.array.top_k import TopKV2

# Rounded, so that some are equal; of FEW's rows most hold the least number there is.
LONG = np.round(np.random.default_rng(4).normal(size=(2, 5, 41)), 1).astype(np.float32)
FEW = np.where(LONG > 2, LONG, -np.inf).astype(np.float32)


def largest(rows: Any, count: Any) -> Any:
    """The largest of each row by Python's sort, and where they are."""
    flat = rows.reshape(-1, rows.shape[-1])
    order = [sorted(enumerate(row.tolist()), key=lambda x: -x[1]) for row in flat]
    places = np.array([[i for i, _ in row] for row in order])[:, : int(count)]
    values = np.take_along_axis(flat, places, -1)
    shape = (*rows.shape[:-1], int(count))
    return values.reshape(shape), places.reshape(shape)


CASES = [
    Case(
        TopKV2(),
        (np.array([[1, 3, 3.0, 2], [5, 5, 1, 7]], np.float32), np.int32(3)),
        ([[3, 3, 2], [7, 5, 5]], [[1, 2, 3], [3, 0, 1]]),
        gradient=False,
    ),
    Case(TopKV2(), (LONG, np.int32(3)), largest, "few of many", gradient=False),
    Case(TopKV2(), (LONG.astype(np.int8), np.int32(3)), largest, "few ints"),
    Case(TopKV2(), (FEW, np.int32(3)), largest, "the least", gradient=False),
]  # fmt: skip
