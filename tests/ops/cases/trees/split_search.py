"""Splits of nodes: by loops over candidates."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.trees.stats_summary_ops import (
    BUCKETS,
    ENTRIES,
    I32,
    MISSING,
    NODES,
    ONE,
    OTHER,
    F,
    G,
    H,
    aggregated,
    sparsely_aggregated,
    summary,
)
from tfteach.ops.trees.split_search import (
    BoostedTreesCalculateBestFeatureSplit,
    BoostedTreesCalculateBestGainsPerFeature,
    BoostedTreesSparseCalculateBestFeatureSplit,
)


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


def two_logits(limits, sums, l1, l2, complexity, least):
    """The best split of each node by two logits, whose hessians may be negative."""

    def weighed(cells):
        below = cells[2:] + l2
        weights = np.divide(-cells[:2], below, np.zeros(2, F), where=below != 0)
        return weights, -(cells[:2] * weights).sum()

    rows = []
    for node in range(*limits):
        cells = sums[node, 0]
        total = cells.sum(axis=0)
        found = []
        for b in range(2):
            for name, left in zip(
                DEFAULTS["inequality"],
                (cells[: b + 1].sum(axis=0) + cells[2], cells[: b + 1].sum(axis=0)),
                strict=True,
            ):
                (first, gain), (other, more) = weighed(left), weighed(total - left)
                gain += more - weighed(total)[1] - complexity
                found.append((gain, b, first, other, name))
        gain, b, first, other, name = max(found, key=lambda split: split[0])
        rows.append((node, gain, 0, b, first, other, name))
    kinds = (I32, F, I32, I32, F, F, np.array)
    return tuple(k(c) for k, c in zip(kinds, zip(*rows, strict=True), strict=True))


SUMMARY = summary(NODES, G, H, ONE, OTHER)
AGGREGATED = aggregated(NODES, G, H, MISSING)
SPARSE = sparsely_aggregated(NODES, G, H, ENTRIES, BUCKETS, I32([6, 2]))
PLAIN = (F(0), F(0), F(0), F(0))
REGULARIZED = (F(0.25), F(0.5), F(0.125), F(0.5))
RANGE = I32([0, 3])
# Two nodes, three buckets, two gradients and two hessians.
SIGNED = F([
    [[[0.4, 0.188, 0.16, -0.03], [0.2, -0.088, 0.1, -0.24], [-0.4, -0.06, 0.5, 0.15]]],
    [[[0.1, 0.2, 0.0, 0.3], [-0.3, 0.5, 0.4, 0.0], [0.0, 0.0, 0.0, 0.0]]],
])  # fmt: skip

CASES = [
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
    Case(BoostedTreesCalculateBestFeatureSplit(2),
         (I32([0, 2]), SIGNED, F(0), F(0.1), F(0), F(0)), two_logits,
         "two logits, negative hessians", exact_shape=False),
]  # fmt: skip
