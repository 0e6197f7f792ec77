"""Trigonometric and hyperbolic functions, in plain Python."""

from __future__ import annotations

import cmath
import math

from tests.ops.element_wise import ABOVE_ONE, SMALL, X, of_complex, real

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
]  # fmt: skip
