"""How an ensemble of boosted trees grows, layer by layer, and how trees are pruned.

Source: core/kernels/boosted_trees/resources.cc, training_ops.cc; T. Chen, C. Guestrin,
"XGBoost: A Scalable Tree Boosting System", 2016, for gains and weights.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfteach.framework.errors import invalid_argument
from tfteach.ops.trees.tree_ensemble import TreeEnsemble, leaf_values, new_message

NO_PRUNING, PRE_PRUNING, POST_PRUNING = 0, 1, 2
EQUALITY_DEFAULT_RIGHT = "EQUALITY_DEFAULT_RIGHT"
INEQUALITY_DEFAULT_LEFT = "INEQUALITY_DEFAULT_LEFT"
INEQUALITY_DEFAULT_RIGHT = "INEQUALITY_DEFAULT_RIGHT"

# A bias that changes by at most this part of itself is centered.
_CENTERED = 0.01


@dataclasses.dataclass(frozen=True)
class Split:
    """A candidate for a node: the best split by one feature.

    Attributes:
      node: the leaf to split.
      gain: by how much it reduces the loss, in TensorFlow's measure.
      left: what it adds to the logit of examples that go left, before scaling by the
        learning rate.
      right: the same for those that go right.
      kind: EQUALITY_DEFAULT_RIGHT or one of the inequalities.
    """

    node: int
    gain: float
    feature: int
    dimension: int
    threshold: int
    left: Any
    right: Any
    kind: str = INEQUALITY_DEFAULT_LEFT


def best_splits(candidates: Iterable[Split]) -> list[Split]:
    """The split of largest gain for each node, by node; of equal ones the first."""
    best: dict[int, Split] = {}
    for split in candidates:
        found = best.get(split.node)
        if found is None or split.gain > found.gain:
            best[split.node] = split
    return [best[node] for node in sorted(best)]


def grow_layer(
    ensemble: TreeEnsemble,
    candidates: Iterable[Split],
    max_depth: int,
    learning_rate: Any,
    pruning_mode: int,
) -> None:
    """Split leaves of the last tree, which is finished at its maximal depth.

    Args:
      ensemble: modified.
      candidates: at most one split per node is used, that of the largest gain.
      max_depth: the number of layers at which a tree is finished, and a new one begun.
      learning_rate: float32, multiplies the leaves' values.
      pruning_mode: PRE_PRUNING leaves out splits of negative gain; POST_PRUNING removes
        them again from a finished tree, from its leaves up.
    """
    message, grown = ensemble.message, ensemble.message.growing_metadata
    ensemble.stamp += 1
    if not message.trees:
        ensemble.add_tree()
    last = len(message.trees) - 1
    if not message.tree_metadata:
        raise invalid_argument("A TreeEnsemble without tree_metadata cannot grow")
    tree, metadata = message.trees[last], message.tree_metadata[last]
    if metadata.num_layers_grown == 0:
        grown.num_trees_attempted += 1
    grown.num_layers_attempted += 1
    first_new = len(tree.nodes)
    for split in best_splits(candidates):
        if pruning_mode != PRE_PRUNING or split.gain >= 0:
            _split_leaf(tree, split, learning_rate)
    if len(tree.nodes) == first_new:
        return  # the next step tries again
    ensemble.changed(last)
    metadata.num_layers_grown += 1
    nodes = (first_new, len(tree.nodes))
    if metadata.num_layers_grown >= max_depth:
        metadata.is_finalized = True
        if pruning_mode == POST_PRUNING:
            prune(tree, metadata)
        ensemble.add_tree()
        nodes = (0, 1)
    grown.last_layer_node_start, grown.last_layer_node_end = nodes


def _split_leaf(tree: Any, split: Split, learning_rate: Any) -> None:
    """Replace a leaf by a split, and add its children."""
    if not 0 <= split.node < len(tree.nodes):
        raise invalid_argument(
            f"node_ids must be in [0, {len(tree.nodes)}), the nodes of the tree that "
            f"grows, got {split.node}"
        )
    node = tree.nodes[split.node]
    value = np.float32(node.leaf.scalar)
    if split.node or value:  # a root starts at 0, which need not be kept
        node.metadata.original_leaf.scalar = value
    node.metadata.gain = split.gain
    left = len(tree.nodes)
    if split.kind == EQUALITY_DEFAULT_RIGHT:
        made = node.categorical_split
        made.value = split.threshold
    else:
        made = node.bucketized_split
        made.threshold = split.threshold
        if split.kind == INEQUALITY_DEFAULT_RIGHT:
            made.default_direction = 1
    made.feature_id, made.dimension_id = split.feature, split.dimension
    made.left_id, made.right_id = left, left + 1
    for contribution in (split.left, split.right):
        scaled = np.float32(learning_rate) * np.float32(contribution)
        tree.nodes.add().leaf.scalar = value + scaled


def prune(tree: Any, metadata: Any) -> None:
    """Turn splits into leaves, from the last ones up, where splitting was in vain.

    A split goes if both its children are leaves and its gain is negative.  The metadata
    then says for each former node which node replaces it, and by how much the logit of
    examples that were there changes.
    """
    count = len(tree.nodes)
    parent: dict[int, int] = {}  # a removed node -> the leaf that replaces it
    for index in reversed(range(count)):
        node = tree.nodes[index]
        if node.WhichOneof("node") == "leaf" or node.metadata.gain >= 0:
            continue
        children = _children(node)
        if all(tree.nodes[c].WhichOneof("node") == "leaf" for c in children):
            parent.update(dict.fromkeys(children, index))
            node.leaf.scalar = node.metadata.original_leaf.scalar
    if not parent:
        return
    new_ids: dict[int, int] = {}
    nodes: list[Any] = []
    for index in range(count):
        if index not in parent:
            new_ids[index] = len(nodes)
            nodes.append(tree.nodes[index])
    changes: dict[int, Any] = {}
    for index in range(count):  # parents come first
        update = metadata.post_pruned_nodes_meta.add()
        changes[index] = np.float32(0)
        kept = index
        if index in parent:
            above = parent[index]
            difference = _before(tree.nodes[above]) - _before(tree.nodes[index])
            changes[index] = changes[above] + difference
            while kept in parent:
                kept = parent[kept]
        update.new_node_id = new_ids[kept]
        update.logit_change.append(changes[index])
    copies = [new_message("Node") for _ in nodes]
    for copy, node in zip(copies, nodes, strict=True):
        copy.CopyFrom(node)
        if copy.WhichOneof("node") == "leaf":
            copy.ClearField("metadata")
        else:
            split = getattr(copy, copy.WhichOneof("node"))
            split.left_id = new_ids[split.left_id]
            split.right_id = new_ids[split.right_id]
    del tree.nodes[:]
    tree.nodes.extend(copies)


def _children(node: Any) -> tuple[int, int]:
    split = getattr(node, node.WhichOneof("node"))
    return split.left_id, split.right_id


def _before(node: Any) -> Any:
    """The logit of examples at a node, whether a leaf or a split that was one."""
    is_leaf = node.WhichOneof("node") == "leaf"
    leaf = node.leaf if is_leaf else node.metadata.original_leaf
    return np.float32(leaf_values(leaf)[0])


def center_bias(ensemble: TreeEnsemble, change: Any) -> bool:
    """Add to the value of the first tree's root; whether that was not yet the mean."""
    ensemble.stamp += 1
    if not ensemble.message.trees:
        ensemble.add_tree()
    root = ensemble.message.trees[0].nodes[0]
    current = _before(root)
    root.leaf.scalar = current + np.float32(change)
    ensemble.changed(0)
    if current == 0:
        return True
    return bool(abs(np.float32(change) / current) > _CENTERED)
