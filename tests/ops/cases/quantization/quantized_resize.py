"""Resized integers: between two pixels by fractions, rounded down at each step."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.quantization.quantize_dequantize import quantized
from tfteach.framework.dtypes import qint32, quint8
from tfteach.ops.quantization.quantized_resize import QuantizedResizeBilinear

F = np.float32
RANGE = F(-1), F(3)
ROW = [10, 20, 41]  # one image, three pixels wide
TWICE = [10, 15, 20, 31, 41, 41]  # 30.5 is rounded up
CORNERS = [10, 15, 20, 31, 41]  # at 0, 0.5, 1, 1.5, 2
CENTERS = [10, 13, 18, 25, 36, 41]  # at -0.25, 0.25, 0.75, ...


def row(values, dtype):
    array = np.reshape(values, (1, 1, -1, 1))
    return array.astype(F) if dtype is None else quantized(array, dtype)


def case(op, dtype, values, name):
    size = np.array([2, len(values)], np.int32)

    def expect(*_):
        return np.concatenate([row(values, dtype)] * 2, 1), *RANGE

    return Case(op, (row(ROW, dtype), size, *RANGE), expect, name)


CASES = [
    case(QuantizedResizeBilinear(), quint8, TWICE, ""),
    case(QuantizedResizeBilinear(), qint32, TWICE, "int32"),
    case(QuantizedResizeBilinear(), None, [10, 15, 20, 30.5, 41, 41], "float"),
    case(QuantizedResizeBilinear(True), quint8, CORNERS, "corners"),
    case(QuantizedResizeBilinear(False, True), quint8, CENTERS, "centers"),
    Case(
        QuantizedResizeBilinear(),
        (row(ROW, qint32), np.array([1, 3], np.int32), *RANGE),
        (row(ROW, qint32), *RANGE),
        "same",
    ),
]
