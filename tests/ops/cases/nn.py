"""Activations, softmax, losses, biases."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, log1p
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.op import Op
from tfteach.ops.array.in_top_k import InTopK, InTopKV2
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
from tfteach.ops.nn.bias_moments import BiasAdd, BiasAddGrad, BiasAddV1, L2Loss
from tfteach.ops.nn.cross_entropy import (
    SoftmaxCrossEntropyWithLogits,
    SparseSoftmaxCrossEntropyWithLogits,
)
from tfteach.ops.nn.softmax import LogSoftmax, Softmax

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 7.5]], np.float32)
G = np.array([[1.0, 2.0, -3.0], [0.5, -0.75, 4.0]], np.float32)
DEEP = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8 - 1
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


def softmax(rows: Any) -> Any:
    flat = [[float(v) for v in row] for row in rows.reshape(-1, rows.shape[-1])]
    sums = [sum(exp(v) for v in row) for row in flat]
    return np.reshape(
        [[exp(v) / s for v in row] for row, s in zip(flat, sums, strict=True)],
        rows.shape,
    )


def cross_entropy(x: Any, labels: Any) -> Any:
    p = softmax(x)
    return (-labels * np.log(p)).sum(1), p - labels


def sparse_cross_entropy(x: Any, labels: Any) -> Any:
    return cross_entropy(x, np.eye(x.shape[1])[labels])


LABELS = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], np.float32)
SCORES = np.array(
    [[0.1, 0.5, 0.4], [0.3, 0.3, 0.3], [1.0, 2.0, np.nan], [1.0, np.inf, 2.0]],
    np.float32,
)
TARGETS = np.array([2, 0, 1, 7])
IN_TOP = [True, True, False, False]
TARGETS_32 = TARGETS.astype(np.int32)

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
    Case(Softmax(), (X,), softmax),
    Case(Softmax(), (DEEP,), softmax, "deep"),
    Case(Softmax(), (np.float32([800.0, 800.0]),), [0.5, 0.5], "large"),
    Case(Softmax(), (np.zeros((3, 0), np.float32),), np.zeros((3, 0)), "empty"),
    Case(LogSoftmax(), (X,), lambda x: np.log(softmax(x))),
    Case(LogSoftmax(), (np.float64([0.0, 900.0]),), [-900.0, 0.0], "large"),
    Case(SoftmaxCrossEntropyWithLogits(), (X, LABELS), cross_entropy, gradient=False),
    Case(
        SoftmaxCrossEntropyWithLogits(), (X[:1], LABELS),
        lambda x, labels: cross_entropy(np.repeat(x, 2, 0), labels), "broadcast",
        gradient=False,
    ),
    Case(
        SparseSoftmaxCrossEntropyWithLogits(), (X, np.array([2, 0])),
        sparse_cross_entropy, gradient=False,
    ),
    Case(
        SparseSoftmaxCrossEntropyWithLogits(), (X, np.array([1, 1], np.int32)),
        sparse_cross_entropy, "int32", gradient=False,
    ),
    Case(InTopKV2(), (SCORES, TARGETS, np.int64(2)), IN_TOP, gradient=False),
    Case(InTopKV2(), (SCORES, TARGETS_32, np.int32(0)), [False] * 4, "none",
         gradient=False),
    Case(InTopK(2), (SCORES, TARGETS), IN_TOP, gradient=False),
    Case(BiasAdd(), (X, np.float32([1, 2, 3])), lambda x, b: x + b[None, :]),
    Case(BiasAdd(), (DEEP, np.float32([1, 2, 3, 4])), lambda x, b: x + b, "deep"),
    Case(
        BiasAdd("NCHW"), (DEEP, np.float32([1, 2, 3])),
        lambda x, b: x + b[None, :, None], "nchw",
    ),
    Case(BiasAdd(), (np.int32([[1, 2]]), np.int32([3, 4])), [[4, 6]], "int"),
    Case(BiasAddV1(), (X, np.float32([1, 2, 3])), lambda x, b: x + b[None, :]),
    Case(BiasAddGrad(), (X,), lambda g: [sum(map(float, c)) for c in g.T]),
    Case(
        BiasAddGrad(), (DEEP,),
        lambda g: [float(g[..., c].sum()) for c in range(4)], "deep",
    ),
    Case(
        BiasAddGrad("NCHW"), (DEEP,),
        lambda g: [float(g[:, c].sum()) for c in range(3)], "nchw",
    ),
    Case(BiasAddGrad(), (np.int8([[100], [27]]),), [127], "int"),
    Case(L2Loss(), (X,), lambda t: sum(float(v) ** 2 for v in t.ravel()) / 2),
    Case(L2Loss(), (np.float64(3.0),), 4.5, "scalar"),
]  # fmt: skip
