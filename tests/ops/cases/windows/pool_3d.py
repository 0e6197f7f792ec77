"""Pooling over volumes, by loops over windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.pool import Plain
from tfteach.ops.windows.pool_3d import (
    AvgPool3D,
    AvgPool3DGrad,
    MaxPool3D,
    MaxPool3DGrad,
    MaxPool3DGradGrad,
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
             lambda x, _, g: native(plain.to_every_max(last(x), last(g))), name,
             gradient=False),
        Case(MaxPool3DGradGrad(*given), (ties, y, gg),
             lambda x, _, g: native(plain.of_max(last(x), last(g))), name,
             gradient=False),
        Case(AvgPool3D(*given), (gg,), lambda x: native(plain.over(last(x), np.mean)),
             name, tolerance=1e-5),
        Case(AvgPool3DGrad(*given), (shape, g),
             lambda _, g: native(plain.share(last(gg).shape, last(g))), name),
    ]  # fmt: skip


CASES = [
    *pool_cases("same", (3, 4, 5), (2, 2, 3), (2, 4, 3), (2, 1, 2)),
    *pool_cases("valid", (5, 4, 3), (3, 2, 1), (2, 3, 3), (2, 1, 1), "VALID"),
    *pool_cases("first", (3, 4, 5), (2, 2, 3), (2, 4, 3), (2, 1, 2), first=True),
]  # fmt: skip
