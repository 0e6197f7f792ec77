"""Added biases and their gradients."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.bias_add import BiasAdd, BiasAddGrad, BiasAddV1

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 7.5]], np.float32)
DEEP = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8 - 1

CASES = [
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
]  # fmt: skip
