"""Quantization: ranges whose steps are whole numbers, and others by hand."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import qint8, qint16, qint32, quint8, quint16
from tfteach.ops.quantization.quantize_dequantize import Dequantize, QuantizeV2

F = np.float32
X = F([[-200, -128, -1.4, -0.6, 0, 0.4], [0.6, 1.4, 99.8, 127, 128.3, 300]])


def quantized(values, dtype):
    return np.asarray(values, dtype.numpy_dtype[0]).view(dtype.numpy_dtype)


def nearest(x, low, high, shift, dtype):
    """The integers for a range with steps of 1, which begin at `low`."""
    steps = [min(max(round(float(v)), low), high) - shift for v in x.ravel()]
    values = quantized(np.reshape(steps, x.shape), dtype)
    return values, F(low), F(high)


def quantize(dtype, mode, low, high, shift, name="", rounding="HALF_AWAY_FROM_ZERO"):
    def expect(x, *_):
        return nearest(x, low, high, shift, dtype)

    op = QuantizeV2(dtype, mode, rounding)
    return Case(op, (X, F(low), F(high)), expect, name, tolerance=0)


def dequantize(dtype, mode, low, high, shift, name=""):
    values = np.array([[-128, -1, 0], [1, 100, 127]]) + (128 if dtype is quint8 else 0)

    def expect(x, *_):
        return F(values + shift)

    op = Dequantize(mode)
    return Case(op, (quantized(values, dtype), F(low), F(high)), expect, name)


CASES = [
    quantize(quint8, "MIN_COMBINED", 0, 255, 0),
    quantize(qint8, "MIN_COMBINED", -128, 127, 0, "int8"),
    quantize(quint16, "MIN_COMBINED", -100, 65435, -100, "uint16"),
    quantize(quint8, "MIN_FIRST", -100, 155, -100, "min first"),
    quantize(qint16, "MIN_FIRST", -32768, 32767, 0, "min first, int16"),
    quantize(qint8, "SCALED", -128, 127, 0, "scaled"),
    quantize(qint8, "SCALED", -128, 127, 0, "half to even", "HALF_TO_EVEN"),
    Case(
        QuantizeV2(qint8, "SCALED"),
        (F([-1, 0.25, 0.5, 2]), F(-1), F(1)),
        (quantized([-127, 32, 64, 127], qint8), F(-128 / 127), F(1)),
        "the smaller factor",
    ),
    Case(
        QuantizeV2(quint8, "MIN_FIRST"),
        (F([0.5, 1.0, 2.0]), F(1), F(2)),
        (quantized([64, 128, 255], quint8), F(0), F(2)),
        "a range widened to 0",
    ),
    Case(
        QuantizeV2(qint32, "MIN_FIRST"),
        (F([-1, 0, 0.5]), F(-1), F(1)),
        (quantized([-(2**31), 0, 2**30], qint32), F(-1), F(1)),
        "int32",
    ),
    dequantize(quint8, "MIN_COMBINED", 0, 255, 0),
    dequantize(qint8, "MIN_COMBINED", 0, 255, 128, "int8"),
    dequantize(quint8, "MIN_FIRST", -100.4, 154.6, -100, "min first"),
    dequantize(qint8, "SCALED", -128, 127, 0, "scaled"),
    dequantize(qint16, "SCALED", -32768, 32767, 0, "scaled, int16"),
]
