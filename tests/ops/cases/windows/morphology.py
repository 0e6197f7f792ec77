"""Dilation and its gradients, window by window."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.conv_2d import Plain
from tfteach.ops.windows.morphology import (
    Dilation2D,
    Dilation2DBackpropFilter,
    Dilation2DBackpropInput,
)

RNG = np.random.default_rng(13)


def wins(plain: Plain, x: Any, w: Any) -> Any:
    """(output index, tap, input index, maximum) of each window's first maximum."""
    for b in range(len(x)):
        for c in range(x.shape[-1]):
            best: dict[Any, Any] = {}
            for to, tap, at in plain.rows:
                value = x[b, *at, c] + w[*tap, c]
                if to not in best or value > best[to][2]:
                    best[to] = tap, at, value
            for to, (tap, at, value) in best.items():
                yield (b, *to, c), (*tap, c), (b, *at, c), value


def dilation_cases(
    name: str, window: Any, out: Any, strides: Any, rates: Any, padding: str
) -> list[Case]:
    lead = (0, 0) if padding == "VALID" else None
    plain = Plain((7, 6), window, out, strides, rates, lead)
    given = (1, *strides, 1), (1, *rates, 1), padding
    x, w = RNG.normal(size=(2, 7, 6, 3)), RNG.normal(size=(*window, 3))
    ties, flat = np.round(x), np.round(w)
    g = RNG.normal(size=(2, *out, 3))

    def forward(x: Any, w: Any) -> Any:
        y = np.zeros((2, *out, 3))
        for to, _, _, value in wins(plain, x, w):
            y[to] = value
        return y

    def to_input(x: Any, w: Any, g: Any) -> Any:
        found = np.zeros(x.shape)
        for to, _, at, _ in wins(plain, x, w):
            found[at] += g[to]
        return found

    def to_filter(x: Any, w: Any, g: Any) -> Any:
        found = np.zeros(w.shape)
        for to, tap, _, _ in wins(plain, x, w):
            found[tap] += g[to]
        return found

    return [
        Case(Dilation2D(*given), (x, w), forward, name),
        Case(Dilation2DBackpropInput(*given), (ties, flat, g), to_input, name),
        Case(Dilation2DBackpropFilter(*given), (ties, flat, g), to_filter, name),
    ]


CASES = [
    *dilation_cases("same", (3, 2), (7, 6), (1, 1), (1, 1), "SAME"),
    *dilation_cases("strides", (3, 2), (4, 2), (2, 3), (1, 2), "SAME"),
    *dilation_cases("valid", (3, 2), (3, 4), (1, 1), (2, 2), "VALID"),
]
