"""Strings split and reduced: real TensorFlow's answers."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.text.string_split import (
    ReduceJoin,
    StringSplit,
    StringSplitV2,
    UnsortedSegmentJoin,
)

GRID = text([[b"a", b"b", b"c"], [b"d", b"e", b"f"]])

CASES = [
    Case(
        StringSplit(),
        (text([b"hello world", b" a  b", b""]), text(b" ")),
        (
            np.int64([[0, 0], [0, 1], [1, 0], [1, 1]]),
            text([b"hello", b"world", b"a", b"b"]),
            np.int64([3, 2]),
        ),
        exact_shape=False,
    ),
    Case(
        StringSplit(False),
        (text([b"a,b;", b"c"]), text(b",;")),
        (
            np.int64([[0, 0], [0, 1], [0, 2], [1, 0]]),
            text([b"a", b"b", b"", b"c"]),
            np.int64([2, 3]),
        ),
        "all",
        exact_shape=False,
    ),
    Case(
        StringSplit(),
        (text([b"abc", b"d"]), text(b"")),
        (
            np.int64([[0, 0], [0, 1], [0, 2], [1, 0]]),
            text([b"a", b"b", b"c", b"d"]),
            np.int64([2, 3]),
        ),
        "bytes",
        exact_shape=False,
    ),
    Case(
        StringSplitV2(1),
        (text([b"a,b,,c", b" a  b"]), text(b",")),
        (
            np.int64([[0, 0], [0, 1], [1, 0]]),
            text([b"a", b"b,,c", b" a  b"]),
            np.int64([2, 2]),
        ),
        exact_shape=False,
    ),
    Case(ReduceJoin(), (GRID, np.int32(0)), text([b"ad", b"be", b"cf"])),
    Case(ReduceJoin(), (GRID, np.int32([1, 0])), text(b"abcdef"), "rows"),
    Case(ReduceJoin(), (GRID, np.int32([0, 1])), text(b"adbecf"), "columns"),
    Case(
        ReduceJoin(True, "-"),
        (GRID, np.int32([-1])),
        text([[b"a-b-c"], [b"d-e-f"]]),
        "kept",
    ),
    Case(
        UnsortedSegmentJoin("-"),
        (text([b"a", b"b", b"c"]), np.int32([1, 0, 1]), np.int32(2)),
        text([b"b", b"a-c"]),
    ),
]  # fmt: skip
