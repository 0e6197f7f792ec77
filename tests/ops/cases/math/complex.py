"""Complex numbers from and to their parts."""

from __future__ import annotations

import cmath

import numpy as np

from tests.ops.case import Case, each
from tests.ops.element_wise import X, Z, of_complex
from tfteach.framework.dtypes import complex128
from tfteach.framework.op import OPS

CASES = [
    of_complex("Conj", lambda a: a.conjugate()),
    Case(OPS["Real"](), (Z,), [1, -0.5, 3]),
    Case(OPS["Imag"](), (Z,), [2, 1, -1]),
    Case(OPS["Angle"](), (Z,), each(cmath.phase)),
    Case(OPS["ComplexAbs"](), (Z,), each(abs)),
    Case(OPS["Complex"](), (X, X[:, :1]), lambda re, im: re + 1j * im),
    Case(
        OPS["Complex"](complex128), (np.float64(1), np.float64(np.inf)),
        complex(1, np.inf), id="inf", gradient=False,
    ),
]  # fmt: skip
