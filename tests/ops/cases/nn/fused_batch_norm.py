"""Fused batch normalization, against NumPy in float64, channel by channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.fused_batch_norm import (
    FusedBatchNorm,
    FusedBatchNormGrad,
    FusedBatchNormGradV2,
    FusedBatchNormGradV3,
    FusedBatchNormV2,
    FusedBatchNormV3,
)

RNG = np.random.default_rng(9)
X = RNG.normal(1, 2, (4, 5, 6, 3)).astype(np.float32)
GRAD = RNG.normal(size=X.shape).astype(np.float32)
SCALE, OFFSET = np.float32([1, -2, 3]), np.float32([0.1, 0.2, -0.3])
MEAN, VARIANCE = np.float32([1, 0.5, 1.5]), np.float32([3.5, 1, 2])
NONE = np.zeros(0, np.float32)
EPSILON = 0.01


def first(a: Any) -> Any:
    return np.ascontiguousarray(np.moveaxis(a, -1, 1))


def forward(x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    x = x.astype(float)
    y, moments = np.empty_like(x), []
    for c in range(x.shape[-1]):
        own = x[..., c]
        m = mean[c] if mean.size else own.mean()
        v = variance[c] if mean.size else own.var()
        outer = v if mean.size else own.var(ddof=1)
        y[..., c] = (own - m) / np.sqrt(v + EPSILON) * scale[c] + offset[c]
        moments.append((m, outer, m, v))
    return y, *np.transpose(moments)


def backward(training: bool) -> Any:
    def found(g: Any, x: Any, scale: Any, mean: Any, variance: Any, *_: Any) -> Any:
        g, x = g.astype(float), x.astype(float)
        of_x, of_scale, of_offset = np.empty_like(x), [], []
        for c in range(x.shape[-1]):
            width = np.sqrt(variance[c] + EPSILON)
            unit = (x[..., c] - mean[c]) / width
            own = g[..., c]
            of_scale.append((own * unit).sum())
            of_offset.append(own.sum())
            if training:
                own = own - own.mean() - unit * (own * unit).mean()
            of_x[..., c] = own * scale[c] / width
        rest = np.zeros(0 if training else len(scale))
        return of_x, of_scale, of_offset, rest, rest

    return found


def as_first(rule: Any, images: int) -> Any:
    """A rule for NCHW: its first `images` inputs and its first output are images."""

    def found(*arrays: Any) -> Any:
        last = [np.moveaxis(a, 1, -1) for a in arrays[:images]]
        y, *rest = rule(*last, *arrays[images:])
        return first(y), *rest

    return found


def with_zero(rule: Any) -> Any:
    return lambda *arrays: (*rule(*arrays), 0.0)


TRAIN, INFER = (EPSILON, "NHWC", True), (EPSILON, "NHWC", False)
IN_TRAIN = X, SCALE, OFFSET, NONE, NONE
IN_INFER = X, SCALE, OFFSET, MEAN, VARIANCE
M, V = X.mean((0, 1, 2)), X.var((0, 1, 2))
BACK_TRAIN, BACK_INFER = (GRAD, X, SCALE, M, V), (GRAD, X, SCALE, MEAN, VARIANCE)
ZERO = np.float32(0)
# float32 only, so no differences: the gradients' own rows check the formulas.
PLAIN: dict[str, Any] = {"gradient": False, "tolerance": 2e-5}

CASES = [
    Case(FusedBatchNorm(*TRAIN), IN_TRAIN, forward, **PLAIN),
    Case(FusedBatchNorm(*INFER), IN_INFER, forward, "infer", **PLAIN),
    Case(FusedBatchNormV2(*TRAIN), IN_TRAIN, forward, **PLAIN),
    Case(FusedBatchNormV2(*INFER), IN_INFER, forward, "infer", **PLAIN),
    Case(
        FusedBatchNormV2(*TRAIN), (X.astype(np.float16), *IN_TRAIN[1:]), forward,
        "half", gradient=False, tolerance=5e-3,
    ),
    Case(FusedBatchNormV3(*TRAIN), IN_TRAIN, with_zero(forward), exact_shape=False,
         **PLAIN),
    Case(FusedBatchNormV3(*INFER), IN_INFER, with_zero(forward), "infer",
         exact_shape=False, **PLAIN),
    Case(
        FusedBatchNormV3(EPSILON, "NCHW"), (first(X), *IN_TRAIN[1:]),
        with_zero(as_first(forward, 1)), "first", exact_shape=False, **PLAIN,
    ),
    Case(
        FusedBatchNormV3(EPSILON, "NCHW", False), (first(X), *IN_INFER[1:]),
        with_zero(as_first(forward, 1)), "first-infer", exact_shape=False, **PLAIN,
    ),
    Case(FusedBatchNormGrad(*TRAIN), BACK_TRAIN, backward(True), **PLAIN),
    Case(FusedBatchNormGrad(*INFER), BACK_INFER, backward(False), "infer", **PLAIN),
    Case(FusedBatchNormGradV2(*TRAIN), BACK_TRAIN, backward(True), **PLAIN),
    Case(FusedBatchNormGradV3(*TRAIN), (*BACK_TRAIN, ZERO), backward(True), **PLAIN),
    Case(
        FusedBatchNormGradV3(*INFER), (*BACK_INFER, ZERO), backward(False), "infer",
        **PLAIN,
    ),
    Case(
        FusedBatchNormGradV3(EPSILON, "NCHW"),
        (first(GRAD), first(X), SCALE, M, V, ZERO), as_first(backward(True), 2),
        "first", **PLAIN,
    ),
]  # fmt: skip
