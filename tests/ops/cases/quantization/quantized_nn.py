"""Convolution, pooling and activations of bytes: by loops over the outputs."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.quantization.quantize_dequantize import quantized
from tfteach.framework.dtypes import qint32, quint8
from tfteach.ops.quantization.quantized_nn import (
    QuantizedAvgPool,
    QuantizedConv2D,
    QuantizedMaxPool,
    QuantizedRelu,
    QuantizedRelu6,
    QuantizedReluX,
)

F = np.float32
RNG = np.random.default_rng(6)
IMAGE = RNG.integers(0, 256, (2, 5, 4, 3))
FILTER = RNG.integers(0, 256, (3, 2, 3, 2))
ONES = (1, 1, 1, 1)
RANGE = F(0), F(255)


def q8(values):
    return quantized(values, quint8)


def windows(image, size, stride, padding):
    """The windows as masked arrays, [batch, rows, columns, *size, channels]."""
    pads = [(0, 0)] * 2
    if padding == "SAME":
        pads = []
        for n, width in zip(image.shape[1:3], size, strict=True):
            total = max((-(-n // stride) - 1) * stride + width - n, 0)
            pads.append((total // 2, total - total // 2))
    wide = np.ma.masked_all(
        tuple(n + sum(p) for n, p in
              zip(image.shape, [(0, 0), *pads, (0, 0)], strict=True)), int
    )  # fmt: skip
    (top, _), (left, _) = pads
    wide[:, top : top + image.shape[1], left : left + image.shape[2]] = image
    rows = range(0, wide.shape[1] - size[0] + 1, stride)
    columns = range(0, wide.shape[2] - size[1] + 1, stride)
    return np.ma.stack([
        np.ma.stack([wide[:, r : r + size[0], c : c + size[1]] for c in columns], 1)
        for r in rows
    ], 1)  # fmt: skip


def convolved(stride, padding, zero=0):
    """Sums of products, where padding counts nothing."""
    parts = windows(IMAGE, FILTER.shape[:2], stride, padding) - zero
    found = np.einsum("brcyxi,yxio->brco", parts.filled(0), FILTER - 7)
    return quantized(found, qint32), F(-(2.0**31)), F(2.0**31)


def conv(stride, padding, low=0, name=""):
    limits = F(low), F(low + 255), F(-7), F(248)
    return Case(
        QuantizedConv2D(strides=(1, stride, stride, 1), padding=padding),
        (q8(IMAGE), q8(FILTER), *limits),
        lambda *_: convolved(stride, padding, -low),
        name,
    )


def pool(kind, reduce, size, stride, padding, name=""):
    return Case(
        kind((1, *size, 1), (1, stride, stride, 1), padding),
        (q8(IMAGE), *RANGE),
        lambda *_: (q8(reduce(windows(IMAGE, size, stride, padding))), *RANGE),
        name,
    )


def largest(parts):
    return parts.max((3, 4)).filled(0)


def mean(parts):
    return np.floor(parts.mean((3, 4)).filled(0))


VALUES = [[0, 9, 10, 11], [15, 16, 17, 255]]
CASES = [
    conv(1, "SAME"),
    conv(2, "VALID", name="strided"),
    conv(2, "SAME", -100, "shifted"),
    pool(QuantizedMaxPool, largest, (2, 3), 1, "SAME"),
    pool(QuantizedMaxPool, largest, (2, 2), 2, "VALID", "strided"),
    Case(
        QuantizedMaxPool((1, 1, 1, 3), (1, 1, 1, 3), "VALID"),
        (q8(IMAGE), *RANGE),
        lambda *_: (q8(IMAGE.max(-1, keepdims=True)), *RANGE),
        "channels",
    ),
    pool(QuantizedAvgPool, mean, (2, 3), 1, "SAME"),
    pool(QuantizedAvgPool, mean, (2, 2), 2, "VALID", "strided"),
    Case(
        QuantizedRelu(),
        (q8(VALUES), F(-10), F(245)),
        lambda *_: (q8(np.maximum(VALUES, 10)), F(-10), F(245)),
    ),
    Case(
        QuantizedRelu(qint32),
        (quantized([-(2**31), -5, 7], qint32), F(-1), F(1)),
        (quantized([0, 0, 7], qint32), F(-1), F(1)),
        "int32",
    ),
    Case(
        QuantizedRelu6(),
        (q8(VALUES), F(-10), F(245)),
        lambda *_: (q8(np.clip(VALUES, 10, 16)), F(-10), F(245)),
    ),
    Case(
        QuantizedReluX(),
        (q8(VALUES), F(5), F(-10), F(245)),
        lambda *_: (q8(np.clip(VALUES, 10, 15)), F(-10), F(245)),
    ),
]
