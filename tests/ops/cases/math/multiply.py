"""Products, by Python."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.element_wise import INF_AND_NAN, floats, of_complex_pair, whole
from tfteach.ops.math.multiply import MulNoNan

CASES = [
    *floats("Mul", lambda a, b: a * b),
    *floats("MulNoNan", lambda a, b: a * b),
    whole("Mul", lambda a, b: a * b),
    of_complex_pair("Mul", lambda a, b: a * b),
    Case(
        MulNoNan(), (INF_AND_NAN, np.zeros(3, np.float32)), [0, 0, 0],
        id="zero", gradient=False,
    ),
]  # fmt: skip
