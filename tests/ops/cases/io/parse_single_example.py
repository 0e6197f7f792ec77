"""One serialized Example as tensors."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.io.parse_example import TWO
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import float32, int64, string
from tfteach.ops.io.parse_single_example import ParseSingleExample

CASES = [
    Case(
        ParseSingleExample(
            1, ("s",), ("a", "b"), (string,), (int64, float32), ((2,), ())
        ),
        (text(TWO[1]), [np.int64([]), np.float32(9)]),
        (
            np.int64([[0]]),
            text([b""]),
            np.int64([1]),
            np.int64([300, 4]),
            np.float32(9),
        ),
        exact_shape=False,
    ),
    Case(
        ParseSingleExample(
            0, (), ("a", "b"), (), (int64, float32), ((None, 1), (None,))
        ),
        (text(TWO[1]), [np.int64(0), np.float32(0)]),
        (np.int64([[300], [4]]), np.float32([])),
        "sequences",
        exact_shape=False,
    ),
]
