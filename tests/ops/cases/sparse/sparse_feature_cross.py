"""Feature crosses of tf.contrib; numbers from real TensorFlow."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, as_input
from tfteach.framework.dtypes import int64, string
from tfteach.ops.sparse.sparse_feature_cross import (
    SparseFeatureCross,
    SparseFeatureCrossV2,
)

PLACES = np.array([[0, 0], [1, 0], [1, 1]])
SIZES = np.array([2, 2])
INPUTS = ([PLACES], [["a", "b", "c"]], [SIZES], [np.array([[1], [2]])])
TYPES = ((string,), (int64,), int64, int64)


def old(buckets, values, name):
    op = SparseFeatureCross(1, True, buckets, *TYPES)
    return Case(op, INPUTS, (PLACES, values, SIZES), name, exact_shape=False)


def keyed(buckets, key, values, name):
    op = SparseFeatureCrossV2(1, True, buckets, key, *TYPES)
    return Case(op, INPUTS, (PLACES, values, SIZES), name, exact_shape=False)


ONE = np.array([[0, 0]])
PAIR = ([ONE], [np.array([5])], [np.array([1, 1])], [np.array([[7]])])

CASES = [
    old(100, [34, 79, 78], "buckets"),
    old(0, [8479621863018342127, 1603331213059006379, 3379466774602871878], "hashes"),
    Case(
        SparseFeatureCross(1, False, 0, *TYPES[:2], string, int64),
        INPUTS, (PLACES, as_input(["a_X_1", "b_X_2", "c_X_2"]), SIZES), "joined",
        exact_shape=False,
    ),
    Case(  # the first hash has its highest bit set
        SparseFeatureCross(1, True, 0, (int64,), (int64,), int64, int64),
        PAIR, (ONE, [2148546192418823596], np.array([1, 1])), "integers",
        exact_shape=False,
    ),
    keyed(100, 0xDECAFCAFFE, [85, 57, 23], "key"),
    keyed(
        0, 1, [5670664487903396753, 7563415403054151545, 5666274765746286025], "other"
    ),
]  # fmt: skip
