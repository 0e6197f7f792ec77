"""Rows of element-wise ops of one or two arguments, against plain Python functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.case import Case, each
from tfteach.framework.op import OPS, Op

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
ROW = np.array([1.0, -2.0, 0.5], np.float32)
COLUMN = np.array([[2.5], [-4.0]], np.float32)
WHOLE = np.array([[7, -7, 6], [-6, 1, 0]], np.int32)
DIVISORS = np.array([2, -2, 4], np.int32)
Z = np.array([1 + 2j, -0.5 + 1j, 3 - 1j], np.complex64)
W = np.array([2 - 1j, 1 + 1j, 0.5 + 0.25j], np.complex64)
INF_AND_NAN = np.array([np.inf, np.nan, 2.0], np.float32)
SMALL = np.array([[0.5, -0.75, 0.1], [0.3, -0.25, 0.9]], np.float32)
POSITIVE = np.array([[0.5, 1.5, 2.0], [3.0, 0.25, 12.5]], np.float32)
ABOVE_ONE = POSITIVE + 1
INT = np.array([[3, -2, 0], [1, 5, -7]], np.int32)
HALF = np.array([0.5, 1.5, 2.0], np.float16)


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


def of_complex_pair(name: str, function) -> Case:
    return Case(OPS[name](), (Z, W), each(function), id="complex", tolerance=1e-5)


def sign(a: float) -> float:
    return math.copysign(1, a) if a else 0


def real(name: str, x: Any, function: Any) -> Case:
    return Case(OPS[name](), (x,), each(function), tolerance=2e-6)


def of_half(name: str, function: Any) -> Case:
    return Case(OPS[name](), (HALF,), each(function), id="half", tolerance=2e-3)


def of_int(name: str, function: Any) -> Case:
    return Case(OPS[name](), (INT,), each(function), id="int")


def of_complex(name: str, function: Any, gradient: bool = True) -> Case:
    return Case(OPS[name](), (Z,), each(function), "complex", gradient, tolerance=1e-5)


def complex_gradient(name: str, function: Any) -> Case:
    """A gradient op of (y, dy) at dy = 1; TF's rules conjugate y or leave it to it."""
    return Case(
        OPS[name](), (Z, 0 * Z + 1), each(lambda y, _: function(y)), "complex", False,
        tolerance=1e-5,
    )  # fmt: skip
