"""A tree of a random forest: tests of one feature, and leaves with values.

Source: contrib/tensor_forest/kernels/v4 (decision-tree-resource).
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple, Self

import numpy as np

from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.protos.pool import proto_module
from tfteach.ops.trees.leaf_models import ClassCounts, LeafModel, Moments


@functools.cache
def parameters_of(params: str) -> Any:
    """The TensorForestParams message in an op's attribute."""
    message = proto_module("tensor_forest_params").TensorForestParams()
    message.ParseFromString(params.encode("utf-8", "surrogateescape"))
    return message


@functools.cache
def leaf_model_of(params: str) -> LeafModel:
    """What the leaves of a tree with these parameters know and predict."""
    message = parameters_of(params)
    make = Moments if message.is_regression else ClassCounts
    return make(message.num_outputs)


def goes_left(values: Any, thresholds: Any, is_strict: Any) -> Any:
    """Whether examples with these values of a feature go left; NaN goes right."""
    return np.where(is_strict, values < thresholds, values <= thresholds)


class Test(NamedTuple):
    """A candidate: examples go left whose feature is at most the threshold.

    Attributes:
      is_strict: whether they go left only if it is less.
      left: float64, the values of the leaf on the left.
      right: the same on the right.
    """

    feature: int
    threshold: float
    is_strict: bool
    left: Any
    right: Any


class TreeResource:
    """What a handle refers to; empty until it is created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.is_created = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The handle is a scalar."""
        return ()

    @property
    def is_initialized(self) -> bool:
        """As of other resources: whether it has been created."""
        return self.is_created

    def clear(self) -> None:
        """Release what it holds; it may be created again."""
        self.is_created = False

    def created(self) -> Self:
        """This resource.  Raises: FailedPreconditionError: it has not been created."""
        if not self.is_created:
            raise FailedPreconditionError(
                None,
                None,
                f"Attempting to use uninitialized tree {self.name}. Run "
                "resources.initialize_resources(resources.shared_resources()) first.",
            )
        return self

    def create(self, serialized: bytes, params: str) -> None:
        """Fill it from a message, or as at the beginning if that is empty."""
        raise NotImplementedError

    def serialized(self) -> bytes:
        """TensorFlow's message."""
        raise NotImplementedError


class DecisionTree(TreeResource):
    """The resource of a tree: lists over its nodes."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._clear()

    def clear(self) -> None:
        super().clear()
        with self.lock:
            self._clear()

    def _clear(self) -> None:
        self.features: list[int] = []  # -1 for leaves
        self.thresholds: list[float] = []
        self.is_strict: list[bool] = []
        self.left: list[int] = []  # the right child follows
        self.depths: list[int] = []
        self.leaves: list[Any] = []  # values [outputs]; None for splits
        self._arrays: tuple[Any, Any, Any, Any] | None = None

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.features)

    def create(self, serialized: bytes, params: str) -> None:
        """Make it a single leaf, or the tree of a serialized Model message."""
        with self.lock:
            self.load(serialized)
            if not self.size:
                self._add_leaf(np.zeros(leaf_model_of(params).outputs), 0)
            self.is_created = True

    def _add_leaf(self, values: Any, depth: int) -> int:
        self.features.append(-1)
        self.thresholds.append(0.0)
        self.is_strict.append(False)
        self.left.append(-1)
        self.depths.append(depth)
        self.leaves.append(values)
        self._arrays = None
        return self.size - 1

    def split(self, node: int, test: Test) -> tuple[int, int]:
        """Replace a leaf by a split; returns the new leaves."""
        depth = self.depths[node] + 1
        left = self._add_leaf(test.left, depth)
        right = self._add_leaf(test.right, depth)
        self.features[node], self.thresholds[node] = test.feature, test.threshold
        self.is_strict[node] = test.is_strict
        self.left[node], self.leaves[node] = left, None
        return left, right

    def traverse(self, data: Any) -> Any:
        """The leaf of each example, int32.

        Raises:
          InvalidArgumentError: a split reads a feature that the examples lack.
        """
        if self._arrays is None:
            self._arrays = (
                np.array(self.features, np.int64),
                np.array(self.thresholds, np.float32),
                np.array(self.left, np.int64),
                np.array(self.is_strict, np.bool_),
            )
        features, thresholds, left, is_strict = self._arrays
        if features.max(initial=-1) >= data.shape[1]:
            raise invalid_argument(
                f"The tree splits by feature {int(features.max())}, but examples have "
                f"only {data.shape[1]} features"
            )
        nodes = np.zeros(len(data), np.int64)
        moving = np.flatnonzero(features[nodes] >= 0)
        while moving.size:
            at = nodes[moving]
            values = data[moving, features[at]]
            is_left = goes_left(values, thresholds[at], is_strict[at])
            nodes[moving] = left[at] + ~is_left
            moving = moving[features[nodes[moving]] >= 0]
        return nodes.astype(np.int32)

    def predictions(self, leaves: Any, model: LeafModel) -> Any:
        """What leaves predict, float32 of shape [examples, outputs]."""
        table = np.zeros((self.size, model.outputs))
        for node, values in enumerate(self.leaves):
            if values is not None:
                table[node] = model.prediction(values)
        return table[leaves].astype(np.float32)

    def paths(self, leaves: Any) -> Any:
        """The nodes from the root to each leaf: an array of TreePath messages."""
        parents = {
            child: node
            for node, left in enumerate(self.left)
            if left >= 0
            for child in (left, left + 1)
        }
        found: dict[int, bytes] = {}
        for leaf in set(leaves.tolist()):
            nodes = [leaf]
            while nodes[-1] in parents:
                nodes.append(parents[nodes[-1]])
            path = proto_module("fertile_stats").TreePath()
            for node in reversed(nodes):
                self._describe(path.nodes_visited.add(), node)
            found[leaf] = path.SerializeToString()
        result = np.empty(len(leaves), object)
        result[:] = [found[leaf] for leaf in leaves.tolist()]
        return result

    def serialized(self) -> bytes:
        """TensorFlow's message of the tree."""
        model = proto_module("generic_tree_model").Model()
        for index in range(self.size):
            self._describe(model.decision_tree.nodes.add(), index)
        result: bytes = model.SerializeToString()
        return result

    def _describe(self, node: Any, index: int) -> None:
        """Fill the TreeNode message of a node."""
        if index:
            node.node_id.value = index
        if self.features[index] < 0:
            node.leaf.vector.SetInParent()
            for value in self.leaves[index]:
                node.leaf.vector.value.add().float_value = value
            return
        test = node.binary_node.inequality_left_child_test
        node.binary_node.left_child_id.value = self.left[index]
        node.binary_node.right_child_id.value = self.left[index] + 1
        test.feature_id.id.value = str(self.features[index])
        test.threshold.float_value = self.thresholds[index]
        test.type = int(self.is_strict[index])

    def load(self, serialized: bytes) -> None:
        """Replace the tree by a serialized Model message.

        Raises:
          InvalidArgumentError: it is none, or has other tests than this tree can have.
        """
        from google.protobuf.message import DecodeError

        model = proto_module("generic_tree_model").Model()
        try:
            model.ParseFromString(serialized)
        except DecodeError:
            raise invalid_argument("Unable to parse tree config.") from None
        self._clear()
        for node in model.decision_tree.nodes:
            index = self._add_leaf(None, 0)
            if node.WhichOneof("node_type") != "binary_node":
                values = [value.float_value for value in node.leaf.vector.value]
                self.leaves[index] = np.array(values)
                continue
            test = node.binary_node.inequality_left_child_test
            left = node.binary_node.left_child_id.value
            right = node.binary_node.right_child_id.value
            if right != left + 1 or test.type > 1 or left <= index:
                raise invalid_argument(
                    "Unable to parse tree config: expected tests 'feature <= "
                    "threshold' or 'feature < threshold', and children that follow "
                    "each other and their parent"
                )
            self.features[index] = int(test.feature_id.id.value)
            self.thresholds[index] = test.threshold.float_value
            self.is_strict[index] = bool(test.type)
            self.left[index] = left
        for index in range(self.size):  # parents come first
            if self.features[index] >= 0:
                for child in (self.left[index], self.left[index] + 1):
                    self.depths[child] = self.depths[index] + 1
