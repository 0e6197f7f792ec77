"""Element-wise functions of one tensor."""

from __future__ import annotations

import cmath
import math

import numpy as np
import scipy.special

from tests.ops.case import Case, each
from tfteach.framework.dtypes import complex128, float32, float64, int32, uint8
from tfteach.framework.op import OPS
from tfteach.ops.math.cast import Cast
from tfteach.ops.special.erf_lgamma import Polygamma, Zeta

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.25]], np.float32)
SMALL = np.array([[0.5, -0.75, 0.1], [0.3, -0.25, 0.9]], np.float32)
POSITIVE = np.array([[0.5, 1.5, 2.0], [3.0, 0.25, 12.5]], np.float32)
ABOVE_ONE = POSITIVE + 1
Z = np.array([1 + 2j, -0.5 + 1j, 3 - 1j], np.complex64)
INT = np.array([[3, -2, 0], [1, 5, -7]], np.int32)
HALF = np.array([0.5, 1.5, 2.0], np.float16)
ODD = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)


def sign(a: float) -> float:
    return math.copysign(1, a) if a else 0


REAL = {
    "Neg": (X, lambda a: -a),
    "Abs": (X, abs),
    "Sign": (X, sign),
    "Square": (X, lambda a: a * a),
    "Sqrt": (POSITIVE, math.sqrt),
    "Rsqrt": (POSITIVE, lambda a: 1 / math.sqrt(a)),
    "Reciprocal": (X, lambda a: 1 / a),
    "Inv": (X, lambda a: 1 / a),
    "Exp": (X, math.exp),
    "Expm1": (X, math.expm1),
    "Log": (POSITIVE, math.log),
    "Log1p": (POSITIVE, math.log1p),
    "Sigmoid": (X, lambda a: 1 / (1 + math.exp(-a))),
    "Tanh": (X, math.tanh),
    "Sin": (X, math.sin),
    "Cos": (X, math.cos),
    "Tan": (SMALL, math.tan),
    "Asin": (SMALL, math.asin),
    "Acos": (SMALL, math.acos),
    "Atan": (X, math.atan),
    "Sinh": (X, math.sinh),
    "Cosh": (X, math.cosh),
    "Asinh": (X, math.asinh),
    "Acosh": (ABOVE_ONE, math.acosh),
    "Atanh": (SMALL, math.atanh),
    "Floor": (X, math.floor),
    "Ceil": (X, math.ceil),
    "Rint": (X, round),
    "Round": (X, round),
    "Erf": (X, lambda a: scipy.special.erf(a)),
    "Erfc": (X, lambda a: scipy.special.erfc(a)),
    "Lgamma": (X, lambda a: scipy.special.gammaln(a)),
    "Digamma": (X, lambda a: scipy.special.digamma(a)),
}
COMPLEX = {
    "Neg": lambda a: -a,
    "Sign": lambda a: a / abs(a),
    "Square": lambda a: a * a,
    "Sqrt": cmath.sqrt,
    "Rsqrt": lambda a: 1 / cmath.sqrt(a),
    "Reciprocal": lambda a: 1 / a,
    "Exp": cmath.exp,
    "Expm1": lambda a: cmath.exp(a) - 1,
    "Log": cmath.log,
    "Log1p": lambda a: cmath.log(1 + a),
    "Sigmoid": lambda a: 1 / (1 + cmath.exp(-a)),
    "Tanh": cmath.tanh,
    "Sin": cmath.sin,
    "Cos": cmath.cos,
    "Tan": cmath.tan,
    "Sinh": cmath.sinh,
    "Cosh": cmath.cosh,
    "Conj": lambda a: a.conjugate(),
}
# Of these TF's rules pass the conjugate on to the kernel, of the others not.
PLAIN = {"SigmoidGrad": lambda y: y * (1 - y), "TanhGrad": lambda y: 1 - y * y}
CONJUGATING = {
    "SqrtGrad": lambda y: 0.5 / y.conjugate(),
    "RsqrtGrad": lambda y: -0.5 * y.conjugate() ** 3,
    "ReciprocalGrad": lambda y: -(y.conjugate() ** 2),
}
ADJOINTS = {
    "SqrtGrad": lambda y, dy: 0.5 * dy / y,
    "RsqrtGrad": lambda y, dy: -0.5 * dy * y**3,
    "ReciprocalGrad": lambda y, dy: -dy * y * y,
    "InvGrad": lambda y, dy: -dy * y * y,
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
}
INTEGERS = {
    "Neg": lambda a: -a, "Abs": abs, "Sign": sign, "Square": lambda a: a * a,
    "Round": lambda a: a,
}  # fmt: skip

CASES = [
    *(
        Case(OPS[name](), (x,), each(function), tolerance=2e-6)
        for name, (x, function) in REAL.items()
    ),
    *(
        Case(OPS[name](), (Z,), each(function), id="complex", tolerance=1e-5,
             gradient=name != "Sign")
        for name, function in COMPLEX.items()
    ),
    *(
        Case(OPS[name](), (INT,), each(function), id="int")
        for name, function in INTEGERS.items()
    ),
    *(Case(OPS[name](), (POSITIVE, X), f) for name, f in ADJOINTS.items()),
    *(
        Case(OPS[name](), (Z, 0 * Z + 1), each(lambda y, _, f=f: f(y)), id="complex",
             tolerance=1e-5, gradient=False)
        for name, f in (PLAIN | CONJUGATING).items()
    ),
    *(
        Case(OPS[name](), (HALF,), each(REAL[name][1]), id="half", tolerance=2e-3)
        for name in ("Exp", "Sqrt", "Rsqrt", "Sigmoid", "Erf", "Lgamma", "Digamma")
    ),
    Case(OPS["IsNan"](), (ODD,), [False, False, True, False]),
    Case(OPS["IsInf"](), (ODD,), [True, True, False, False]),
    Case(OPS["IsFinite"](), (ODD,), [False, False, False, True]),
    Case(OPS["Real"](), (Z,), [1, -0.5, 3]),
    Case(OPS["Imag"](), (Z,), [2, 1, -1]),
    Case(OPS["Angle"](), (Z,), each(cmath.phase)),
    Case(OPS["ComplexAbs"](), (Z,), each(abs)),
    Case(OPS["Complex"](), (X, X[:, :1]), lambda re, im: re + 1j * im),
    Case(
        OPS["Complex"](complex128), (np.float64(1), np.float64(np.inf)),
        complex(1, np.inf), id="inf", gradient=False,
    ),
    Case(Cast(float64), (X,), X.astype(np.float64)),
    Case(Cast(int32), (X,), each(math.trunc), id="cut"),
    Case(Cast(float32), (X,), X, id="same"),
    Case(Cast(uint8), (np.int32([1, 300, -1]),), [1, 44, 255], id="wraps"),
    Case(Cast(float32), (Z,), [1, -0.5, 3], id="complex", gradient=False),
    Case(Cast(float32), (np.bool_([True, False]),), [1, 0], id="bool"),
    Case(
        Zeta(), (np.float64([2, 3.5, 1.5]), np.float64([1, 0.25, 20])),
        scipy.special.zeta, tolerance=1e-12,
    ),
    Case(
        Polygamma(), (np.float64([[0], [1], [3]]), np.float64([0.5, 2.25])),
        scipy.special.polygamma, tolerance=1e-11,
    ),
]  # fmt: skip
