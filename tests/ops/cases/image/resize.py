"""Resizing, against sums over every pixel with weights by the definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.resize import (
    ResizeArea,
    ResizeBicubic,
    ResizeBicubicGrad,
    ResizeBilinear,
    ResizeBilinearGrad,
    ResizeNearestNeighbor,
    ResizeNearestNeighborGrad,
)

RNG = np.random.default_rng(21)
SMALL, LARGE = (4, 5), (7, 3)
NUMBERS = RNG.normal(size=(2, *SMALL, 6)).astype(np.float32)
LIKE = np.zeros((2, *SMALL, 17), np.float32)
WIDE = RNG.normal(size=(2, *LARGE, 17)).astype(np.float32)
BYTES = RNG.integers(0, 256, (2, *SMALL, 3)).astype(np.uint8)


def place(i: int, n: int, out: int, align: bool, half: bool) -> float:
    scale = (n - 1) / (out - 1) if align and out > 1 else n / out
    return (i + 0.5) * scale - 0.5 if half else i * scale


def triangle(distance: float) -> float:
    return max(0.0, 1 - abs(distance))


def cubic(a: float) -> Callable[[float], float]:
    def weight(distance: float) -> float:
        x = abs(round(distance * 1024) / 1024)
        if x <= 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0

    return weight


def linear_axis(n: int, out: int, align: bool, half: bool) -> Any:
    m = np.zeros((out, n))
    for i in range(out):
        p = min(max(place(i, n, out, align, half), 0), n - 1)
        m[i] = [triangle(p - j) for j in range(n)]
    return m


def nearest_axis(n: int, out: int, align: bool, half: bool) -> Any:
    m = np.zeros((out, n))
    for i in range(out):
        p = place(i, n, out, align, half) + (0.5 if align or half else 0)
        m[i, min(math.floor(p), n - 1)] = 1
    return m


def cubic_axis(n: int, out: int, align: bool, half: bool) -> Any:
    weight = cubic(-0.5 if half else -0.75)
    m = np.zeros((out, n))
    for i in range(out):
        p = place(i, n, out, align, half)
        for j in range(math.floor(p) - 1, math.floor(p) + 3):
            if not half or 0 <= j < n:
                m[i, min(max(j, 0), n - 1)] += weight(p - j)
    return m / m.sum(1, keepdims=True) if half else m


def area_axis(n: int, out: int, align: bool) -> Any:
    scale = (n - 1) / (out - 1) if align and out > 1 else n / out
    m = np.zeros((out, n))
    for i in range(out):
        for j in range(2 * n):  # the last pixel goes on
            covered = min(j + 1, (i + 1) * scale) - max(j, i * scale)
            m[i, min(j, n - 1)] += max(0.0, covered) / scale
    return m


def forward(axis: Any, *switches: bool) -> Any:
    def found(x: Any, size: Any) -> Any:
        rows = axis(x.shape[1], size[0], *switches)
        columns = axis(x.shape[2], size[1], *switches)
        return np.einsum("yi,xj,bijc->byxc", rows, columns, x.astype(float))

    return found


def backward(axis: Any, *switches: bool) -> Any:
    def found(g: Any, like: Any) -> Any:
        height, width = like.shape[1:3] if like.ndim == 4 else like
        rows = axis(height, g.shape[1], *switches)
        columns = axis(width, g.shape[2], *switches)
        return np.einsum("yi,xj,byxc->bijc", rows, columns, g.astype(float))

    return found


SWITCHES = {"": (False, False), "align": (True, False), "half": (False, True)}
KINDS = [
    (ResizeBilinear, ResizeBilinearGrad, linear_axis),
    (ResizeNearestNeighbor, ResizeNearestNeighborGrad, nearest_axis),
    (ResizeBicubic, ResizeBicubicGrad, cubic_axis),
]

CASES = []
for op, grad, axis in KINDS:
    is_nearest = op is ResizeNearestNeighbor
    for name, switches in SWITCHES.items():
        there, back = forward(axis, *switches), backward(axis, *switches)
        size, home = np.int32([7, 3]), np.int32(SMALL)
        # The outputs are float32 whatever the inputs are, too coarse for differences:
        # that gradients are the transposed map is what the gradients' own rows say.
        CASES += [
            Case(op(*switches), (NUMBERS, size), there, name, False, 2e-6),
            Case(op(*switches), (WIDE, home), there, f"{name}-wide", False, 2e-6),
            Case(op(*switches), (BYTES, size), there, f"{name}-bytes", False, 1e-4),
            Case(
                grad(*switches), (WIDE, home if is_nearest else LIKE), back, name,
                False, 4e-6,
            ),
        ]  # fmt: skip
CASES += [
    Case(
        ResizeNearestNeighborGrad(), (np.int8([[[[1], [2], [3]]]]), np.int32([1, 2])),
        np.int8([[[[3], [3]]]]), "int", False,
    ),
    Case(ResizeBilinear(), (NUMBERS, np.int32([4, 5])), NUMBERS, "same", False),
    Case(ResizeArea(), (NUMBERS, np.int32([3, 2])), forward(area_axis, False),
         tolerance=2e-6),
    Case(ResizeArea(), (BYTES, np.int32([7, 2])), forward(area_axis, False), "bytes",
         tolerance=1e-4),
    Case(ResizeArea(True), (WIDE, np.int32([4, 2])), forward(area_axis, True),
         "align", tolerance=2e-6),
]  # fmt: skip
