"""Casts; the answers are written out."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.case import Case, each
from tests.ops.element_wise import X, Z
from tfteach.framework.dtypes import float32, float64, int32, uint8
from tfteach.ops.math.cast import Cast

CASES = [
    Case(Cast(float64), (X,), X.astype(np.float64)),
    Case(Cast(int32), (X,), each(math.trunc), id="cut"),
    Case(Cast(float32), (X,), X, id="same"),
    Case(Cast(uint8), (np.int32([1, 300, -1]),), [1, 44, 255], id="wraps"),
    Case(Cast(float32), (Z,), [1, -0.5, 3], id="complex", gradient=False),
    Case(Cast(float32), (np.bool_([True, False]),), [1, 0], id="bool"),
]  # fmt: skip
