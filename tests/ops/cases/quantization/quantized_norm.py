"""Normalized bytes: by numbers in double precision, channel by channel."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.quantization.quantize_dequantize import quantized
from tfteach.framework.dtypes import qint32, quint8
from tfteach.ops.quantization.quantized_norm import (
    QuantizedBatchNormWithGlobalNormalization,
    QuantizedInstanceNorm,
)

F = np.float32
RNG = np.random.default_rng(9)
IMAGE = RNG.integers(0, 256, (2, 3, 4, 3))
RANGE = F(0), F(255)
# Numbers with few bits: nothing is rounded.
MEAN, VARIANCE, BETA, GAMMA = [8, 16, 255], [3, 15, 255], [0, 1, 7], [2, 4, 8]


def q8(*values):
    return quantized(values, quint8)


def normalized(scaled):
    """In steps of 1 / 2048."""
    gamma = np.array(GAMMA) if scaled else 1
    factors = gamma / np.sqrt(np.array(VARIANCE) + 1)
    found = IMAGE * factors + (np.array(BETA) - MEAN * factors)
    limits = F(-(2.0**20)), F(2.0**20)
    return quantized(np.rint(found * 2048), qint32), *limits


def batch_norm(scaled, name=""):
    parts = [quantized(IMAGE, quint8), *RANGE]
    for vector in (MEAN, VARIANCE, BETA, GAMMA):
        parts += [q8(*vector), *RANGE]
    return Case(
        QuantizedBatchNormWithGlobalNormalization(qint32, 1.0, scaled),
        tuple(parts),
        lambda *_: normalized(scaled),
        name,
    )


def of_instances(low=None, high=None):
    mean = IMAGE.mean((1, 2), keepdims=True)
    variance = IMAGE.var((1, 2), keepdims=True)
    found = (IMAGE - mean) / np.sqrt(variance + 1e-5)
    low = found.min() if low is None else low
    high = found.max() if high is None else high
    scale = 255 / (high - low)
    steps = np.rint(found * scale) - np.rint(low * scale)
    return quantized(np.clip(steps, 0, 255), quint8), F(low), F(high)


CASES = [
    batch_norm(True),
    batch_norm(False, "not_scaled"),
    Case(
        QuantizedInstanceNorm(),
        (quantized(IMAGE, quint8), *RANGE),
        lambda *_: of_instances(),
    ),
    Case(
        QuantizedInstanceNorm(True, -1.0, 1.0),
        (quantized(IMAGE, quint8), *RANGE),
        lambda *_: of_instances(-1.0, 1.0),
        "given",
    ),
    Case(
        QuantizedInstanceNorm(min_separation=9.0),
        (quantized(np.full((1, 2, 2, 1), 7), quint8), *RANGE),
        (quantized(np.zeros((1, 2, 2, 1)), quint8), F(0), F(9)),
        "separated",
    ),
]
