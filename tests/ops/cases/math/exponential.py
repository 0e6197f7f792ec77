"""Exponentials, logarithms, roots and hyperbolic functions, in plain Python."""

from __future__ import annotations

import cmath
import math

from tests.ops.case import Case
from tests.ops.element_wise import (
    POSITIVE,
    X,
    complex_gradient,
    of_complex,
    of_half,
    real,
)
from tfteach.framework.op import OPS

CASES = [
    real("Exp", X, math.exp),
    real("Expm1", X, math.expm1),
    real("Log", POSITIVE, math.log),
    real("Log1p", POSITIVE, math.log1p),
    real("Sigmoid", X, lambda a: 1 / (1 + math.exp(-a))),
    real("Tanh", X, math.tanh),
    of_complex("Exp", cmath.exp),
    of_complex("Expm1", lambda a: cmath.exp(a) - 1),
    of_complex("Log", cmath.log),
    of_complex("Log1p", lambda a: cmath.log(1 + a)),
    of_complex("Sigmoid", lambda a: 1 / (1 + cmath.exp(-a))),
    of_complex("Tanh", cmath.tanh),
    Case(OPS["SigmoidGrad"](), (POSITIVE, X), lambda y, dy: dy * y * (1 - y)),
    Case(OPS["TanhGrad"](), (POSITIVE, X), lambda y, dy: dy * (1 - y * y)),
    complex_gradient("SigmoidGrad", lambda y: y * (1 - y)),
    complex_gradient("TanhGrad", lambda y: 1 - y * y),
    of_half("Exp", math.exp),
    of_half("Sigmoid", lambda a: 1 / (1 + math.exp(-a))),
]  # fmt: skip
