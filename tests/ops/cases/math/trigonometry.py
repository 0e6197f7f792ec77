"""Trigonometric and hyperbolic functions, in plain Python."""

from __future__ import annotations

import cmath
import math

from tests.ops.case import Case, each
from tests.ops.element_wise import ABOVE_ONE, ROW, SMALL, X, of_complex, real
from tfteach.ops.math.trigonometry import Atan2

CASES = [
    real("Sin", X, math.sin),
    real("Cos", X, math.cos),
    real("Tan", SMALL, math.tan),
    real("Asin", SMALL, math.asin),
    real("Acos", SMALL, math.acos),
    real("Atan", X, math.atan),
    real("Sinh", X, math.sinh),
    real("Cosh", X, math.cosh),
    real("Asinh", X, math.asinh),
    real("Acosh", ABOVE_ONE, math.acosh),
    real("Atanh", SMALL, math.atanh),
    of_complex("Sin", cmath.sin),
    of_complex("Cos", cmath.cos),
    of_complex("Tan", cmath.tan),
    of_complex("Sinh", cmath.sinh),
    of_complex("Cosh", cmath.cosh),
    Case(Atan2(), (X, X[::-1] + 0.1), each(math.atan2)),
    Case(Atan2(), (X, ROW), each(math.atan2), id="row", gradient=False),
]  # fmt: skip
