"""Pooling over volumes, and pooling that tells positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.pool import Plain
from tfteach.framework.dtypes import int32, int64
from tfteach.ops.windows.pool_3d import (
    AvgPool3D,
    AvgPool3DGrad,
    MaxPool3D,
    MaxPool3DGrad,
    MaxPool3DGradGrad,
)
from tfteach.ops.windows.pool_argmax import (
    MaxPoolGradGradWithArgmax,
    MaxPoolGradWithArgmax,
    MaxPoolWithArgmax,
)

RNG = np.random.default_rng(8)


def pool_cases(
    name: str, sizes: Any, window: Any, out: Any, strides: Any, padding: str = "SAME",
    first: bool = False,
) -> list[Case]:  # fmt: skip
    """All five ops for one geometry; the gradients' input has ties."""
    plain = Plain(sizes, window, out, strides, padding)

    def wide(items: Any) -> Any:
        return (1, 1, *items) if first else (1, *items, 1)

    def native(a: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if first else a

    def last(a: Any) -> Any:
        return np.moveaxis(a, 1, -1) if first else a

    given = wide(window), wide(strides), padding, "NCDHW" if first else "NDHWC"
    ties = native(RNG.integers(-2, 2, (1, *sizes, 2)).astype(np.float32))
    y = native(plain.over(last(ties), np.max))
    g = native(RNG.normal(size=(1, *out, 2)).astype(np.float32))
    gg = native(RNG.normal(size=(1, *sizes, 2)).astype(np.float32))
    shape = np.array(ties.shape, np.int32)
    return [
        Case(MaxPool3D(*given), (gg,), lambda x: native(plain.over(last(x), np.max)),
             name, gradient=False),
        Case(MaxPool3DGrad(*given), (ties, y, g),
             lambda x, _, g: native(plain.to_max(last(x), last(g))), name,
             gradient=False),
        Case(MaxPool3DGradGrad(*given), (ties, y, gg),
             lambda x, _, g: native(plain.of_max(last(x), last(g))), name,
             gradient=False),
        Case(AvgPool3D(*given), (gg,), lambda x: native(plain.over(last(x), np.mean)),
             name, tolerance=1e-5),
        Case(AvgPool3DGrad(*given), (shape, g),
             lambda _, g: native(plain.share(last(gg).shape, last(g))), name),
    ]  # fmt: skip


def places(plain: Plain, x: Any, whole_batch: bool) -> Any:
    """Where the first maxima are, in the flattened image or batch."""
    found = np.zeros((x.shape[0], *plain.out, x.shape[-1]), np.int64)
    for to, at in plain.first_max(x):
        start = (at[0] if whole_batch else 0, *at[1:])
        found[to] = np.ravel_multi_index(start, x.shape)
    return found


SIZES, WINDOW, OUT, STRIDES = (7, 6), (3, 2), (4, 3), (2, 2)
FLAT = Plain(SIZES, WINDOW, OUT, STRIDES, "SAME")
TIES = RNG.integers(-2, 2, (2, *SIZES, 3)).astype(np.float32)
G = RNG.normal(size=(2, *OUT, 3)).astype(np.float32)
GG = RNG.normal(size=TIES.shape).astype(np.float32)
WIDE = (1, *WINDOW, 1), (1, *STRIDES, 1)

CASES = [
    *pool_cases("same", (3, 4, 5), (2, 2, 3), (2, 4, 3), (2, 1, 2)),
    *pool_cases("valid", (5, 4, 3), (3, 2, 1), (2, 3, 3), (2, 1, 1), "VALID"),
    *pool_cases("first", (3, 4, 5), (2, 2, 3), (2, 4, 3), (2, 1, 2), first=True),
    Case(
        MaxPoolWithArgmax(*WIDE, int64, "SAME"), (TIES,),
        lambda x: (FLAT.over(x, np.max), places(FLAT, x, False)), gradient=False,
    ),
    Case(
        MaxPoolWithArgmax(*WIDE, int32, "SAME", True), (TIES,),
        lambda x: (FLAT.over(x, np.max), places(FLAT, x, True)), "batch",
        gradient=False,
    ),
    *(
        Case(
            MaxPoolGradWithArgmax(*WIDE, "SAME", whole),
            (TIES, G, places(FLAT, TIES, whole)), lambda x, g, _: FLAT.to_max(x, g),
            "batch" if whole else "", gradient=False,
        )
        for whole in (False, True)
    ),
    *(
        Case(
            MaxPoolGradGradWithArgmax(*WIDE, "SAME", whole),
            (TIES, GG, places(FLAT, TIES, whole)), lambda x, g, _: FLAT.of_max(x, g),
            "batch" if whole else "", gradient=False,
        )
        for whole in (False, True)
    ),
]  # fmt: skip
