"""Quotients of two tensors, in plain Python."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.case import Case, each
from tests.ops.element_wise import (
    INF_AND_NAN,
    POSITIVE,
    X,
    floats,
    of_complex_pair,
    whole,
)
from tfteach.ops.math import division

ZEROS = np.array([0.0, 0.0, np.nan], np.float32)


def cut(a: int, b: int) -> int:
    """Division as C does it."""
    return math.trunc(a / b)


CASES = [
    *floats("RealDiv", lambda a, b: a / b),
    *floats("Div", lambda a, b: a / b),
    *floats("DivNoNan", lambda a, b: a / b),
    *floats("FloorDiv", lambda a, b: math.floor(a / b)),
    *floats("TruncateDiv", lambda a, b: a / b, gradient=False),  # no floats are cut
    *floats("Xdivy", lambda a, b: a / b),
    Case(division.Xlogy(), (X, POSITIVE), each(lambda a, b: a * math.log(b))),
    whole("Div", cut),
    whole("TruncateDiv", cut),
    whole("FloorDiv", lambda a, b: a // b),
    of_complex_pair("RealDiv", lambda a, b: a / b),
    Case(
        division.DivNoNan(), (INF_AND_NAN, np.zeros(3, np.float32)), [0, 0, 0],
        id="zero", gradient=False,
    ),
    Case(
        division.Xdivy(), (np.zeros(3, np.float32), ZEROS), [0, 0, 0],
        id="zero", gradient=False,
    ),
    Case(
        division.Xlogy(), (np.zeros(3, np.float32), ZEROS), [0, 0, 0],
        id="zero", gradient=False,
    ),
]  # fmt: skip
