"""Sums and products of quantized numbers: of the numbers they stand for."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.quantization.quantize_dequantize import quantized
from tfteach.framework.dtypes import qint8, qint32, quint8
from tfteach.ops.quantization.quantized_math import (
    QuantizedAdd,
    QuantizedBiasAdd,
    QuantizedMatMul,
    QuantizedMul,
)

F = np.float32
RNG = np.random.default_rng(5)
A = RNG.integers(0, 256, (4, 3))
B = RNG.integers(0, 256, (3, 5))
ROW = RNG.integers(0, 256, 3)
SIGNED = RNG.integers(-128, 128, (4, 3))
# Steps of 1, and 0 at these bytes.
LIMITS = F(-100), F(155), F(-7), F(248)
WIDE = 2.0**-8  # what one step of the sums of bytes stands for


def q8(values):
    return quantized(values, quint8)


def products(found, *limits):
    """Exact integers, of which one stands for the product of two steps."""
    return quantized(found, qint32), F(-(2.0**31)), F(2.0**31)


def sums(values, largest, room):
    """Integers of a symmetric range, to the nearest step."""
    high = largest * room
    steps = np.rint(np.asarray(values) * (2.0**32 - 1) / (2 * high))
    return quantized(steps.astype(np.int64), qint32), F(-high), F(high)


def added(x, y, room=2**14, largest=248):
    """Sums where one step of a byte is a whole number of those of the sum.

    So that the kernel, which multiplies by such a number, is exact.
    """
    step = round((2.0**32 - 1) / (2 * largest * room))
    return quantized((x + y) * step, qint32), F(-largest * room), F(largest * room)


# With this range of y a step of a byte is 2 ** 9 (but for a 2 ** 32th) of the sum's.
EVEN = F(-100), F(155), F(-256), F(-1)
CASES = [
    Case(
        QuantizedAdd(),
        (q8(A), q8(A.T.reshape(4, 3)), *EVEN),
        lambda *_: added(A - 100, A.T.reshape(4, 3) - 256, largest=256),
    ),
    Case(
        QuantizedAdd(),
        (q8(A), q8(ROW), *EVEN),
        lambda *_: added(A - 100, ROW - 256, largest=256),
        "rows",
    ),
    Case(
        QuantizedAdd(),
        (q8(np.array(9)), q8(A), *EVEN),
        lambda *_: added(-91, A - 256, largest=256),
        "scalar",
    ),
    Case(
        QuantizedMul(),
        (q8(A), q8(ROW), *LIMITS),
        lambda *_: products((A - 100) * (ROW - 7)),
    ),
    Case(
        QuantizedMul(),
        (q8(np.array(9)), q8(A), *LIMITS),
        lambda *_: products(-91 * (A - 7)),
        "scalar",
    ),
    Case(
        QuantizedBiasAdd(qint32),
        (q8(A), q8(ROW), *EVEN),
        lambda *_: sums((A - 100) + (ROW - 256), 256, 2**17),
    ),
    Case(
        QuantizedBiasAdd(qint32),
        (quantized(SIGNED, qint8), quantized(SIGNED[0], qint8), *EVEN),
        lambda *_: sums((SIGNED + 28) + (SIGNED[0] - 128), 256, 2**17),
        "int8",
    ),
    Case(
        QuantizedMatMul(),
        (q8(A), q8(B), *LIMITS),
        lambda *_: products((A - 100) @ (B - 7)),
    ),
    Case(
        QuantizedMatMul(transpose_a=True, transpose_b=True),
        (q8(A.T.copy()), q8(B.T.copy()), *LIMITS),
        lambda *_: products((A - 100) @ (B - 7)),
        "transposed",
    ),
]
