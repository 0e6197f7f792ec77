"""CTC by the definition: every alignment of a few steps, enumerated."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.ctc_loss import CTCLoss

X = np.random.default_rng(5).normal(size=(4, 2, 3)).astype(np.float32)
LENGTHS = np.array([4, 3], np.int32)


def merged(alignment, blank=2, is_merging=True):
    runs = [key for key, _ in groupby(alignment)] if is_merging else alignment
    return tuple(label for label in runs if label != blank)


def chances(x, length, **options):
    """The chance of every label sequence that the first steps can stand for."""
    y = np.exp(x.astype(np.float64))
    y /= y.sum(axis=1, keepdims=True)
    found = {}
    for alignment in product(range(x.shape[1]), repeat=length):
        chance = np.prod([y[t, label] for t, label in enumerate(alignment)])
        labels = merged(alignment, x.shape[1] - 1, **options)
        found.setdefault(labels, np.zeros_like(y))
        found[labels][0, 0] += chance
    return {labels: total[0, 0] for labels, total in found.items()}


def loss(labels, **options):
    """Losses and, by differences, their slopes."""

    def total(x):
        return np.array([
            -np.log(chances(x[:, i], n, **options).get(row, 0.0))
            for i, (row, n) in enumerate(zip(labels, LENGTHS, strict=True))
        ])  # fmt: skip

    def expect(x, *_):
        x = x.astype(np.float64)
        slope = np.zeros_like(x)
        for at in np.ndindex(*x.shape):
            step = np.zeros_like(x)
            step[at] = 1e-6
            slope[at] = (total(x + step) - total(x - step)).sum() / 2e-6
        return total(x).astype(np.float32), slope.astype(np.float32)

    return expect


def sparse(rows):
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [label for row in rows for label in row]
    return np.array(places, np.int64), np.array(values, np.int32), LENGTHS


def case(op, inputs, expect, name=""):
    # The second output is the gradient, which has none itself.
    return Case(op, inputs, expect, name, gradient=False, tolerance=1e-4)


CASES = [
    case(CTCLoss(), (X, *sparse([(0, 1), (1,)])), loss([(0, 1), (1,)])),
    case(CTCLoss(), (X, *sparse([(0, 0), (1, 1)])), loss([(0, 0), (1, 1)]), "repeats"),
    case(
        CTCLoss(ctc_merge_repeated=False),
        (X, *sparse([(0, 0), (1, 1)])),
        loss([(0, 0), (1, 1)], is_merging=False),
        "unmerged",
    ),
    case(
        CTCLoss(preprocess_collapse_repeated=True),
        (X, *sparse([(0, 0, 1), (1, 1)])),
        loss([(0, 1), (1,)]),
        "collapsed",
    ),
    case(CTCLoss(), (X, *sparse([(2,), (1, 2)])), loss([(), (1,)]), "nulls"),
]  # fmt: skip
