"""Remainders, by Python."""

from __future__ import annotations

import math

from tests.ops.case import Case, each
from tests.ops.element_wise import ROW, X, floats, whole
from tfteach.ops.math.modulo import FloorMod


def cut(a: int, b: int) -> int:
    """Division as C does it."""
    return math.trunc(a / b)


CASES = [
    *floats("FloorMod", lambda a, b: a % b, gradient=False),
    Case(FloorMod(), (X + 0.07, ROW), each(lambda a, b: a % b), id="smooth",
         tolerance=1e-5),
    *floats("TruncateMod", math.fmod, gradient=False),
    *floats("Mod", math.fmod, gradient=False),
    whole("FloorMod", lambda a, b: a % b),
    whole("TruncateMod", lambda a, b: a - b * cut(a, b)),
    whole("Mod", lambda a, b: a - b * cut(a, b)),
]  # fmt: skip
