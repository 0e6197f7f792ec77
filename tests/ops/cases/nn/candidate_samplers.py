"""Rows for candidate_samplers.py; draws are held to TF's in golden/embeddings."""

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.candidate_samplers import ComputeAccidentalHits

LOWEST = np.finfo(np.float32).min


def hits(true, drawn):
    found = [
        (row, max(i for i, c in enumerate(drawn) if c == label), LOWEST)
        for row, labels in enumerate(true)
        for label in labels
        if label in drawn
    ]
    rows, ids, weights = zip(*found, strict=True) if found else ((), (), ())
    return np.int32(rows), np.int64(ids), np.float32(weights)


TRUE = np.array([[0, 3], [7, 5], [1, 1]])
DRAWN = np.array([5, 3, 9, 3])
CASES = [
    Case(ComputeAccidentalHits(2), (TRUE, DRAWN), hits, exact_shape=False),
    Case(ComputeAccidentalHits(2), (TRUE, DRAWN + 20), hits, "none", exact_shape=False),
]
