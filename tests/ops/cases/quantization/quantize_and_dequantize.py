"""Floats rounded to steps by one factor: by Python's `round`."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.case import Case
from tfteach.ops.quantization.quantize_and_dequantize import (
    QuantizeAndDequantizeV2,
    QuantizeAndDequantizeV3,
)

F, D = np.float32, np.float64
X = F([[-1.5, -0.6, 0.25], [0.1, 0.75, 3.5]])


def rounded(x, step, low, high, rounding=round):
    """The multiples of `step` nearest to `x` between `low` and `high` steps."""
    steps = [min(max(rounding(float(v) / step), low), high) for v in x.ravel()]
    return np.reshape([n * step for n in steps], x.shape).astype(x.dtype)


def half_up(number):
    return math.floor(number + 0.5)


def case(op, inputs, step, low, high, name="", rounding=round):
    # The gradient passes through the steps, whose own slopes are 0.
    return Case(
        op, inputs, lambda x, *_: rounded(x, step, low, high, rounding), name,
        gradient=False,
    )  # fmt: skip


EVEN = "HALF_TO_EVEN"
CASES = [
    case(QuantizeAndDequantizeV2(num_bits=4), (X, F(0), F(0)), 0.5, -8, 7),
    case(
        QuantizeAndDequantizeV2(True, 4, True, "HALF_UP"),
        (X, F(-1), F(1.75)), 0.25, -8, 7, "half up", half_up,
    ),
    case(
        QuantizeAndDequantizeV2(True, 3, True, EVEN, True),
        (X, F(-1.5), F(1)), 0.5, -3, 3, "narrow",
    ),
    case(
        QuantizeAndDequantizeV2(False, 3, True), (D(X), D(0), D(3.5)), 0.5, 0, 7,
        "unsigned",
    ),
    case(
        QuantizeAndDequantizeV2(True, 3, True), (X, F(-2), F(0.5)), 0.5, -4, 3,
        "the lower end counts",
    ),
    case(
        QuantizeAndDequantizeV3(), (X, F(-1), F(1.75), np.int32(4)), 0.25, -8, 7
    ),
    case(
        QuantizeAndDequantizeV3(range_given=False),
        (D(X), D(0), D(0), np.int32(4)), 0.5, -8, 7, "range of the input",
    ),
]  # fmt: skip
