"""Element-wise functions of one tensor, in plain Python."""

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
    of_int,
    real,
    sign,
)
from tfteach.framework.op import OPS

CASES = [
    real("Neg", X, lambda a: -a),
    real("Abs", X, abs),
    real("Sign", X, sign),
    real("Square", X, lambda a: a * a),
    real("Sqrt", POSITIVE, math.sqrt),
    real("Rsqrt", POSITIVE, lambda a: 1 / math.sqrt(a)),
    real("Reciprocal", X, lambda a: 1 / a),
    real("Inv", X, lambda a: 1 / a),
    of_complex("Neg", lambda a: -a),
    of_complex("Sign", lambda a: a / abs(a), gradient=False),
    of_complex("Square", lambda a: a * a),
    of_complex("Sqrt", cmath.sqrt),
    of_complex("Rsqrt", lambda a: 1 / cmath.sqrt(a)),
    of_complex("Reciprocal", lambda a: 1 / a),
    of_int("Neg", lambda a: -a),
    of_int("Abs", abs),
    of_int("Sign", sign),
    of_int("Square", lambda a: a * a),
    Case(OPS["SqrtGrad"](), (POSITIVE, X), lambda y, dy: 0.5 * dy / y),
    Case(OPS["RsqrtGrad"](), (POSITIVE, X), lambda y, dy: -0.5 * dy * y**3),
    Case(OPS["ReciprocalGrad"](), (POSITIVE, X), lambda y, dy: -dy * y * y),
    Case(OPS["InvGrad"](), (POSITIVE, X), lambda y, dy: -dy * y * y),
    complex_gradient("SqrtGrad", lambda y: 0.5 / y.conjugate()),
    complex_gradient("RsqrtGrad", lambda y: -0.5 * y.conjugate() ** 3),
    complex_gradient("ReciprocalGrad", lambda y: -(y.conjugate() ** 2)),
    of_half("Sqrt", math.sqrt),
    of_half("Rsqrt", lambda a: 1 / math.sqrt(a)),
]  # fmt: skip
