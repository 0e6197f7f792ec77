"""Convolutions, against loops over every output, tap and channel."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.windows.conv_2d import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
)

RNG = np.random.default_rng(3)


def some(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.normal(size=shape).astype(dtype)


def begin(size: int, out: int, k: int, s: int, d: int) -> int:
    """The zeros that SAME puts before."""
    return max((out - 1) * s + (k - 1) * d + 1 - size, 0) // 2


def triples(sizes: Any, window: Any, out: Any, s: Any, d: Any, lead: Any) -> Any:
    """(output position, tap, input position) wherever a tap falls on the image."""
    for to in product(*map(range, out)):
        for tap in product(*map(range, window)):
            at = tuple(
                t * a + i * b - p
                for t, a, i, b, p in zip(to, s, tap, d, lead, strict=True)
            )
            if all(0 <= v < n for v, n in zip(at, sizes, strict=True)):
                yield to, tap, at


class Plain:
    """A convolution by its definition, channels last."""

    def __init__(self, sizes: Any, window: Any, out: Any, s: Any, d: Any, lead: Any):
        if lead is None:
            lead = [begin(*row) for row in zip(sizes, out, window, s, d, strict=True)]
        self.sizes = sizes
        self.rows = list(triples(sizes, window, out, s, d, lead))
        self.out, self.window = out, window

    def forward(self, x: Any, w: Any) -> Any:
        y = np.zeros((x.shape[0], *self.out, w.shape[-1]))
        for to, tap, at in self.rows:
            y[:, *to] += x[:, *at].astype(float) @ w[tap].astype(float)
        return y

    def to_input(self, w: Any, g: Any) -> Any:
        x = np.zeros((g.shape[0], *self.sizes, w.shape[-2]))
        for to, tap, at in self.rows:
            x[:, *at] += g[:, *to].astype(float) @ w[tap].T.astype(float)
        return x

    def to_filter(self, x: Any, g: Any) -> Any:
        w = np.zeros((*self.window, x.shape[-1], g.shape[-1]))
        for to, tap, at in self.rows:
            w[tap] += x[:, *at].T.astype(float) @ g[:, *to].astype(float)
        return w


def conv_cases(
    name: str, sizes: Any, window: Any, out: Any, strides: Any = (1, 1),
    dilations: Any = (1, 1), padding: str = "SAME", explicit: Any = (),
    first: bool = False, dtype: Any = np.float32, depths: Any = (3, 5), batch: int = 2,
) -> list[Case]:  # fmt: skip
    """The op and both gradients for one geometry; `out` says the right sizes."""
    lead = {"SAME": None, "VALID": (0, 0)}.get(padding, explicit[:1] + explicit[2:3])
    plain = Plain(sizes, window, out, strides, dilations, lead)
    channels, outputs = depths
    layout = "NCHW" if first else "NHWC"

    def wide(items: Any, outer: Any) -> Any:
        return (outer, outer, *items) if first else (outer, *items, outer)

    def native(a: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if first else a

    def last(a: Any) -> Any:
        return np.moveaxis(a, 1, -1) if first else a

    full = ()
    if padding == "EXPLICIT":
        middle = (explicit[:2], explicit[2:])
        full = tuple(n for pair in wide(middle, (0, 0)) for n in pair)
    given = (wide(strides, 1), True, padding, full, layout, wide(dilations, 1))
    x = native(some(batch, *sizes, channels, dtype=dtype))
    w = some(*window, channels, outputs, dtype=dtype)
    g = native(some(batch, *out, outputs, dtype=dtype))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    sizes_of = np.array(x.shape, np.int32), np.array(w.shape, np.int32)
    return [
        Case(
            Conv2D(*given), (x, w), lambda x, w: native(plain.forward(last(x), w)),
            name, tolerance=tolerance,
        ),
        Case(
            Conv2DBackpropInput(*given), (sizes_of[0], w, g),
            lambda _, w, g: native(plain.to_input(w, last(g))), name,
            tolerance=tolerance,
        ),
        Case(
            Conv2DBackpropFilter(*given), (x, sizes_of[1], g),
            lambda x, _, g: plain.to_filter(last(x), last(g)), name,
            tolerance=tolerance,
        ),
    ]  # fmt: skip


CASES = [
    *conv_cases("same", (7, 6), (3, 2), (7, 6)),
    *conv_cases("double", (7, 6), (3, 2), (7, 6), dtype=np.float64),
    *conv_cases("valid", (7, 6), (3, 4), (5, 3), padding="VALID"),
    *conv_cases("strides", (7, 6), (3, 4), (4, 2), (2, 3)),
    *conv_cases("valid-strides", (8, 9), (3, 2), (3, 3), (2, 3), padding="VALID"),
    *conv_cases("gaps", (8, 9), (2, 1), (3, 3), (3, 4)),
    *conv_cases("dilations", (7, 9), (3, 2), (7, 9), dilations=(2, 3)),
    *conv_cases("valid-dilations", (7, 9), (3, 2), (3, 6), dilations=(2, 3),
                padding="VALID"),
    *conv_cases("strides-dilations", (9, 11), (3, 4), (5, 4), (2, 3), (3, 2)),
    *conv_cases("shared-factor", (9, 11), (3, 2), (5, 6), (2, 2), (2, 2)),
    *conv_cases("shared-factors", (9, 11), (3, 2), (5, 3), (2, 4), (4, 2)),
    *conv_cases("explicit", (5, 6), (3, 2), (8, 8), padding="EXPLICIT",
                explicit=(1, 4, 2, 1)),
    *conv_cases("explicit-strides", (5, 6), (3, 2), (4, 3), (2, 3),
                padding="EXPLICIT", explicit=(0, 4, 3, 0)),
    *conv_cases("explicit-wide", (4, 3), (1, 2), (11, 7), padding="EXPLICIT",
                explicit=(5, 2, 2, 3)),
    *conv_cases("first", (7, 6), (3, 2), (7, 6), first=True),
    *conv_cases("first-strides", (7, 6), (3, 4), (4, 2), (2, 3), first=True),
    *conv_cases("first-explicit", (5, 6), (3, 2), (8, 8), padding="EXPLICIT",
                explicit=(1, 4, 2, 1), first=True),
    *conv_cases("pixel", (4, 6), (1, 1), (4, 6)),
    *conv_cases("pixel-strides", (7, 6), (1, 1), (4, 3), (2, 2)),
    *conv_cases("one-channel", (8, 9), (3, 2), (8, 9), depths=(1, 4), batch=5),
    *conv_cases("few-channels", (7, 6), (3, 4), (4, 2), (2, 3), depths=(2, 8)),
    *conv_cases("few-channels-wide", (5, 6), (3, 2), (8, 8), padding="EXPLICIT",
                explicit=(1, 4, 2, 1), depths=(1, 4)),
    *conv_cases("few-channels-apart", (7, 9), (3, 2), (3, 6), dilations=(2, 3),
                padding="VALID", depths=(1, 4)),
    *conv_cases("few-channels-gaps", (8, 9), (2, 1), (3, 3), (3, 4), depths=(1, 4)),
    *conv_cases("one-output", (8, 9), (3, 2), (4, 5), (2, 2), depths=(7, 1)),
    *conv_cases("no-image", (7, 6), (3, 2), (7, 6), batch=0),
    *conv_cases("no-output", (7, 6), (3, 2), (7, 6), depths=(3, 0)),
    *conv_cases("no-channel", (7, 6), (3, 2), (7, 6), depths=(0, 3)),
    Case(
        Conv2D((1, 1, 1, 1), True, "VALID"),
        (np.ones((1, 2, 3, 1), np.float16), np.ones((2, 3, 1, 1), np.float16)),
        np.full((1, 1, 1, 1), 6.0), "half", tolerance=1e-3, gradient=False,
    ),
]  # fmt: skip
