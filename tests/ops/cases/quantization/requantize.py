"""Other ranges for sums: by way of exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.quantization.quantize_dequantize import quantized
from tfteach.framework.dtypes import qint8, qint32, quint8
from tfteach.ops.quantization.requantize import (
    QuantizeDownAndShrinkRange,
    RequantizationRange,
    Requantize,
)

F = np.float32
LOW, HIGH = F(-(2.0**15)), F(2.0**15)
VALUES = [[-(2**24), -300000, 0], [77777, 1 << 23, 2**24 + 3]]
X = quantized(VALUES, qint32)


def real(value):
    """The number that an integer stands for."""
    return Fraction(value + 2**31) * Fraction(2**16, 2**32 - 1) - 2**15


def nearest(values, low, high, dtype):
    """The nearest steps: for quint8 from `low`, for qint8 from 0, which is a step."""
    step = (Fraction(float(high)) - Fraction(float(low))) / 255
    first = Fraction(float(low)) / step
    steps = [real(v) / step for row in values for v in row]
    if dtype is quint8:
        found = [min(max(round(n - first), 0), 255) for n in steps]
    else:
        found = [min(max(round(n) - round(first), 0), 255) - 128 for n in steps]
    return quantized(np.reshape(found, np.shape(values)), dtype)


def requantize(dtype, low, high, name=""):
    return Case(
        Requantize(dtype),
        (X, LOW, HIGH, F(low), F(high)),
        lambda *_: (nearest(VALUES, low, high, dtype), F(low), F(high)),
        name,
    )


USED = F(real(-(2**24))), F(real(2**24 + 3))
CASES = [
    Case(RequantizationRange(), (X, LOW, HIGH), USED),
    Case(
        RequantizationRange(),
        (X[1:], LOW, HIGH),
        (F(0), USED[1]),
        "not above 0",
    ),
    requantize(quint8, -200.0, 150.0),
    requantize(qint8, -200.0, 150.0, "int8"),
    requantize(quint8, 0.0, 90.0, "clipped"),
    requantize(qint8, -10.0, 90.0, "clipped, int8"),
    Case(
        QuantizeDownAndShrinkRange(quint8),
        (X, LOW, HIGH),
        lambda *_: (nearest(VALUES, *USED, quint8), *USED),
    ),
]
