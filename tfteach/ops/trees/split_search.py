"""Ops that find the best splits of nodes by sums of gradients and hessians.

Source: core/ops/boosted_trees_ops.cc, core/kernels/boosted_trees/stats_ops.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.text.byte_string_arrays import strings
from tfteach.ops.trees.ensemble_growth import (
    EQUALITY_DEFAULT_RIGHT,
    INEQUALITY_DEFAULT_LEFT,
    INEQUALITY_DEFAULT_RIGHT,
)
from tfteach.ops.trees.split_gains import vector_weights_and_gains, weights_and_gains
from tfteach.ops.trees.stats_summary_ops import StatsOp, check_below


def _rows_of(limits: Any, summary: Any) -> slice:
    """The nodes [first, last) of a summary.

    Raises:
      InvalidArgumentError: the summary has fewer nodes.
    """
    first, last = limits.tolist()
    if first < 0 or last > len(summary):
        raise invalid_argument(
            f"node_id_range must be two numbers [first, last) in [0, {len(summary)}], "
            f"the nodes of the summary, got {limits.tolist()}"
        )
    return slice(first, max(first, last))


def _sides(sums: Any) -> tuple[Any, Any]:
    """Running sums over the axis of buckets, and their last ones."""
    running = np.cumsum(sums, axis=-2, dtype=np.float32)
    return running, running[..., -1:, :]


class BoostedTreesCalculateBestGainsPerFeature(StatsOp, MultiOutputOp):
    """The best split of each node by each feature alone.

    Source: boosted_trees_ops.cc, BoostedTreesCalculateBestGainsPerFeature.
    """

    signature = (
        "node_id_range: int32, stats_summary_list: num_features*float32, l1: float32, "
        "l2: float32, tree_complexity: float32, min_node_weight: float32 -> "
        "node_ids_list: num_features*int32, gains_list: num_features*float32, "
        "thresholds_list: num_features*int32, "
        "left_node_contribs_list: num_features*float32, "
        "right_node_contribs_list: num_features*float32"
    )
    max_splits: int
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"max_splits": 1, "num_features": 1}

    def infer_shape(
        self,
        node_id_range: Shape,
        stats_summary_list: list[Shape],
        *scalars: Shape,
    ) -> list[Shape]:
        shapes.merge(shapes.with_rank(node_id_range, 1), (2,))
        summary: Shape = (self.max_splits, None, 2)
        for given in stats_summary_list:
            summary = shapes.merge(summary, shapes.with_rank(given, 3))
        for scalar in scalars:
            shapes.with_rank(scalar, 0)
        vectors: list[Shape] = [(None,)] * (3 * self.num_features)
        return vectors + [(None, 1)] * (2 * self.num_features)

    def compute(self, xp: ArrayModule, node_id_range: Any, *others: Any) -> Any:
        *summaries, l1, l2, tree_complexity, min_node_weight = others
        found = []
        for summary in summaries:
            rows = _rows_of(node_id_range, summary)
            running, total = _sides(summary[rows])
            left = weights_and_gains(running[..., 0], running[..., 1], l1, l2)
            rest = total - running
            right = weights_and_gains(rest[..., 0], rest[..., 1], l1, l2)
            _, before = weights_and_gains(total[..., 0], total[..., 1], l1, l2)
            gains = left[1] + right[1]
            best = gains.argmax(axis=1)
            nodes = np.flatnonzero(~(total[:, 0, 1] < min_node_weight))
            best = best[nodes]
            found.append(
                (
                    (nodes + rows.start).astype(np.int32),
                    gains[nodes, best] - before[nodes, 0] - tree_complexity,
                    best.astype(np.int32),
                    left[0][nodes, best][:, None],
                    right[0][nodes, best][:, None],
                )
            )
        return tuple(array for kind in zip(*found, strict=True) for array in kind)


class _BestFeatureSplit(StatsOp, MultiOutputOp, abstract=True):
    """The best split of each node among the dimensions of a feature."""

    logits_dimension: int
    split_type: str = "inequality"

    minimum: ClassVar[dict[str, int]] = {"logits_dimension": 1}
    split_types: ClassVar[tuple[str, ...]] = ("inequality",)

    def validate(self) -> None:
        check_choice(self.op_type, "split_type", self.split_type, self.split_types)

    def _outputs_shapes(self, *scalars: Shape) -> list[Shape]:
        for scalar in scalars:
            shapes.with_rank(scalar, 0)
        vector: Shape = (None,)
        # TensorFlow's own rule claims that the contributions were vectors.
        matrix: Shape = (None, self.logits_dimension)
        return [vector, vector, vector, vector, matrix, matrix, vector]

    def _best(
        self,
        rows: slice,
        summary: Any,
        scalars: Sequence[Any],
        is_present: Any = None,
    ) -> Any:
        """The outputs.

        Args:
          rows: the nodes.
          scalars: l1, l2, tree_complexity and min_node_weight.
          summary: [nodes, dimensions, buckets, sums]; the last bucket is that of
            examples without the feature.
          is_present: for a sparse feature, the buckets that its summary has.
        """
        l1, l2, tree_complexity, min_node_weight = scalars
        logits = self.logits_dimension
        if is_present is not None and logits > 1:
            raise invalid_argument(
                "Sparse features can be split for one logit only, got "
                f"logits_dimension = {logits}"
            )
        sums = summary[rows]

        def weighed(cells: Any) -> tuple[Any, Any]:
            g, h = cells[..., :logits], cells[..., logits:]
            if logits > 1:
                return vector_weights_and_gains(g, h, l2)
            weights, gains = weights_and_gains(g, h[..., :1], l1, l2)
            return weights, gains[..., 0]

        running, total = _sides(sums)
        node_total = total[:, 0, 0]
        if is_present is not None:  # the sums of the first dimension that is present
            is_present = is_present[rows]
            dimension = is_present.any(axis=2).argmax(axis=1)
            node_total = total[np.arange(len(total)), dimension, 0]
        if is_present is not None or self.split_type == "equality":
            total = node_total[:, None, None]
        missing_left = running[:, :, :-1] + sums[:, :, -1:]
        choices = {
            EQUALITY_DEFAULT_RIGHT: sums[:, :, :-1],
            INEQUALITY_DEFAULT_LEFT: missing_left,
            INEQUALITY_DEFAULT_RIGHT: running[:, :, :-1],
        }
        kinds = self._kinds_of_splits()
        lefts = np.stack([choices[kind] for kind in kinds], axis=3)
        rights = total[:, :, :, None] - lefts
        left, right = weighed(lefts), weighed(rights)
        _, before = weighed(node_total)
        gains = left[1] + right[1]  # [nodes, dimensions, buckets, kinds]
        weight = np.sqrt((node_total[:, logits:] ** 2).sum(axis=1))
        gains = np.where(np.isnan(gains), -np.inf, gains)
        if is_present is not None:
            weight = node_total[:, logits]
            gains = np.where(is_present[:, :, :-1, None], gains, -np.inf)
        flat = gains.reshape(len(gains), math.prod(gains.shape[1:]))
        is_split = ~(weight < min_node_weight) & (flat > -np.inf).any(axis=1)
        nodes = np.flatnonzero(is_split)
        best = flat[nodes].argmax(axis=1) if len(nodes) else nodes
        places = np.unravel_index(best, gains.shape[1:])
        dimension, threshold, kind = places
        at = (nodes, *places)
        return (
            (nodes + rows.start).astype(np.int32),
            gains[at] - before[nodes] - tree_complexity,
            dimension.astype(np.int32),
            threshold.astype(np.int32),
            left[0][at],
            right[0][at],
            strings([kinds[k].encode() for k in kind.tolist()], (len(nodes),)),
        )

    def _kinds_of_splits(self) -> tuple[str, ...]:
        """The kinds that are compared; of equal gains the first one wins."""
        if self.split_type == "equality":
            return (EQUALITY_DEFAULT_RIGHT,)
        return (INEQUALITY_DEFAULT_LEFT, INEQUALITY_DEFAULT_RIGHT)


class BoostedTreesCalculateBestFeatureSplit(_BestFeatureSplit):
    """The best split of each node among the dimensions of a dense feature.

    Examples without the feature go to the side where they gain more.

    Source: boosted_trees_ops.cc, BoostedTreesCalculateBestFeatureSplit.
    """

    signature = (
        "node_id_range: int32, stats_summary: float32, l1: float32, l2: float32, "
        "tree_complexity: float32, min_node_weight: float32 -> node_ids: int32, "
        "gains: float32, feature_dimensions: int32, thresholds: int32, "
        "left_node_contribs: float32, right_node_contribs: float32, "
        "split_with_default_directions: string"
    )
    split_types: ClassVar[tuple[str, ...]] = ("inequality", "equality")

    def infer_shape(
        self, node_id_range: Shape, stats_summary: Shape, *scalars: Shape
    ) -> list[Shape]:
        shapes.merge(shapes.with_rank(node_id_range, 1), (2,))
        shapes.with_rank(stats_summary, 4)
        return self._outputs_shapes(*scalars)

    def compute(
        self,
        xp: ArrayModule,
        node_id_range: Any,
        stats_summary: Any,
        *scalars: Any,
    ) -> Any:
        return self._best(
            _rows_of(node_id_range, stats_summary), stats_summary, scalars
        )


class BoostedTreesSparseCalculateBestFeatureSplit(_BestFeatureSplit):
    """The best split of each node among the dimensions of a sparse feature.

    The nodes are those of the summary, whatever `node_id_range` is.

    Source: boosted_trees_ops.cc, BoostedTreesSparseCalculateBestFeatureSplit.
    """

    signature = (
        "node_id_range: int32, stats_summary_indices: int32, "
        "stats_summary_values: float32, stats_summary_shape: int32, l1: float32, "
        "l2: float32, tree_complexity: float32, min_node_weight: float32 -> "
        "node_ids: int32, gains: float32, feature_dimensions: int32, "
        "thresholds: int32, left_node_contribs: float32, "
        "right_node_contribs: float32, split_with_default_directions: string"
    )

    def infer_shape(
        self,
        node_id_range: Shape,
        stats_summary_indices: Shape,
        stats_summary_values: Shape,
        stats_summary_shape: Shape,
        *scalars: Shape,
    ) -> list[Shape]:
        shapes.merge(shapes.with_rank(node_id_range, 1), (2,))
        shapes.merge(shapes.with_rank(stats_summary_indices, 2), (None, 4))
        shapes.with_rank(stats_summary_values, 1)
        shapes.merge(shapes.with_rank(stats_summary_shape, 1), (4,))
        return self._outputs_shapes(*scalars)

    def compute(
        self,
        xp: ArrayModule,
        node_id_range: Any,
        stats_summary_indices: Any,
        stats_summary_values: Any,
        stats_summary_shape: Any,
        *scalars: Any,
    ) -> Any:
        size = stats_summary_shape.tolist()
        for column, (axis, limit) in zip(
            stats_summary_indices.T, enumerate(size), strict=True
        ):
            check_below(f"stats_summary_indices[:, {axis}]", column, limit)
        summary, is_present = np.zeros(size, np.float32), np.zeros(size[:3], bool)
        summary[tuple(stats_summary_indices.T)] = stats_summary_values
        is_present[tuple(stats_summary_indices[:, :3].T)] = True
        return self._best(slice(0, size[0]), summary, scalars, is_present)

    def _kinds_of_splits(self) -> tuple[str, ...]:
        return (INEQUALITY_DEFAULT_RIGHT, INEQUALITY_DEFAULT_LEFT)
