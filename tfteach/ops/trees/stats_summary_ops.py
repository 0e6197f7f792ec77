"""Ops that sum gradients and hessians by node and bucket.

Source: core/ops/boosted_trees_ops.cc, core/kernels/boosted_trees/stats_ops.cc.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule


class StatsOp(Op, abstract=True):
    """These ops compute on the CPU, and have no gradients."""

    on_gpu: ClassVar[bool] = False


def _summed(positions: tuple[Any, ...], values: Any, size: tuple[int, ...]) -> Any:
    """Values added up at their positions in float64, as float32."""
    cells = np.ravel_multi_index(positions, size)
    count = math.prod(size)
    sums = [np.bincount(cells, column, count) for column in values.T]
    return np.stack(sums, axis=-1).astype(np.float32).reshape(*size, -1)


def check_below(name: str, ids: Any, limit: int) -> None:
    """Raise InvalidArgumentError unless all ids are in [0, limit)."""
    if ids.size and not (ids.min() >= 0 and ids.max() < limit):
        raise invalid_argument(
            f"{name} must be in [0, {limit}), got {int(ids.min())} to {int(ids.max())}"
        )


class BoostedTreesMakeStatsSummary(StatsOp):
    """Sums of gradients and hessians: [features, max_splits, num_buckets, 2].

    Quantiles may make one or two boundaries more than asked for: examples behind the
    last bucket count in it.  (TensorFlow's kernel writes beyond its memory, and ends
    the program.)

    Source: boosted_trees_ops.cc, BoostedTreesMakeStatsSummary.
    """

    signature = (
        "node_ids: int32, gradients: float32, hessians: float32, "
        "bucketized_features_list: num_features*int32 -> stats_summary: float32"
    )
    max_splits: int
    num_buckets: int
    num_features: int

    minimum: ClassVar[dict[str, int]] = {
        "max_splits": 1, "num_buckets": 1, "num_features": 1,
    }  # fmt: skip

    def infer_shape(
        self,
        node_ids: Shape,
        gradients: Shape,
        hessians: Shape,
        bucketized_features_list: list[Shape],
    ) -> Shape:
        count = shapes.with_rank(node_ids, 1)
        for matrix in (gradients, hessians):
            shapes.merge(shapes.with_rank(matrix, 2), (*count, 1))
        for feature in bucketized_features_list:
            shapes.same_size(count[0], shapes.with_rank(feature, 1)[0])
        return (self.num_features, self.max_splits, self.num_buckets, 2)

    def compute(
        self,
        xp: ArrayModule,
        node_ids: Any,
        gradients: Any,
        hessians: Any,
        *features: Any,
    ) -> Any:
        check_below("node_ids", node_ids, self.max_splits)
        values = np.concatenate([gradients, hessians], axis=1)
        size = (self.max_splits, self.num_buckets)
        sums = []
        for feature in features:
            buckets = np.minimum(feature, self.num_buckets - 1)
            check_below("bucketized_features", buckets, self.num_buckets)
            sums.append(_summed((node_ids, buckets), values, size))
        return np.stack(sums)


class BoostedTreesAggregateStats(StatsOp):
    """Sums of gradients and hessians of a feature of several dimensions.

    The output is [max_splits, dimensions, num_buckets + 1, logits + hessians]; the last
    bucket holds the examples that lack the feature, whose bucket is negative.  Its
    static shape is that, too, where TensorFlow's orders the sizes differently.

    Source: boosted_trees_ops.cc, BoostedTreesAggregateStats.
    """

    signature = (
        "node_ids: int32, gradients: float32, hessians: float32, feature: int32 -> "
        "stats_summary: float32"
    )
    max_splits: int
    num_buckets: int

    minimum: ClassVar[dict[str, int]] = {"max_splits": 1, "num_buckets": 1}

    def infer_shape(
        self, node_ids: Shape, gradients: Shape, hessians: Shape, feature: Shape
    ) -> Shape:
        (count,) = shapes.with_rank(node_ids, 1)
        widths = []
        for matrix in (gradients, hessians, feature):
            rows, width = shapes.with_rank(matrix, 2)
            count = shapes.same_size(count, rows)
            widths.append(width)
        logits, hessian, dimensions = widths
        sums = None if logits is None or hessian is None else logits + hessian
        return (self.max_splits, dimensions, self.num_buckets + 1, sums)

    def compute(
        self,
        xp: ArrayModule,
        node_ids: Any,
        gradients: Any,
        hessians: Any,
        feature: Any,
    ) -> Any:
        check_below("node_ids", node_ids, self.max_splits)
        buckets = np.where(feature < 0, self.num_buckets, feature)
        check_below("feature", buckets, self.num_buckets + 1)
        values = np.concatenate([gradients, hessians], axis=1)
        size = (self.max_splits, self.num_buckets + 1)
        by_dimension = [
            _summed((node_ids, column), values, size) for column in buckets.T
        ]
        shape = (self.max_splits, 0, self.num_buckets + 1, values.shape[1])
        if not by_dimension:
            return np.zeros(shape, np.float32)
        return np.stack(by_dimension, axis=1)


class BoostedTreesSparseAggregateStats(StatsOp, MultiOutputOp):
    """`BoostedTreesAggregateStats` of a sparse feature, as a sparse tensor.

    Source: boosted_trees_ops.cc, BoostedTreesSparseAggregateStats.
    """

    signature = (
        "node_ids: int32, gradients: float32, hessians: float32, "
        "feature_indices: int32, feature_values: int32, feature_shape: int32 -> "
        "stats_summary_indices: int32, stats_summary_values: float32, "
        "stats_summary_shape: int32"
    )
    max_splits: int
    num_buckets: int

    minimum: ClassVar[dict[str, int]] = {"max_splits": 1, "num_buckets": 1}

    def infer_shape(
        self,
        node_ids: Shape,
        gradients: Shape,
        hessians: Shape,
        feature_indices: Shape,
        feature_values: Shape,
        feature_shape: Shape,
    ) -> list[Shape]:
        (count,) = shapes.with_rank(node_ids, 1)
        for matrix in (gradients, hessians):
            count = shapes.same_size(count, shapes.with_rank(matrix, 2)[0])
        entries, _ = shapes.merge(shapes.with_rank(feature_indices, 2), (None, 2)) or (
            None,
            2,
        )
        shapes.merge(shapes.with_rank(feature_values, 1), (entries,))
        shapes.merge(shapes.with_rank(feature_shape, 1), (2,))
        return [(None, 4), (None,), (4,)]

    def compute(
        self,
        xp: ArrayModule,
        node_ids: Any,
        gradients: Any,
        hessians: Any,
        feature_indices: Any,
        feature_values: Any,
        feature_shape: Any,
    ) -> Any:
        dimensions = int(feature_shape[1])
        check_below("node_ids", node_ids, self.max_splits)
        check_below("feature_values", feature_values, self.num_buckets)
        examples, columns = feature_indices.T
        check_below("feature_indices", examples, len(node_ids))
        check_below("feature_indices", columns, dimensions)
        values = np.concatenate([gradients, hessians], axis=1)
        size = (self.max_splits, dimensions, self.num_buckets + 1)
        missing = np.full((len(node_ids), dimensions), self.num_buckets, np.int32)
        missing[examples, columns] = feature_values
        every = np.broadcast_to(np.arange(dimensions), missing.shape)
        nodes = np.broadcast_to(node_ids[:, None], missing.shape)
        at = (nodes.ravel(), every.ravel(), missing.ravel())
        sums = np.zeros((*size, values.shape[1]), np.float32)
        np.add.at(sums, at, np.repeat(values, dimensions, axis=0))  # in float32, here
        is_used = np.zeros(size, bool)
        is_used[at] = True
        cells = np.argwhere(is_used)
        width = values.shape[1]
        indices = np.concatenate(
            [
                np.repeat(cells, width, axis=0),
                np.tile(np.arange(width), len(cells))[:, None],
            ],
            axis=1,
        )
        return (
            indices.astype(np.int32),
            sums[is_used].ravel(),
            np.array([*size, width], np.int32),
        )
