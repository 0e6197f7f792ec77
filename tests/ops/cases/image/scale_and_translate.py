"""Scaling through filters, against sums over every pixel by the definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.scale_and_translate import (
    ScaleAndTranslate,
    ScaleAndTranslateGrad,
)

RNG = np.random.default_rng(22)
IMAGES = RNG.normal(size=(2, 5, 9, 3)).astype(np.float32)
GRADS = RNG.normal(size=(2, 4, 7, 3)).astype(np.float32)


def sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def spline(x: float, b: float, c: float) -> float:
    """The family of Mitchell and Netravali; Keys' cubic is (0, 1 / 2)."""
    if x < 1:
        return (
            (12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b
        ) / 6
    return (
        (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x
        + 8 * b + 24 * c
    ) / 6 if x < 2 else 0.0  # fmt: skip


FILTERS: dict[str, Any] = {
    "lanczos1": lambda x: sinc(x) ** 2 if x < 1 else 0.0,
    "lanczos3": lambda x: sinc(x) * sinc(x / 3) if x < 3 else 0.0,
    "lanczos5": lambda x: sinc(x) * sinc(x / 5) if x < 5 else 0.0,
    "gaussian": lambda x: math.exp(-2 * x * x) if x < 1.5 else 0.0,
    "box": lambda x: 1.0 if x < 0.5 else 0.5 if x == 0.5 else 0.0,
    "triangle": lambda x: max(0.0, 1 - x),
    "keyscubic": lambda x: spline(x, 0, 1 / 2),
    "mitchellcubic": lambda x: spline(x, 1 / 3, 1 / 3),
}


def axis(kernel: str, antialias: bool, n: int, out: int, s: float, move: float) -> Any:
    m = np.zeros((out, n))
    stretch = max(1 / s, 1) if antialias else 1
    for i in range(out):
        p = (i + 0.5 - move) / s
        if 0 <= p <= n:
            m[i] = [FILTERS[kernel](abs(j + 0.5 - p) / stretch) for j in range(n)]
            m[i] /= m[i].sum() or 1.0
    return m


def sides(op: Any, sizes: Any, out: Any, scale: Any, move: Any) -> list[Any]:
    rows = zip(sizes, out, scale.tolist(), move.tolist(), strict=True)
    return [axis(op.kernel_type, op.antialias, *row) for row in rows]


def there(op: Any) -> Any:
    def found(x: Any, size: Any, scale: Any, move: Any) -> Any:
        rows, columns = sides(op, x.shape[1:3], size, scale, move)
        return np.einsum("yi,xj,bijc->byxc", rows, columns, x.astype(float))

    return found


def back(op: Any) -> Any:
    def found(g: Any, x: Any, scale: Any, move: Any) -> Any:
        rows, columns = sides(op, x.shape[1:3], g.shape[1:3], scale, move)
        return np.einsum("yi,xj,byxc->bijc", rows, columns, g.astype(float))

    return found


SCALE, MOVE = np.float32([1.7, 0.4]), np.float32([-2.0, 1.25])
CASES = []
for kernel in FILTERS:
    for antialias in (True, False):
        op = ScaleAndTranslate(kernel, antialias)
        name = kernel if antialias else f"{kernel}-plain"
        rest, size = (SCALE, MOVE), np.int32([4, 7])
        CASES.append(Case(op, (IMAGES, size, *rest), there(op), name, False, 4e-6))
        grad = ScaleAndTranslateGrad(kernel, antialias)
        CASES.append(Case(grad, (GRADS, IMAGES, *rest), back(op), name, tolerance=4e-6))
