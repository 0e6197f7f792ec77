"""Convolutions over volumes, against loops over every output, tap and channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.conv_2d import Plain
from tfteach.ops.windows.conv_3d import (
    Conv3D,
    Conv3DBackpropFilterV2,
    Conv3DBackpropInputV2,
)

RNG = np.random.default_rng(4)


def conv_cases(
    name: str, sizes: Any, window: Any, out: Any, strides: Any = (1, 1, 1),
    dilations: Any = (1, 1, 1), padding: str = "SAME", first: bool = False,
) -> list[Case]:  # fmt: skip
    """The op and both gradients for one geometry; `out` says the right sizes."""
    lead = (0, 0, 0) if padding == "VALID" else None
    plain = Plain(sizes, window, out, strides, dilations, lead)

    def wide(items: Any) -> Any:
        return (1, 1, *items) if first else (1, *items, 1)

    def native(a: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if first else a

    def last(a: Any) -> Any:
        return np.moveaxis(a, 1, -1) if first else a

    layout = "NCDHW" if first else "NDHWC"
    given = wide(strides), padding, layout, wide(dilations)
    x = native(RNG.normal(size=(1, *sizes, 2)))
    w = RNG.normal(size=(*window, 2, 3))
    g = native(RNG.normal(size=(1, *out, 3)))
    x_shape, w_shape = np.array(x.shape, np.int32), np.array(w.shape, np.int32)
    return [
        Case(
            Conv3D(*given), (x, w), lambda x, w: native(plain.forward(last(x), w)), name
        ),
        Case(
            Conv3DBackpropInputV2(*given), (x_shape, w, g),
            lambda _, w, g: native(plain.to_input(w, last(g))), name,
        ),
        Case(
            Conv3DBackpropFilterV2(*given), (x, w_shape, g),
            lambda x, _, g: plain.to_filter(last(x), last(g)), name,
        ),
    ]  # fmt: skip


CASES = [
    *conv_cases("same", (3, 4, 5), (2, 3, 1), (3, 4, 5)),
    *conv_cases("strides", (5, 4, 6), (3, 2, 2), (3, 4, 2), (2, 1, 3)),
    *conv_cases("valid", (5, 4, 6), (3, 2, 2), (3, 3, 5), padding="VALID"),
    *conv_cases("dilations", (5, 4, 6), (3, 2, 2), (1, 2, 5), (1, 1, 1), (2, 2, 1),
                "VALID"),
    *conv_cases("first", (5, 4, 6), (3, 2, 2), (3, 4, 2), (2, 1, 3), first=True),
]  # fmt: skip
