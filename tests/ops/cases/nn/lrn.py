"""Local response normalization, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.lrn import LRN, LRNGrad

RNG = np.random.default_rng(2)
X = RNG.normal(size=(2, 3, 4, 7)).astype(np.float32)
G = RNG.normal(size=X.shape).astype(np.float32)
GIVEN = 2, 1.5, 0.5, 0.75


def norms(x: Any, radius: int, bias: float, alpha: float) -> Any:
    found = np.empty(x.shape)
    for c in range(x.shape[-1]):
        own = x[..., max(0, c - radius) : c + radius + 1].astype(float)
        found[..., c] = bias + alpha * (own**2).sum(-1)
    return found


def forward(radius: int, bias: float, alpha: float, beta: float) -> Any:
    return lambda x: x / norms(x, radius, bias, alpha) ** beta


def backward(radius: int, bias: float, alpha: float, beta: float) -> Any:
    def found(g: Any, x: Any, _: Any) -> Any:
        """The sum over all outputs of g * d out / d in, by the quotient rule."""
        x, g = x.astype(float), g.astype(float)
        n = norms(x, radius, bias, alpha)
        result = g * n**-beta
        for c in range(x.shape[-1]):
            for to in range(max(0, c - radius), min(x.shape[-1], c + radius + 1)):
                slope = -beta * n[..., to] ** (-beta - 1) * 2 * alpha * x[..., c]
                result[..., c] += g[..., to] * x[..., to] * slope
        return result

    return found


Y = forward(*GIVEN)(X).astype(np.float32)

CASES = [
    Case(LRN(*GIVEN), (X,), forward(*GIVEN), gradient=False),
    Case(LRN(), (X,), forward(5, 1, 1, 0.5), "wide", gradient=False),
    Case(LRN(0), (X,), forward(0, 1, 1, 0.5), "alone", gradient=False),
    Case(LRN(), (np.float16([[[[1, 1, 1]]]]),), [[[[0.5, 0.5, 0.5]]]], "half",
         gradient=False),
    Case(LRNGrad(*GIVEN), (G, X, Y), backward(*GIVEN), tolerance=1e-5, gradient=False),
]  # fmt: skip
