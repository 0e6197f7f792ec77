"""Rounding, in plain Python."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.case import Case
from tests.ops.element_wise import X, of_int, real
from tfteach.framework.op import OPS

ODD = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)

CASES = [
    real("Floor", X, math.floor),
    real("Ceil", X, math.ceil),
    real("Rint", X, round),
    real("Round", X, round),
    of_int("Round", lambda a: a),
    Case(OPS["IsNan"](), (ODD,), [False, False, True, False]),
    Case(OPS["IsInf"](), (ODD,), [True, True, False, False]),
    Case(OPS["IsFinite"](), (ODD,), [False, False, False, True]),
]  # fmt: skip
