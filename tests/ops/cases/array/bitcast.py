"""Bytes read as another type; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import as_dtype
from tfteach.ops.array.bitcast import Bitcast

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
]  # fmt: skip
