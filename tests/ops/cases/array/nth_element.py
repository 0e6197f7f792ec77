"""Order statistics: sorted rows."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.array.nth_element import NthElement

X = np.random.default_rng(3).permutation(24).reshape(2, 3, 4).astype(np.float32)
N = np.int32


def at(n, step=1):
    return lambda x, _: np.sort(x, axis=-1)[..., ::step][..., n]


CASES = [
    Case(NthElement(), (X, N(0)), at(0)),
    Case(NthElement(), (X, N(3)), at(3), "largest"),
    Case(NthElement(reverse=True), (X, N(1)), at(1, -1), "reverse"),
    Case(NthElement(), (np.int64([4, 4, 1]), N(1)), np.int64(4), "equal ones"),
    Case(
        NthElement(), (np.float16([[2], [1]]), N(0)), np.float16([2, 1]), "one column"
    ),
    Case(NthElement(), (np.zeros((0, 3)), N(2)), np.zeros(0), "no rows"),
]
