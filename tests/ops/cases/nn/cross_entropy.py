"""Cross entropies, from the softmax in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.nn.softmax import softmax
from tfteach.ops.nn.cross_entropy import (
    SoftmaxCrossEntropyWithLogits,
    SparseSoftmaxCrossEntropyWithLogits,
)

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 7.5]], np.float32)


def cross_entropy(x: Any, labels: Any) -> Any:
    p = softmax(x)
    return (-labels * np.log(p)).sum(1), p - labels


def sparse_cross_entropy(x: Any, labels: Any) -> Any:
    return cross_entropy(x, np.eye(x.shape[1])[labels])


LABELS = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], np.float32)

CASES = [
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
]  # fmt: skip
