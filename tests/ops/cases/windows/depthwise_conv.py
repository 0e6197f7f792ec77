"""Convolutions channel by channel, against ordinary ones of a single channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.conv_2d import Plain
from tfteach.ops.windows.depthwise_conv import (
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)

RNG = np.random.default_rng(6)
CHANNELS = 3


def conv_cases(
    name: str, sizes: Any, window: Any, out: Any, strides: Any = (1, 1),
    dilations: Any = (1, 1), padding: str = "SAME", first: bool = False,
    times: int = 2,
) -> list[Case]:  # fmt: skip
    """The op and both gradients for one geometry; `out` says the right sizes."""
    lead = (0, 0) if padding == "VALID" else None
    plain = Plain(sizes, window, out, strides, dilations, lead)

    def wide(items: Any) -> Any:
        return (1, 1, *items) if first else (1, *items, 1)

    def native(a: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if first else a

    def last(a: Any) -> Any:
        return np.moveaxis(a, 1, -1) if first else a

    def own(a: Any, c: int, width: int) -> Any:
        return last(a)[..., c * width : (c + 1) * width]

    def forward(x: Any, w: Any) -> Any:
        parts = [plain.forward(own(x, c, 1), w[:, :, c : c + 1]) for c in range(3)]
        return native(np.concatenate(parts, -1))

    def to_input(_: Any, w: Any, g: Any) -> Any:
        parts = [plain.to_input(w[:, :, c : c + 1], own(g, c, times)) for c in range(3)]
        return native(np.concatenate(parts, -1))

    def to_filter(x: Any, _: Any, g: Any) -> Any:
        parts = [plain.to_filter(own(x, c, 1), own(g, c, times)) for c in range(3)]
        return np.concatenate(parts, 2)

    given = wide(strides), padding, "NCHW" if first else "NHWC", wide(dilations)
    x = native(RNG.normal(size=(2, *sizes, CHANNELS)))
    w = RNG.normal(size=(*window, CHANNELS, times))
    g = native(RNG.normal(size=(2, *out, CHANNELS * times)))
    x_shape, w_shape = np.array(x.shape, np.int32), np.array(w.shape, np.int32)
    return [
        Case(DepthwiseConv2dNative(*given), (x, w), forward, name),
        Case(DepthwiseConv2dNativeBackpropInput(*given), (x_shape, w, g), to_input,
             name),
        Case(DepthwiseConv2dNativeBackpropFilter(*given), (x, w_shape, g), to_filter,
             name),
    ]  # fmt: skip


CASES = [
    *conv_cases("same", (7, 6), (3, 4), (7, 6)),
    *conv_cases("single", (7, 6), (3, 2), (7, 6), times=1),
    *conv_cases("strides", (7, 8), (3, 4), (4, 4), (2, 2)),
    *conv_cases("valid", (7, 6), (3, 4), (5, 3), padding="VALID"),
    *conv_cases("dilations", (7, 9), (3, 2), (3, 7), (1, 1), (2, 2), "VALID"),
    *conv_cases("first", (7, 8), (3, 4), (4, 4), (2, 2), first=True),
]  # fmt: skip
