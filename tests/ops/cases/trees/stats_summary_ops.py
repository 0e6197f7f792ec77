"""Sums of gradients by node and bucket: by loops over examples."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.trees.stats_summary_ops import (
    BoostedTreesAggregateStats,
    BoostedTreesMakeStatsSummary,
    BoostedTreesSparseAggregateStats,
)

F, I32 = np.float32, np.int32
NODES = I32([0, 2, 1, 0, 2, 2])
G = F([[0.5], [-1.0], [2.0], [-0.25], [1.5], [-3.0]])
H = F([[0.5], [1.0], [0.25], [0.75], [1.0], [0.5]])
ONE, OTHER = I32([0, 1, 1, 0, 0, 1]), I32([1, 1, 1, 0, 0, 0])
MISSING = I32([[0, 1], [-1, 1], [1, 1], [0, 0], [0, -1], [1, 0]])
ENTRIES = I32([[0, 0], [1, 1], [3, 0], [4, 1], [5, 0]])
BUCKETS = I32([0, 1, 1, 0, 1])


def summary(nodes, g, h, *features):
    sums = np.zeros((len(features), 3, 2, 2), F)
    for f, feature in enumerate(features):
        for node, bucket, a, b in zip(nodes, feature, g[:, 0], h[:, 0], strict=True):
            sums[f, node, bucket] += [a, b]
    return sums


def summary_of_lists(nodes, g, h, features):
    return summary(nodes, g, h, *features)


def aggregated(nodes, g, h, feature):
    """The last of the three buckets is that of examples without the feature."""
    width = g.shape[1] + h.shape[1]
    sums = np.zeros((3, feature.shape[1], 3, width), F)
    for example, dimension in np.ndindex(feature.shape):
        bucket = feature[example, dimension]
        values = [*g[example], *h[example]]
        sums[nodes[example], dimension, bucket if bucket >= 0 else 2] += values
    return sums


def sparsely_aggregated(nodes, g, h, indices, values, shape):
    feature = np.full(shape, -1, I32)
    for (example, dimension), bucket in zip(indices, values, strict=True):
        feature[example, dimension] = bucket
    sums = aggregated(nodes, g, h, feature)
    filled = np.argwhere(sums != 0)  # no sum of these examples happens to be 0
    return filled.astype(I32), sums[sums != 0], I32(sums.shape)


TWO = np.hstack([G, 2 * G[::-1]])

CASES = [
    Case(BoostedTreesMakeStatsSummary(3, 2, 2), (NODES, G, H, [ONE, OTHER]),
         summary_of_lists),
    Case(BoostedTreesMakeStatsSummary(3, 2, 1),
         (NODES[:0], G[:0], H[:0], [ONE[:0]]), summary_of_lists, "no examples"),
    Case(BoostedTreesAggregateStats(3, 2), (NODES, G, H, MISSING), aggregated),
    Case(BoostedTreesAggregateStats(3, 2), (NODES, TWO, np.abs(TWO), MISSING),
         aggregated, "two logits"),
    Case(BoostedTreesSparseAggregateStats(3, 2),
         (NODES, G, H, ENTRIES, BUCKETS, I32([6, 2])), sparsely_aggregated,
         exact_shape=False),
]  # fmt: skip
