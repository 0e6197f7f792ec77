"""Running sums and products, by plain loops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.op import OPS

X = np.array(
    [[[0.5, -1.5, 2.0, 1.0], [3.0, -0.25, 1.25, -2.0], [0.75, 4.0, -3.0, 0.1]],
     [[1.5, 0.5, -0.5, 2.5], [-1.0, 0.2, 3.5, 1.75], [2.25, -4.0, 0.4, 0.6]]],
    np.float32,
)  # fmt: skip


def running(step, start, exclusive=False, reverse=False):
    """A scan along an axis by a plain loop."""

    def apply(x, axis):
        moved = np.moveaxis(x, int(axis), 0)
        out = np.empty_like(moved)
        total = np.full(moved.shape[1:], start, x.dtype)
        order = range(len(moved))
        for i in reversed(order) if reverse else order:
            if exclusive:
                out[i] = total
            total = step(total, moved[i])
            if not exclusive:
                out[i] = total
        return np.moveaxis(out, 0, int(axis))

    return apply


CASES = [
    *[
    Case(
        OPS[name](exclusive, reverse), (X, np.int32(axis)),
        running(step, start, exclusive, reverse),
        id=f"{exclusive}-{reverse}-{axis}", tolerance=1e-5,
    )
    for name, step, start in (("Cumsum", np.add, 0), ("Cumprod", np.multiply, 1))
    for exclusive in (False, True)
    for reverse, axis in ((False, 1), (True, -1))
],
]  # fmt: skip
