"""Element-wise arithmetic of two tensors, and sums of lists."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.case import Case, each
from tfteach.framework.op import OPS, Op
from tfteach.ops.math import binary as arithmetic
from tfteach.ops.math import division
from tfteach.ops.math.add_n import AccumulateNV2, AddN, ClipByValue

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
ROW = np.array([1.0, -2.0, 0.5], np.float32)
COLUMN = np.array([[2.5], [-4.0]], np.float32)
POSITIVE = np.array([[0.5, 1.5, 2.0], [3.0, 0.25, 1.25]], np.float32)
WHOLE = np.array([[7, -7, 6], [-6, 1, 0]], np.int32)
DIVISORS = np.array([2, -2, 4], np.int32)
Z = np.array([1 + 2j, -0.5 + 1j, 3 - 1j], np.complex64)
W = np.array([2 - 1j, 1 + 1j, 0.5 + 0.25j], np.complex64)
INF_AND_NAN = np.array([np.inf, np.nan, 2.0], np.float32)
ZEROS = np.array([0.0, 0.0, np.nan], np.float32)


def floats(name: str, function, **more) -> list[Case]:
    """Rows of float inputs: broadcasting a row, a column, a scalar; equal shapes."""
    op: Op = OPS[name]()
    expect = each(function)
    return [
        Case(op, (X, ROW), expect, id="row", **more),
        Case(op, (COLUMN, ROW), expect, id="column", **more),
        Case(op, (np.float32(1.5), X), expect, id="scalar", **more),
        Case(op, (X, (X[::-1] + 0.125)), expect, id="same", **more),
    ]


def whole(name: str, function) -> Case:
    return Case(OPS[name](), (WHOLE, DIVISORS), each(function), id="int")


def cut(a: int, b: int) -> int:
    """Division as C does it."""
    return math.trunc(a / b)


CASES = [
    *floats("Add", lambda a, b: a + b),
    *floats("AddV2", lambda a, b: a + b),
    *floats("Sub", lambda a, b: a - b),
    *floats("Mul", lambda a, b: a * b),
    *floats("MulNoNan", lambda a, b: a * b),
    *floats("RealDiv", lambda a, b: a / b),
    *floats("Div", lambda a, b: a / b),
    *floats("DivNoNan", lambda a, b: a / b),
    *floats("FloorDiv", lambda a, b: math.floor(a / b)),
    *floats("TruncateDiv", lambda a, b: a / b, gradient=False),  # no floats are cut
    *floats("FloorMod", lambda a, b: a % b, gradient=False),
    Case(division.FloorMod(), (X + 0.07, ROW), each(lambda a, b: a % b), id="smooth",
         tolerance=1e-5),
    *floats("TruncateMod", math.fmod, gradient=False),
    *floats("Mod", math.fmod, gradient=False),
    *floats("Maximum", max),
    *floats("Minimum", min),
    *floats("SquaredDifference", lambda a, b: (a - b) ** 2),
    *floats("Xdivy", lambda a, b: a / b),
    Case(division.Atan2(), (X, X[::-1] + 0.1), each(math.atan2)),
    Case(division.Atan2(), (X, ROW), each(math.atan2), id="row", gradient=False),
    Case(division.Xlogy(), (X, POSITIVE), each(lambda a, b: a * math.log(b))),
    Case(arithmetic.Pow(), (POSITIVE, ROW), each(lambda a, b: a**b)),
    Case(arithmetic.Pow(), (POSITIVE, X), each(lambda a, b: a**b), id="same"),
    Case(arithmetic.Pow(), (DIVISORS, np.int32(3)), [8, -8, 64], id="int"),
    whole("Add", lambda a, b: a + b),
    whole("AddV2", lambda a, b: a + b),
    whole("Sub", lambda a, b: a - b),
    whole("Mul", lambda a, b: a * b),
    whole("Div", cut),
    whole("TruncateDiv", cut),
    whole("FloorDiv", lambda a, b: a // b),
    whole("FloorMod", lambda a, b: a % b),
    whole("TruncateMod", lambda a, b: a - b * cut(a, b)),
    whole("Mod", lambda a, b: a - b * cut(a, b)),
    whole("Maximum", max),
    whole("Minimum", min),
    whole("SquaredDifference", lambda a, b: (a - b) ** 2),
    *(
        Case(OPS[name](), (Z, W), each(function), id="complex", tolerance=1e-5)
        for name, function in {
            "AddV2": lambda a, b: a + b,
            "Mul": lambda a, b: a * b,
            "RealDiv": lambda a, b: a / b,
        }.items()
    ),
    Case(
        arithmetic.SquaredDifference(), (Z, W), each(lambda a, b: abs(a - b) ** 2),
        id="complex", gradient=False,
    ),
    Case(
        arithmetic.Add(), (np.array(["a", "b"], object), np.array("!", object)),
        np.array([b"a!", b"b!"], object), id="strings",
    ),
    Case(
        arithmetic.Add(), (np.array("a", object), np.array("!", object)),
        np.array(b"a!", object), id="string-scalars",
    ),
    Case(
        arithmetic.MulNoNan(), (INF_AND_NAN, np.zeros(3, np.float32)), [0, 0, 0],
        id="zero", gradient=False,
    ),
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
    Case(AddN(), ([X, X + 1, -X],), lambda arrays: arrays[0] + 1),
    Case(AddN(), ([X],), X, id="one"),
    Case(AccumulateNV2((2, 3)), ([X, X + 1, -X],), lambda arrays: arrays[0] + 1),
    Case(
        ClipByValue(), (X, np.float32(-1), np.float32(1)),
        [[0.5, -1, 1], [1, -0.25, 1]],
    ),
    Case(
        OPS["BroadcastGradientArgs"](), (np.int32([2, 1, 4]), np.int32([3, 4])),
        ([1], [0]), exact_shape=False,
    ),
    Case(
        OPS["BroadcastGradientArgs"](), (np.int32([2, 1]), np.int32([2, 1])),
        ([], []), id="same", exact_shape=False,
    ),
    Case(
        OPS["BroadcastGradientArgs"](), (np.int64([]), np.int64([5])),
        ([0], []), id="scalar", exact_shape=False,
    ),
]  # fmt: skip
