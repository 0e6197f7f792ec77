"""Element-wise arithmetic of two tensors, in plain Python."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, each
from tests.ops.element_wise import (
    DIVISORS,
    POSITIVE,
    ROW,
    W,
    X,
    Z,
    floats,
    of_complex_pair,
    whole,
)
from tfteach.ops.math import binary as arithmetic

CASES = [
    *floats("Add", lambda a, b: a + b),
    *floats("AddV2", lambda a, b: a + b),
    *floats("Sub", lambda a, b: a - b),
    *floats("Maximum", max),
    *floats("Minimum", min),
    *floats("SquaredDifference", lambda a, b: (a - b) ** 2),
    Case(arithmetic.Pow(), (POSITIVE, ROW), each(lambda a, b: a**b)),
    Case(arithmetic.Pow(), (POSITIVE, X), each(lambda a, b: a**b), id="same"),
    Case(arithmetic.Pow(), (DIVISORS, np.int32(3)), [8, -8, 64], id="int"),
    whole("Add", lambda a, b: a + b),
    whole("AddV2", lambda a, b: a + b),
    whole("Sub", lambda a, b: a - b),
    whole("Maximum", max),
    whole("Minimum", min),
    whole("SquaredDifference", lambda a, b: (a - b) ** 2),
    of_complex_pair("AddV2", lambda a, b: a + b),
    Case(
        arithmetic.SquaredDifference(), (Z, W), each(lambda a, b: abs(a - b) ** 2),
        id="complex", gradient=False,
    ),
    Case(
        arithmetic.Add(), (np.array(["a", "b"], object), np.array("!", object)),
        np.array([b"a!", b"b!"], object), id="strings",
    ),
    Case(
        arithmetic.Add(), (np.array("a", object), np.array("!", object)),
        np.array(b"a!", object), id="string-scalars",
    ),
]  # fmt: skip
