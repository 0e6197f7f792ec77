"""What an ensemble of boosted trees predicts for examples, and why.

Source: core/ops/boosted_trees_ops.cc, core/kernels/boosted_trees/prediction_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.trees.ensemble_ops import TreeOp
from tfteach.ops.trees.tree_ensemble import TreeArrays, TreeEnsemble, new_message


def _number_of_examples(features: list[Shape], *others: Shape) -> int | None:
    """The static size of vectors over the examples."""
    merged: Shape = (None,)
    for given in (*others, *features):
        merged = shapes.merge(merged, shapes.with_rank(given, 1))
    assert merged is not None
    return merged[0]


def _as_table(features: tuple[Any, ...]) -> Any:
    """Bucketized features as one array of shape [features, examples]."""
    if len({np.shape(feature) for feature in features}) > 1:
        raise invalid_argument(
            "bucketized_features must have the same length, got "
            + ", ".join(str(len(feature)) for feature in features)
        )
    return np.stack(features)


class BoostedTreesPredict(TreeOp):
    """The weighted sum of the leaves that examples reach: [examples, logits].

    Source: boosted_trees_ops.cc, BoostedTreesPredict.
    """

    signature = (
        "tree_ensemble_handle: resource, "
        "bucketized_features: num_bucketized_features*int32 -> logits: float32"
    )
    num_bucketized_features: int
    logits_dimension: int

    minimum: ClassVar[dict[str, int]] = {"num_bucketized_features": 1}

    def infer_shape(
        self, tree_ensemble_handle: Shape, bucketized_features: list[Shape]
    ) -> Shape:
        return (_number_of_examples(bucketized_features), self.logits_dimension)

    def compute(
        self, ctx: KernelContext, tree_ensemble_handle: TreeEnsemble, *features: Any
    ) -> Any:
        ensemble = tree_ensemble_handle.created()
        buckets = _as_table(features)
        count = buckets.shape[1]
        logits = np.zeros((count, self.logits_dimension), np.float32)
        with ensemble.lock:
            for tree, weight in zip(ensemble.trees(), ensemble.weights(), strict=True):
                reached = tree.leaves(buckets, np.zeros(count, np.int64))
                logits += weight * tree.logits(reached, self.logits_dimension)
        return logits


class BoostedTreesTrainingPredict(TreeOp, MultiOutputOp):
    """How the logits of examples changed since they were computed last.

    The examples continue where they were: at a node of a tree, whose value their logits
    include.  `cached_node_ids` of -1 start at the root.  Outputs the difference
    [examples, logits], and the tree and the node that each example reached.

    Source: boosted_trees_ops.cc, BoostedTreesTrainingPredict.
    """

    signature = (
        "tree_ensemble_handle: resource, cached_tree_ids: int32, "
        "cached_node_ids: int32, bucketized_features: num_bucketized_features*int32 -> "
        "partial_logits: float32, tree_ids: int32, node_ids: int32"
    )
    num_bucketized_features: int
    logits_dimension: int

    minimum: ClassVar[dict[str, int]] = {"num_bucketized_features": 1}

    def infer_shape(
        self,
        tree_ensemble_handle: Shape,
        cached_tree_ids: Shape,
        cached_node_ids: Shape,
        bucketized_features: list[Shape],
    ) -> list[Shape]:
        count = _number_of_examples(
            bucketized_features, cached_tree_ids, cached_node_ids
        )
        return [(count, self.logits_dimension), (count,), (count,)]

    def compute(
        self,
        ctx: KernelContext,
        tree_ensemble_handle: TreeEnsemble,
        cached_tree_ids: Any,
        cached_node_ids: Any,
        *features: Any,
    ) -> Any:
        ensemble = tree_ensemble_handle.created()
        buckets = _as_table(features)
        logits = np.zeros((buckets.shape[1], self.logits_dimension), np.float32)
        with ensemble.lock:
            last = len(ensemble.message.trees) - 1
            if last < 0:
                return logits, cached_tree_ids.copy(), np.zeros_like(cached_node_ids)
            if logits.size and not (
                cached_tree_ids.min() >= 0 and cached_tree_ids.max() <= last
            ):
                raise invalid_argument(
                    f"cached_tree_ids must be in [0, {last}], the trees of the "
                    f"ensemble, got {int(cached_tree_ids.min())} to "
                    f"{int(cached_tree_ids.max())}"
                )
            nodes = cached_node_ids.astype(np.int64)
            first = int(cached_tree_ids.min()) if cached_tree_ids.size else last
            for index in range(first, last + 1):
                nodes[cached_tree_ids < index] = -1  # came from an earlier tree
                active = np.flatnonzero(cached_tree_ids <= index)
                reached, gained = self._continued(
                    ensemble, index, buckets[:, active], nodes[active]
                )
                nodes[active] = reached
                logits[active] += np.float32(ensemble.message.tree_weights[index]) * (
                    gained
                )
        tree_ids = np.full_like(cached_tree_ids, last)
        return logits, tree_ids, nodes.astype(np.int32)

    def _continued(
        self, ensemble: TreeEnsemble, index: int, buckets: Any, nodes: Any
    ) -> tuple[Any, Any]:
        """The leaves of a tree below `nodes`, and their values less those of `nodes`.

        A node of -1 stands for a root whose value was not added yet.
        """
        tree = ensemble.tree(index)
        gained = np.zeros((len(nodes), self.logits_dimension), np.float32)
        nodes, is_new = np.maximum(nodes, 0), nodes < 0
        pruned = ensemble.pruned_nodes(index)
        if pruned and not is_new.all():
            if nodes.max() >= len(pruned):
                raise invalid_argument(
                    f"cached_node_ids must be below {len(pruned)}, the nodes of tree "
                    f"{index} before it was pruned, got {int(nodes.max())}"
                )
            changes = np.array([update.logit_change for update in pruned], np.float32)
            logits = changes.shape[1]
            gained[:, :logits] = np.where(is_new[:, None], 0, changes[nodes])
            new_ids = np.array([update.new_node_id for update in pruned])
            nodes = np.where(is_new, 0, new_ids[nodes])
        start = nodes.copy()
        tree.leaves(buckets, nodes)
        before = tree.logits(start, self.logits_dimension)
        gained = gained - np.where(is_new[:, None], np.float32(0), before)
        return nodes, gained + tree.logits(nodes, self.logits_dimension)


class BoostedTreesExampleDebugOutputs(TreeOp):
    """For each example a serialized DebugOutput: features read, logits after each.

    The first of the logits is that of the first tree's root, before any split.

    Source: boosted_trees_ops.cc, BoostedTreesExampleDebugOutputs.
    """

    signature = (
        "tree_ensemble_handle: resource, "
        "bucketized_features: num_bucketized_features*int32 -> "
        "examples_debug_outputs_serialized: string"
    )
    num_bucketized_features: int
    logits_dimension: int

    minimum: ClassVar[dict[str, int]] = {"num_bucketized_features": 1}

    def infer_shape(
        self, tree_ensemble_handle: Shape, bucketized_features: list[Shape]
    ) -> Shape:
        return (_number_of_examples(bucketized_features),)

    def compute(
        self, ctx: KernelContext, tree_ensemble_handle: TreeEnsemble, *features: Any
    ) -> Any:
        if self.logits_dimension != 1:
            raise invalid_argument(
                "Debug outputs exist for one logit only, got logits_dimension = "
                f"{self.logits_dimension}"
            )
        ensemble = tree_ensemble_handle.created()
        buckets = _as_table(features)
        count = buckets.shape[1]
        outputs = [new_message("DebugOutput") for _ in range(count)]
        before = np.zeros(count, np.float32)  # the logits of the earlier trees
        with ensemble.lock:
            for index, weight in enumerate(ensemble.weights()):
                tree = ensemble.tree(index)
                nodes = np.zeros(count, np.int64)
                if index == 0:
                    bias = float(weight * tree.values[0, 0])
                    for output in outputs:
                        output.logits_path.append(bias)
                before = before + _trace(tree, weight, buckets, nodes, before, outputs)
        serialized = np.empty(count, object)
        serialized[:] = [output.SerializeToString() for output in outputs]
        return serialized


def _trace(
    tree: TreeArrays,
    weight: Any,
    buckets: Any,
    nodes: Any,
    before: Any,
    outputs: list[Any],
) -> Any:
    """Append the splits of one tree to the outputs; returns the tree's logits."""
    for moved, features in tree.descend(buckets, nodes):
        logits = before[moved] + weight * tree.values[nodes[moved], 0]
        for example, feature, logit in zip(
            moved.tolist(), features.tolist(), logits.tolist(), strict=True
        ):
            outputs[example].feature_ids.append(feature)
            outputs[example].logits_path.append(logit)
    return weight * tree.values[nodes, 0]
