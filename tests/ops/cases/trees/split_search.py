"""Sums of gradients and splits of nodes: by loops over examples and candidates."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.case import Case
from tfteach.ops.trees.split_search import (
    BoostedTreesAggregateStats,
    BoostedTreesCalculateBestFeatureSplit,
    BoostedTreesCalculateBestGainsPerFeature,
    BoostedTreesMakeStatsSummary,
    BoostedTreesSparseAggregateStats,
    BoostedTreesSparseCalculateBestFeatureSplit,
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


def weight_and_gain(g, h, l1, l2):
    g = np.sign(g) * max(abs(g) - l1, 0)
    return (-g / (h + l2), g * g / (h + l2)) if h + l2 > 1e-15 else (0.0, 0.0)


def best(total, candidates, l1, l2, complexity):
    """Gain, weights and name of the best left side; of equal ones the first."""
    _, before = weight_and_gain(*total, l1, l2)
    found = []
    for name, (g, h) in candidates:
        left, gain = weight_and_gain(g, h, l1, l2)
        right, more = weight_and_gain(total[0] - g, total[1] - h, l1, l2)
        found.append((gain + more - before - complexity, left, right, name))
    return max(found, key=lambda split: split[0])


def gains_per_feature(limits, summaries, l1, l2, complexity, least):
    columns = [[] for _ in range(5)]
    for sums in summaries:
        rows = []
        for node in range(*limits):
            total = sums[node].sum(axis=0)
            if total[1] >= least:
                lefts = [(b, sums[node, : b + 1].sum(axis=0)) for b in range(2)]
                gain, left, right, bucket = best(total, lefts, l1, l2, complexity)
                rows.append((node, gain, bucket, [left], [right]))
        for column, values, dtype in zip(
            columns, zip(*rows, strict=True), (I32, F, I32, F, F), strict=True
        ):
            column.append(dtype(values))
    return tuple(array for column in columns for array in column)


DEFAULTS = {
    "equality": [b"EQUALITY_DEFAULT_RIGHT"],
    "inequality": [b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT"],
    "sparse": [b"INEQUALITY_DEFAULT_RIGHT", b"INEQUALITY_DEFAULT_LEFT"],
}


def best_feature_split(kind):
    def found(limits, sums, l1, l2, complexity, least):
        rows = []
        for node in range(*limits):
            total = sums[node, 0].sum(axis=0)
            lefts = []
            for d, b in itertools.product(range(sums.shape[1]), range(2)):
                cells = sums[node, d]
                if kind == "sparse" and not cells[b].any():
                    continue  # no entry of the sparse summary
                sides = {
                    b"EQUALITY_DEFAULT_RIGHT": cells[b],
                    b"INEQUALITY_DEFAULT_LEFT": cells[[*range(b + 1), 2]].sum(axis=0),
                    b"INEQUALITY_DEFAULT_RIGHT": cells[: b + 1].sum(axis=0),
                }
                lefts += [((d, b, name), sides[name]) for name in DEFAULTS[kind]]
            if total[1] >= least and lefts:
                gain, left, right, name = best(total, lefts, l1, l2, complexity)
                rows.append((node, gain, *name[:2], [left], [right], name[2]))
        columns = zip(*rows, strict=True)
        kinds = (I32, F, I32, I32, F, F, np.array)
        return tuple(k(c) for k, c in zip(kinds, columns, strict=True))

    return found


def best_sparse_split(limits, indices, values, shape, *scalars):
    sums = np.zeros(shape, F)
    sums[tuple(indices.T)] = values
    return best_feature_split("sparse")(limits, sums, *scalars)


SUMMARY = summary(NODES, G, H, ONE, OTHER)
AGGREGATED = aggregated(NODES, G, H, MISSING)
SPARSE = sparsely_aggregated(NODES, G, H, ENTRIES, BUCKETS, I32([6, 2]))
PLAIN = (F(0), F(0), F(0), F(0))
REGULARIZED = (F(0.25), F(0.5), F(0.125), F(0.5))
RANGE = I32([0, 3])
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
    Case(BoostedTreesCalculateBestGainsPerFeature(3, 2),
         (RANGE, list(SUMMARY), *PLAIN), gains_per_feature, exact_shape=False),
    Case(BoostedTreesCalculateBestGainsPerFeature(3, 2),
         (RANGE, list(SUMMARY), *REGULARIZED), gains_per_feature, "regularized",
         exact_shape=False),
    Case(BoostedTreesCalculateBestGainsPerFeature(3, 1),
         (I32([1, 2]), [SUMMARY[0]], *PLAIN), gains_per_feature, "one node",
         exact_shape=False),
    *(
        Case(BoostedTreesCalculateBestFeatureSplit(1, kind),
             (RANGE, AGGREGATED, *scalars), best_feature_split(kind), f"{kind} {name}",
             exact_shape=False)
        for kind in ("inequality", "equality")
        for name, scalars in (("plain", PLAIN), ("regularized", REGULARIZED))
    ),
    Case(BoostedTreesSparseCalculateBestFeatureSplit(1),
         (RANGE, *SPARSE, *PLAIN), best_sparse_split, exact_shape=False),
    Case(BoostedTreesSparseCalculateBestFeatureSplit(1),
         (RANGE, *SPARSE, *REGULARIZED), best_sparse_split, "regularized",
         exact_shape=False),
]  # fmt: skip
