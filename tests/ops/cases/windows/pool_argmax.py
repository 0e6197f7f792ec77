"""Max pooling with positions, by loops over windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.pool import Plain
from tfteach.framework.dtypes import int32, int64
from tfteach.ops.windows.pool_argmax import (
    MaxPoolGradGradWithArgmax,
    MaxPoolGradWithArgmax,
    MaxPoolWithArgmax,
)

RNG = np.random.default_rng(8)


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
