"""An ensemble of decision trees as a resource of a session: its message, and paths.

The message `TreeEnsemble` is the state, as in TensorFlow, so that checkpoints hold the
same bytes.  For predictions each tree is also kept as arrays of its nodes, which all
examples descend together, one level at a time.

Source: core/kernels/boosted_trees/boosted_trees.proto, resources.cc.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfteach.framework.errors import NotFoundError, invalid_argument
from tfteach.framework.protos.pool import proto_module

LEAF, BUCKETIZED, CATEGORICAL = 0, 1, 2
_MANGLED = "N10tensorflow28BoostedTreesEnsembleResourceE"


def new_message(name: str) -> Any:
    """An empty message of boosted_trees.proto, such as a `TreeEnsemble`."""
    return getattr(proto_module("boosted_trees"), name)()


def leaf_values(leaf: Any) -> list[float]:
    """The logits of a Leaf message."""
    return list(leaf.vector.value) if leaf.HasField("vector") else [leaf.scalar]


@dataclasses.dataclass(frozen=True)
class TreeArrays:
    """A tree as arrays over its nodes.

    Attributes:
      kinds: LEAF, BUCKETIZED or CATEGORICAL.
      features: the feature that a split reads; 0 for leaves.
      thresholds: the largest bucket that goes left, or the only one of a CATEGORICAL
        split.
      left: the left child of a split.
      right: the right child.
      values: float32 of shape [nodes, logits]: a leaf's logits, or those that a split
        had while it was a leaf.
    """

    kinds: np.ndarray[Any, Any]
    features: np.ndarray[Any, Any]
    thresholds: np.ndarray[Any, Any]
    left: np.ndarray[Any, Any]
    right: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]

    @classmethod
    def of(cls, tree: Any) -> TreeArrays:
        """The arrays of a Tree message."""
        rows, values = [], []
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            if kind == "leaf":
                rows.append((LEAF, 0, 0, 0, 0))
                values.append(leaf_values(node.leaf))
                continue
            if kind == "bucketized_split":
                split = node.bucketized_split
                row = (BUCKETIZED, split.feature_id, split.threshold)
            elif kind == "categorical_split":
                split = node.categorical_split
                row = (CATEGORICAL, split.feature_id, split.value)
            else:
                raise invalid_argument(
                    f"A tree has a node of kind {kind}; expected a leaf, a bucketized "
                    "split or a categorical split"
                )
            rows.append((*row, split.left_id, split.right_id))
            values.append(leaf_values(node.metadata.original_leaf))
        table = np.array(rows, np.int64).reshape(-1, 5)
        width = max(map(len, values), default=1)
        logits = np.zeros((len(values), width), np.float32)
        for row_of_logits, found in zip(logits, values, strict=True):
            row_of_logits[: len(found)] = found
        kinds, features, thresholds, left, right = table.T
        return cls(kinds, features, thresholds, left, right, logits)

    def logits(self, nodes: Any, dimension: int) -> Any:
        """The values of nodes, cut or filled with zeros to this many logits."""
        found = self.values[nodes]
        missing = dimension - found.shape[1]
        if missing <= 0:
            return found[:, :dimension]
        return np.pad(found, ((0, 0), (0, missing)))

    def descend(self, buckets: Any, nodes: Any) -> Iterator[tuple[Any, Any]]:
        """Move examples from nodes to their leaves, one level at a time.

        Args:
          buckets: int32 of shape [features, examples].
          nodes: the node of each example, modified in place.

        Yields:
          The examples that moved, and the features that their old nodes read.

        Raises:
          InvalidArgumentError: a split reads a feature that `buckets` lacks, or its
            children do not exist.
        """
        if nodes.size and not (nodes.min() >= 0 and nodes.max() < len(self.kinds)):
            raise invalid_argument(
                f"Node ids must be in [0, {len(self.kinds)}), the nodes of the tree, "
                f"got {int(nodes.min())} to {int(nodes.max())}"
            )
        moving = np.flatnonzero(self.kinds[nodes] != LEAF)
        for _ in range(len(self.kinds)):
            if not moving.size:
                return
            at = nodes[moving]
            features = self.features[at]
            if features.max() >= len(buckets) or features.min() < 0:
                raise invalid_argument(
                    f"The tree splits by feature {int(features.max())}, but there are "
                    f"only {len(buckets)} features"
                )
            found, limits = buckets[features, moving], self.thresholds[at]
            is_left = np.where(
                self.kinds[at] == CATEGORICAL, found == limits, found <= limits
            )
            reached = np.where(is_left, self.left[at], self.right[at])
            if reached.max() >= len(self.kinds) or reached.min() <= 0:
                break
            nodes[moving] = reached
            yield moving, features
            moving = moving[self.kinds[reached] != LEAF]
        if moving.size:
            raise invalid_argument(
                "A split of the tree has children that do not exist or that lead back "
                "to it"
            )

    def leaves(self, buckets: Any, nodes: Any) -> Any:
        """The leaves that examples reach from `nodes`, which become these leaves."""
        for _ in self.descend(buckets, nodes):
            pass
        return nodes


class TreeEnsemble:
    """The resource that a handle refers to; empty until it is created.

    Attributes:
      message: the ensemble as TensorFlow's message; None until it is created.
      stamp: the number of updates, or the stamp token it was restored with.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.message: Any = None
        self.stamp = 0
        self.lock = threading.RLock()
        self._arrays: list[TreeArrays | None] = []

    @property
    def shape(self) -> tuple[int, ...]:
        """The handle is a scalar."""
        return ()

    def created(self) -> TreeEnsemble:
        """This ensemble.  Raises: NotFoundError: it has not been created."""
        if self.message is None:
            raise NotFoundError(
                None,
                None,
                f"Resource localhost/{self.name}/{_MANGLED} does not exist. Run "
                "BoostedTreesCreateEnsemble or restore a checkpoint first.",
            )
        return self

    def load(self, stamp: int, serialized: bytes) -> None:
        """Replace everything by a serialized message.

        Raises:
          InvalidArgumentError: it cannot be parsed; the ensemble is then empty, and its
            stamp -1.
        """
        from google.protobuf.message import DecodeError

        message = new_message("TreeEnsemble")
        with self.lock:
            try:
                message.ParseFromString(serialized)
            except DecodeError:
                self.message, self.stamp = new_message("TreeEnsemble"), -1
                self._arrays = []
                raise invalid_argument("Unable to parse tree ensemble proto.") from None
            counts = (len(message.tree_weights), len(message.tree_metadata))
            # Without metadata an ensemble predicts, but does not grow.
            trees = len(message.trees)
            if counts not in ((trees, trees), (trees, 0)):
                raise invalid_argument(
                    f"A TreeEnsemble of {len(message.trees)} trees has "
                    f"{counts[0]} tree_weights and {counts[1]} tree_metadata"
                )
            self.message, self.stamp = message, stamp
            self._arrays = [None] * len(message.trees)

    def trees(self) -> list[TreeArrays]:
        """All trees as arrays."""
        return [self.tree(index) for index in range(len(self.message.trees))]

    def tree(self, index: int) -> TreeArrays:
        """A tree as arrays, cached until it grows."""
        found = self._arrays[index]
        if found is None:
            found = self._arrays[index] = TreeArrays.of(self.message.trees[index])
        return found

    def pruned_nodes(self, index: int) -> Any:
        """What became of the nodes of a tree that was pruned; empty if it was not."""
        metadata = self.message.tree_metadata
        return metadata[index].post_pruned_nodes_meta if metadata else ()

    def changed(self, index: int) -> None:
        """Forget the arrays of a tree that was modified."""
        self._arrays[index] = None

    def add_tree(self) -> None:
        """Add a tree of a single leaf, with weight 1."""
        self.message.trees.add().nodes.add().leaf.SetInParent()
        self.message.tree_weights.append(1.0)
        self.message.tree_metadata.add()
        self._arrays.append(None)

    def weights(self) -> np.ndarray[Any, Any]:
        """The trees' weights, as float32."""
        return np.array(self.message.tree_weights, np.float32)
