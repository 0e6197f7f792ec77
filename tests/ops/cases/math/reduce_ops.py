"""Reductions and sequences, by plain loops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import int32
from tfteach.framework.op import OPS, Op

X = np.array(
    [[[0.5, -1.5, 2.0, 1.0], [3.0, -0.25, 1.25, -2.0], [0.75, 4.0, -3.0, 0.1]],
     [[1.5, 0.5, -0.5, 2.5], [-1.0, 0.2, 3.5, 1.75], [2.25, -4.0, 0.4, 0.6]]],
    np.float32,
)  # fmt: skip
WHOLE = np.array([[7, -2, -3, 1], [-5, 4, 0, 9], [2, -8, 6, -7]], np.int32)
TRUTH = np.array([[True, False, True], [True, True, True]])
Z = np.array([[1 + 2j, -0.5 + 1j, 3 - 1j], [0.5j, 2 + 0j, 1 - 1j]], np.complex64)
EMPTY = np.zeros((0, 3), np.float32)


def fold(start, step):
    """A reduction by a plain loop: over the axes of `indices`, kept as size 1."""

    def apply(x, indices, keep=False):
        axes = {int(i) % x.ndim for i in np.ravel(indices)}
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
        out = np.full(shape, start, object)
        for position in np.ndindex(*x.shape):
            to = tuple(0 if i in axes else p for i, p in enumerate(position))
            out[to] = step(out[to], x[position].item())
        kept = shape if keep else [n for i, n in enumerate(shape) if i not in axes]
        found = np.array(out.reshape(-1).tolist())
        return found.reshape(kept)

    return apply


def mean(x, indices, keep=False):
    total = fold(0, lambda a, b: a + b)(x, indices, keep)
    quotient = total / (x.size // max(total.size, 1))
    return np.trunc(quotient) if x.dtype.kind == "i" else quotient


LOOPS = {
    "Sum": fold(0, lambda a, b: a + b),
    "Mean": mean,
    "Prod": fold(1, lambda a, b: a * b),
    "Max": fold(-np.inf, max),
    "Min": fold(np.inf, min),
    "EuclideanNorm": lambda x, i, keep=False: np.sqrt(
        fold(0, lambda a, b: a + b * b)(x, i, keep)
    ),
}


def rows(name: str) -> list[Case]:
    op: Op = OPS[name]()
    kept: Op = OPS[name](keep_dims=True)
    loop = LOOPS[name]
    return [
        Case(op, (X, np.int32([0, 2])), loop, id="axes", tolerance=1e-5),
        Case(op, (X, np.int32(-1)), loop, id="last", tolerance=1e-5),
        Case(op, (X, np.int32([0, 1, 2])), loop, id="all", tolerance=1e-5),
        # TF's gradient of Prod takes no int64 axes.
        Case(op, (X, np.int64([1])), loop, id="int64", tolerance=1e-5,
             gradient=name != "Prod"),
        Case(op, (X, np.int32([])), loop, id="none", tolerance=1e-5),
        Case(op, (WHOLE, np.int32([0])), lambda x, i: np.trunc(loop(x, i)), id="int"),
        Case(kept, (X, np.int32([1])), lambda x, i: loop(x, i, True), id="kept",
             tolerance=1e-5),
        Case(op, (np.float32(2.5), np.int32([])), loop, id="scalar"),
        Case(op, (X.astype(np.float16), np.int32([0])), loop, id="half",
             tolerance=3e-3, gradient=False),
    ]  # fmt: skip


CASES = [
    *(case for name in LOOPS for case in rows(name)),
    Case(OPS["Sum"](), (Z, np.int32([0])), fold(0, lambda a, b: a + b), id="complex"),
    Case(OPS["Sum"](), (X, np.int32([1, 1])), lambda x, _: x.sum(axis=1), id="twice",
         tolerance=1e-5, gradient=False),
    Case(OPS["Sum"](), (EMPTY, np.int32([0])), [0, 0, 0], id="empty"),
    Case(OPS["Max"](), (EMPTY, np.int32([0])), [-np.inf] * 3, id="empty",
         gradient=False),
    Case(OPS["Min"](), (WHOLE[:0], np.int32([0])), [2**31 - 1] * 4, id="empty"),
    Case(OPS["Mean"](), (EMPTY, np.int32([0])), [np.nan] * 3, id="empty",
         gradient=False),
    Case(OPS["All"](), (TRUTH, np.int32([1])), [False, True]),
    Case(OPS["All"](True), (TRUTH, np.int32([0, 1])), [[False]], id="kept"),
    Case(OPS["Any"](), (TRUTH & [True, False, False], np.int32(0)),
         [True, False, False]),
    Case(OPS["ArgMax"](), (X, np.int32(1)),
         lambda x, _: [[max(range(3), key=lambda j: m[j][k]) for k in range(4)]
                       for m in x.tolist()]),
    Case(OPS["ArgMin"](int32), (X, np.int64(-2)),
         lambda x, _: [[min(range(3), key=lambda j: m[j][k]) for k in range(4)]
                       for m in x.tolist()]),
    Case(OPS["ArgMax"](), (np.float32([1, 3, 3]), np.int32(0)), 1, id="first"),
]  # fmt: skip
