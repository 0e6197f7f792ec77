"""Concatenation in a common range, and reshaping."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.quantization.quantize_dequantize import quantized
from tfteach.framework.dtypes import qint32, quint8
from tfteach.ops.quantization.quantized_array import QuantizedConcat, QuantizedReshape

F = np.float32
A = quantized([[0, 10, 255]], quint8)
B = quantized([[1, 10, 84]], quint8)
WIDE = quantized([[-(2**31), 0, 2**30]], qint32)

CASES = [
    Case(
        QuantizedConcat(),
        # Steps of 1 and 3, joined in a range with steps of 3.
        (np.int32(0), [A, B], [F(0), F(0)], [F(255), F(765)]),
        (quantized([[0, 3, 85], [1, 10, 84]], quint8), F(0), F(765)),
    ),
    Case(
        QuantizedConcat(),
        (np.int32(1), [A, B], [F(1), F(1)], [F(255), F(255)]),
        (quantized([[1, 11, 255, 2, 11, 85]], quint8), F(0), F(255)),
        "a range widened to 0",
    ),
    Case(
        QuantizedConcat(),
        (np.int32(0), [WIDE, WIDE], [F(-2), F(-1)], [F(1), F(2)]),
        lambda *_: (
            quantized(
                [[-(2**31), -(2**29), 2**28], [-(2**30), 2**29, 5 * 2**28]], qint32
            ),
            F(-2),
            F(2),
        ),
        "int32",
    ),
    Case(
        QuantizedReshape(),
        (A, np.int32([3, 1]), F(0), F(1)),
        (A.reshape(3, 1), F(0), F(1)),
    ),
    Case(
        QuantizedReshape(),
        (WIDE, np.int64([-1]), F(-1), F(1)),
        (WIDE.ravel(), F(-1), F(1)),
        "inferred",
    ),
]
