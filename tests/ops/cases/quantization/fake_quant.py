"""Fake quantization: numbers rounded one by one."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.quantization.fake_quant import (
    FakeQuantWithMinMaxArgs,
    FakeQuantWithMinMaxArgsGradient,
    FakeQuantWithMinMaxVars,
    FakeQuantWithMinMaxVarsGradient,
    FakeQuantWithMinMaxVarsPerChannel,
    FakeQuantWithMinMaxVarsPerChannelGradient,
)

F = np.float32
X = np.linspace(-3, 3, 14, dtype=F).reshape(7, 2)
GRADS = np.arange(14, dtype=F).reshape(7, 2) - 6
LOW, HIGH = F([-1, 0]), F([2, 1.5])


def steps_of(low, high, bits, narrow):
    """All values that there are."""
    first, last = int(narrow), 2**bits - 1
    size = (high - low) / (last - first)
    zero = min(max(round(first - low / size), first), last)
    return [(step - zero) * size for step in range(first, last + 1)]


def nearest(x, low, high, bits=8, narrow=False):
    values = np.array(steps_of(low, high, bits, narrow))
    return values[np.abs(x[..., None] - values).argmin(-1)].astype(F)


def slopes(grads, x, low, high, bits=8):
    values = steps_of(low, high, bits, False)
    below, above = x < F(values[0]), x > F(values[-1])
    zero = np.zeros_like(grads)
    inside = np.where(below | above, zero, grads)
    return inside, F(grads[below].sum()), F(grads[above].sum())


def by_channel(grads, x, low, high):
    found = [slopes(grads[:, i], x[:, i], low[i], high[i], 3) for i in range(2)]
    inside, below, above = zip(*found, strict=True)
    return np.stack(inside, -1), F(below), F(above)


def case(op, inputs, expect, name=""):
    # The gradient passes through the steps, whose own slopes are 0.
    return Case(op, inputs, expect, name, gradient=False, tolerance=1e-5)


CASES = [
    case(FakeQuantWithMinMaxArgs(), (X,), lambda x: nearest(x, -6, 6)),
    case(
        FakeQuantWithMinMaxArgs(-1.0, 2.2, 4, True),
        (X,),
        lambda x: nearest(x, -1.0, 2.2, 4, True),
        "narrow",
    ),
    case(
        FakeQuantWithMinMaxVars(2), (X, F(0), F(1)), lambda x, *_: nearest(x, 0, 1, 2)
    ),
    case(FakeQuantWithMinMaxVars(), (X, F(0), F(0)), np.zeros_like(X), "no range"),
    case(
        FakeQuantWithMinMaxVarsPerChannel(3),
        (X, LOW, HIGH),
        lambda x, low, high: np.stack(
            [nearest(x[:, i], low[i], high[i], 3) for i in range(2)], -1
        ),
    ),
    case(
        FakeQuantWithMinMaxArgsGradient(-1.0, 2.2, 4),
        (GRADS, X),
        lambda g, x: slopes(g, x, -1.0, 2.2, 4)[0],
    ),
    case(
        FakeQuantWithMinMaxVarsGradient(4),
        (GRADS, X, F(-1), F(2.2)),
        lambda g, x, low, high: slopes(g, x, low, high, 4),
    ),
    case(
        FakeQuantWithMinMaxVarsPerChannelGradient(3), (GRADS, X, LOW, HIGH), by_channel
    ),
]
