"""Bits of integers, by Python's own."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, each
from tfteach.ops.math.bitwise import (
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    Invert,
    LeftShift,
    PopulationCount,
    RightShift,
)

X = np.int32([[6, -3, 100], [0, 7, -128]])
Y = np.int32([3, 5, 12])
BYTES = np.int8([1, -1, 100, 3])
BY = np.int8([9, -3, 1, 6])

CASES = [
    Case(BitwiseAnd(), (X, Y), each(lambda x, y: x & y)),
    Case(BitwiseOr(), (X, Y), each(lambda x, y: x | y)),
    Case(BitwiseXor(), (X, Y), each(lambda x, y: x ^ y)),
    Case(Invert(), (X,), each(lambda x: ~x)),
    Case(LeftShift(), (X, Y), each(lambda x, y: x << y)),
    Case(RightShift(), (X, Y), each(lambda x, y: x >> y)),
    # Real TensorFlow's answers where the distance is none.
    Case(LeftShift(), (BYTES, BY), np.int8([-128, -1, -56, -64]), "far"),
    Case(RightShift(), (BYTES, BY), np.int8([0, -1, 50, 0]), "far"),
    Case(LeftShift(), (np.uint8([1, 3]), np.uint8([9, 250])), [128, 128], "unsigned"),
    Case(PopulationCount(), (X,), each(lambda x: bin(x & 0xFFFFFFFF).count("1"))),
    Case(PopulationCount(), (BYTES,), [1, 8, 3, 2], "bytes"),
]
