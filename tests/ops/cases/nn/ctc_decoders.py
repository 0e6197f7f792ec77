"""CTC by the definition: every alignment of a few steps, enumerated."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.ctc_decoders import CTCBeamSearchDecoder, CTCGreedyDecoder

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


def sparse(rows):
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [label for row in rows for label in row]
    return np.array(places, np.int64), np.array(values, np.int32), LENGTHS


def best(x, lengths):
    """All sequences, the likeliest first, of each of the batch."""
    return [
        sorted(((p, row) for row, p in chances(x[:, i], n).items()), reverse=True)
        for i, n in enumerate(lengths)
    ]


def rows_of(rows):
    places, values, _ = sparse(rows)
    most = max(map(len, rows))
    size = np.array([len(rows), most], np.int64)
    return places.reshape(-1, 2), values.astype(np.int64), size


def two_best(x, lengths):
    found = best(x, lengths)
    parts = [rows_of([ranks[k][1] for ranks in found]) for k in range(2)]
    logs = np.log([[ranks[k][0] for k in range(2)] for ranks in found])
    return *(p for pair in zip(*parts, strict=True) for p in pair), np.float32(logs)


CASES = [
    Case(
        CTCGreedyDecoder(merge_repeated=True),
        (np.eye(3, dtype=np.float32)[[0, 0, 2, 0, 1]][:, None], np.int32([5])),
        (
            np.array([[0, 0], [0, 1], [0, 2]]),
            np.array([0, 0, 1]),
            np.array([1, 3]),
            np.float32([[-5]]),
        ),
        exact_shape=False,
    ),
    Case(
        CTCGreedyDecoder(),
        (np.eye(3, dtype=np.float32)[[0, 0, 2, 0, 1]][:, None], np.int32([2])),
        (
            np.array([[0, 0], [0, 1]]),
            np.array([0, 0]),
            np.array([1, 2]),
            np.float32([[-2]]),
        ),
        "unmerged",
        exact_shape=False,
    ),
    Case(
        CTCBeamSearchDecoder(50, 2, False),
        (X, LENGTHS),
        two_best,
        exact_shape=False,
        tolerance=1e-5,
    ),
]  # fmt: skip
