"""Sorting, searching, distinct values; by Python's sort or written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import f32, i32
from tfteach.framework.dtypes import as_dtype
from tfteach.ops.array.top_k_unique import (
    Bitcast,
    ListDiff,
    LowerBound,
    TopKV2,
    Unique,
    UniqueWithCounts,
    UpperBound,
)

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
        Bitcast(as_dtype("int32")),
        (np.array([1, -2], np.float32),),
        [1065353216, -1073741824],
        gradient=False,
        exact_shape=False,
    ),
    Case(
        Bitcast(as_dtype("uint8")),
        (np.array([1, 258], np.int32),),
        [[1, 0, 0, 0], [2, 1, 0, 0]],
        "narrower",
        gradient=False,
        exact_shape=False,
    ),
    Case(
        TopKV2(),
        (np.array([[1, 3, 3.0, 2], [5, 5, 1, 7]], np.float32), np.int32(3)),
        ([[3, 3, 2], [7, 5, 5]], [[1, 2, 3], [3, 0, 1]]),
        gradient=False,
    ),
    Case(TopKV2(), (LONG, np.int32(3)), largest, "few of many", gradient=False),
    Case(TopKV2(), (LONG.astype(np.int8), np.int32(3)), largest, "few ints"),
    Case(TopKV2(), (FEW, np.int32(3)), largest, "the least", gradient=False),
    Case(
        Unique(),
        (i32(3, 1, 3, 2, 1),),
        ([3, 1, 2], [0, 1, 0, 2, 1]),
        exact_shape=False,
        gradient=False,
    ),
    Case(
        Unique(),
        (np.array(["b", "a", "b"], object),),
        (np.array([b"b", b"a"], object), [0, 1, 0]),
        "text",
        exact_shape=False,
    ),
    Case(
        UniqueWithCounts(),
        (i32(3, 1, 3, 2, 1),),
        ([3, 1, 2], [0, 1, 0, 2, 1], [2, 2, 1]),
        exact_shape=False,
        gradient=False,
    ),
    Case(
        ListDiff(),
        (i32(1, 5, 2, 5, 3), i32(2, 1)),
        ([5, 5, 3], [1, 3, 4]),
        exact_shape=False,
        gradient=False,
    ),
    Case(
        LowerBound(),
        (f32(1, 5), np.array([[-1, 1.5, 2, 9]], np.float32)),
        [[0, 1, 2, 5]],
        gradient=False,
    ),
    Case(
        UpperBound(),
        (f32(1, 5), np.array([[-1, 1.5, 2, 9]], np.float32)),
        [[0, 2, 2, 5]],
        gradient=False,
    ),
]  # fmt: skip
