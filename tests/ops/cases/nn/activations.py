"""Activations and their gradients, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, log1p
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.op import Op
from tfteach.ops.nn.activations import (
    Elu,
    EluGrad,
    LeakyRelu,
    LeakyReluGrad,
    Relu,
    Relu6,
    Relu6Grad,
    ReluGrad,
    Selu,
    SeluGrad,
    Softplus,
    SoftplusGrad,
    Softsign,
    SoftsignGrad,
)

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 7.5]], np.float32)
G = np.array([[1.0, 2.0, -3.0], [0.5, -0.75, 4.0]], np.float32)
SELU, SELU_ALPHA = 1.0507009873554805, 1.7580993408473766


def each(rule: Callable[..., float]) -> Callable[..., Any]:
    """The rule on each element in turn, in plain Python."""
    return lambda *xs: np.reshape(
        [rule(*map(float, v)) for v in zip(*(x.ravel() for x in xs), strict=True)],
        xs[0].shape,
    )


def unary(op: Op, rule: Callable[[float], float], name: str = "") -> list[Case]:
    return [
        Case(op, (X,), each(rule), name),
        Case(op, (X.astype(np.float64),), each(rule), f"{name}double"),
        Case(op, (np.float32(-0.5),), each(rule), f"{name}scalar"),
        Case(op, (np.zeros((0, 2), np.float32),), each(rule), f"{name}empty"),
    ]


def binary(op: Op, rule: Callable[[float, float], float], name: str = "") -> list[Case]:
    return [
        Case(op, (G, X), each(rule), name),
        Case(op, (np.float64(2.0), np.float64(-0.5)), each(rule), f"{name}scalar"),
    ]


CASES = [
    *unary(Relu(), lambda x: max(x, 0.0)),
    Case(Relu(), (np.array([-3, 4], np.int32),), [0, 4], "int"),
    *unary(Relu6(), lambda x: min(max(x, 0.0), 6.0)),
    *unary(Elu(), lambda x: x if x > 0 else expm1(x)),
    *unary(Selu(), lambda x: SELU * x if x > 0 else SELU_ALPHA * expm1(x)),
    *unary(LeakyRelu(), lambda x: x if x > 0 else 0.2 * x),
    *unary(LeakyRelu(1.5), lambda x: x if x > 0 else 1.5 * x, "steep-"),
    *unary(Softplus(), lambda x: log1p(exp(x))),
    Case(Softplus(), (np.float64([800.0, -800.0]),), [800.0, 0.0], "large"),
    *unary(Softsign(), lambda x: x / (1 + abs(x))),
    *binary(ReluGrad(), lambda g, x: g if x > 0 else 0.0),
    *binary(Relu6Grad(), lambda g, x: g if 0 < x < 6 else 0.0),
    *binary(EluGrad(), lambda g, y: g if y > 0 else g * (y + 1)),
    *binary(SeluGrad(), lambda g, y: g * (SELU if y > 0 else y + SELU_ALPHA)),
    *binary(LeakyReluGrad(0.3), lambda g, x: g if x > 0 else 0.3 * g),
    *binary(SoftplusGrad(), lambda g, x: g / (1 + exp(-x))),
    *binary(SoftsignGrad(), lambda g, x: g / (1 + abs(x)) ** 2),
]  # fmt: skip
