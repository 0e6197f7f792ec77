"""Pooling, against loops over every window."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.windows.conv_2d import begin, triples
from tfteach.ops.windows.pool import (
    AvgPool,
    AvgPoolGrad,
    MaxPool,
    MaxPoolGrad,
    MaxPoolGradGrad,
)

RNG = np.random.default_rng(5)


class Plain:
    """Pooling by its definition, channels last."""

    def __init__(self, sizes: Any, window: Any, out: Any, s: Any, padding: str):
        d = (1,) * len(sizes)
        lead = [begin(*row) for row in zip(sizes, out, window, s, d, strict=True)]
        if padding == "VALID":
            lead = [0] * len(sizes)
        self.at: dict[Any, list[Any]] = {}
        for to, _, at in triples(sizes, window, out, s, d, lead):
            self.at.setdefault(to, []).append(at)
        self.sizes, self.out = sizes, out

    def over(self, x: Any, rule: Any) -> Any:
        y = np.zeros((x.shape[0], *self.out, x.shape[-1]), x.dtype)
        for to, inputs in self.at.items():
            y[:, *to] = rule(np.stack([x[:, *at] for at in inputs]), axis=0)
        return y

    def share(self, shape: Any, g: Any) -> Any:
        x = np.zeros(shape)
        for to, inputs in self.at.items():
            for at in inputs:
                x[:, *at] += g[:, *to] / len(inputs)
        return x

    def first_max(self, x: Any) -> Any:
        """(index in the output, index in the input) of each window's first maximum."""
        for to, inputs in self.at.items():
            for b in range(x.shape[0]):
                for c in range(x.shape[-1]):
                    values = [x[b, *at, c] for at in inputs]
                    best = inputs[values.index(max(values))]
                    yield (b, *to, c), (b, *best, c)

    def to_max(self, x: Any, g: Any) -> Any:
        found = np.zeros(x.shape)
        for to, at in self.first_max(x):
            found[at] += g[to]
        return found

    def to_every_max(self, x: Any, g: Any) -> Any:
        """The gradient where all ties share it, as TensorFlow's volumes do."""
        found, most = np.zeros(x.shape), self.over(x, np.max)
        for to, inputs in self.at.items():
            for at in inputs:
                found[:, *at] += g[:, *to] * (x[:, *at] == most[:, *to])
        return found

    def of_max(self, x: Any, g: Any) -> Any:
        found = np.zeros((x.shape[0], *self.out, x.shape[-1]))
        for to, at in self.first_max(x):
            found[to] = g[at]
        return found


def pool_cases(
    name: str, sizes: Any, window: Any, out: Any, strides: Any, padding: str = "SAME",
    first: bool = False, dtype: Any = np.float32, batch: int = 2,
) -> list[Case]:  # fmt: skip
    """All five ops for one geometry; the input has ties."""
    plain = Plain(sizes, window, out, strides, padding)

    def wide(items: Any) -> Any:
        return (1, 1, *items) if first else (1, *items, 1)

    def native(a: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if first else a

    def last(a: Any) -> Any:
        return np.moveaxis(a, 1, -1) if first else a

    given = wide(window), wide(strides), padding, "NCHW" if first else "NHWC"
    count = batch * 3 * int(np.prod(sizes))
    x = native(RNG.permutation(count).astype(dtype).reshape(batch, *sizes, 3))
    ties = native(RNG.integers(-2, 2, (batch, *sizes, 3)).astype(dtype))
    y = native(plain.over(last(ties), np.max))
    g = native(RNG.normal(size=(batch, *out, 3)).astype(dtype))
    gg = native(RNG.normal(size=(batch, *sizes, 3)).astype(dtype))
    shape = np.array(x.shape, np.int32)
    return [
        Case(MaxPool(*given), (x,), lambda x: native(plain.over(last(x), np.max)),
             name),
        Case(MaxPoolGrad(*given), (ties, y, g),
             lambda x, _, g: native(plain.to_max(last(x), last(g))), name,
             gradient=False),
        Case(MaxPoolGradGrad(*given), (ties, y, gg),
             lambda x, _, g: native(plain.of_max(last(x), last(g))), name,
             gradient=False),
        Case(AvgPool(*given), (x,), lambda x: native(plain.over(last(x), np.mean)),
             name, tolerance=1e-5),
        Case(AvgPoolGrad(*given), (shape, g),
             lambda _, g: native(plain.share(last(gg).shape, last(g))), name),
    ]  # fmt: skip


CASES = [
    *pool_cases("same", (7, 6), (2, 2), (4, 3), (2, 2)),
    *pool_cases("double", (7, 6), (2, 2), (4, 3), (2, 2), dtype=np.float64),
    *pool_cases("overlap", (7, 6), (3, 2), (7, 6), (1, 1)),
    *pool_cases("wide", (7, 4), (5, 3), (4, 2), (2, 2)),
    *pool_cases("valid", (7, 6), (3, 2), (3, 5), (2, 1), "VALID"),
    *pool_cases("gaps", (8, 7), (2, 1), (3, 3), (3, 3), "VALID"),
    *pool_cases("same-gaps", (8, 7), (2, 1), (3, 3), (3, 3)),
    *pool_cases("first", (7, 6), (3, 2), (4, 3), (2, 2), first=True),
    *pool_cases("no-image", (7, 6), (2, 2), (4, 3), (2, 2), batch=0),
    Case(MaxPool((1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
         (np.int32([[1, -5], [3, 2]]).reshape(1, 2, 2, 1),), [[[[3]]]], "int"),
    Case(MaxPool((1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
         (np.float32([[1, np.nan], [3, 2]]).reshape(1, 2, 2, 1),), [[[[3]]]], "nan",
         gradient=False),
    Case(MaxPool((1, 1, 1, 2), (1, 1, 1, 2), "VALID"),
         (np.float32([[1, 5, 3, 2]]).reshape(1, 1, 1, 4),), [[[[5, 3]]]], "depth",
         gradient=False),
    Case(AvgPool((1, 2, 1, 1), (1, 1, 1, 1), "SAME"),
         (np.float16([[1], [2]]).reshape(1, 2, 1, 1),), [[[[1.5]], [[2.0]]]], "half",
         gradient=False),
]  # fmt: skip
