"""Distinct values and list differences; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import i32
from tfteach.framework.dtypes import int64
from tfteach.ops.array.unique import (
    ListDiff,
    Unique,
    UniqueV2,
    UniqueWithCounts,
    UniqueWithCountsV2,
)

ROWS = np.int32([[1, 0, 0], [2, 0, 0], [1, 0, 0], [0, 5, 5]])
NO_AXIS = np.zeros(0, np.int64)

CASES = [
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
    Case(UniqueV2(), (ROWS, np.int64([0])), (ROWS[[0, 1, 3]], [0, 1, 0, 2]),
         exact_shape=False),
    Case(UniqueV2(int64), (ROWS, np.int32([-1])), (ROWS[:, :2], [0, 1, 1]), "axis",
         exact_shape=False),
    Case(UniqueWithCountsV2(), (np.int32([3, 1, 3]), NO_AXIS),
         ([3, 1], [0, 1, 0], [2, 1]), exact_shape=False),
    Case(UniqueWithCountsV2(), (ROWS, np.int64([0])),
         (ROWS[[0, 1, 3]], [0, 1, 0, 2], [2, 1, 1]), "rows", exact_shape=False),
]  # fmt: skip
