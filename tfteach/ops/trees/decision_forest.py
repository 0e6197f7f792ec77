"""A tree of a random forest, and the statistics of its leaves that may be split.

A leaf counts its examples' classes.  While it may grow, it also compares candidates:
tests `feature <= threshold`, of a random feature and the value that an example has of
it.  After `split_after_samples` examples the candidate of the smallest Gini impurity
splits the leaf.

TensorFlow's own trees differ from run to run, also with seeds; these do, unless the op
has a seed.

Source: contrib/tensor_forest/kernels/v4; P. Domingos, G. Hulten, "Mining High-Speed
Data Streams", 2000, for leaves that wait for enough examples.
"""

from __future__ import annotations

import functools
import threading
import zlib
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.protos.pool import proto_module


@functools.cache
def parameters_of(params: str) -> Any:
    """The TensorForestParams message in an op's attribute."""
    message = proto_module("tensor_forest_params").TensorForestParams()
    message.ParseFromString(params.encode("utf-8", "surrogateescape"))
    return message


class Test(NamedTuple):
    """A candidate: examples go left whose feature is at most the threshold.

    Attributes:
      left: float64, the weight of each class that it sent left.
      right: the same on the right.
    """

    feature: int
    threshold: float
    left: Any
    right: Any


class DecisionTree:
    """The resource of a tree: arrays over its nodes.  Empty until it is created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.is_created = False
        self._clear()

    def _clear(self) -> None:
        self.features: list[int] = []  # -1 for leaves
        self.thresholds: list[float] = []
        self.left: list[int] = []  # the right child follows
        self.depths: list[int] = []
        self.leaves: list[Any] = []  # the weights of classes; None for splits
        self._arrays: tuple[Any, Any, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The handle is a scalar."""
        return ()

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.features)

    def created(self) -> DecisionTree:
        """This tree.  Raises: FailedPreconditionError: it has not been created."""
        if not self.is_created:
            raise FailedPreconditionError(
                None,
                None,
                f"Attempting to use uninitialized tree {self.name}. Run "
                "resources.initialize_resources(resources.shared_resources()) first.",
            )
        return self

    def create(self, serialized: bytes, classes: int) -> None:
        """Make it a single leaf, or the tree of a serialized Model message."""
        with self.lock:
            self.load(serialized)
            if not self.size:
                self._add_leaf(np.zeros(classes), 0)
            self.is_created = True

    def _add_leaf(self, counts: Any, depth: int) -> int:
        self.features.append(-1)
        self.thresholds.append(0.0)
        self.left.append(-1)
        self.depths.append(depth)
        self.leaves.append(counts)
        self._arrays = None
        return self.size - 1

    def split(self, node: int, test: Test) -> tuple[int, int]:
        """Replace a leaf by a split; returns the new leaves."""
        depth = self.depths[node] + 1
        left = self._add_leaf(test.left, depth)
        right = self._add_leaf(test.right, depth)
        self.features[node], self.thresholds[node] = test.feature, test.threshold
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
            )
        features, thresholds, left = self._arrays
        if features.max(initial=-1) >= data.shape[1]:
            raise invalid_argument(
                f"The tree splits by feature {int(features.max())}, but examples have "
                f"only {data.shape[1]} features"
            )
        nodes = np.zeros(len(data), np.int64)
        moving = np.flatnonzero(features[nodes] >= 0)
        while moving.size:
            at = nodes[moving]
            is_right = ~(data[moving, features[at]] <= thresholds[at])
            nodes[moving] = left[at] + is_right
            moving = moving[features[nodes[moving]] >= 0]
        return nodes.astype(np.int32)

    def probabilities(self, leaves: Any, classes: int) -> Any:
        """The classes' shares in leaves, float32 of shape [examples, classes]."""
        table = np.zeros((self.size, classes))
        for node, counts in enumerate(self.leaves):
            if counts is not None:
                table[node] = counts / max(counts.sum(), 1e-30)
        return table[leaves].astype(np.float32)

    def serialized(self) -> bytes:
        """TensorFlow's message of the tree."""
        model = proto_module("generic_tree_model").Model()
        for index in range(self.size):
            node = model.decision_tree.nodes.add()
            node.node_id.value = index
            if self.features[index] < 0:
                node.leaf.vector.SetInParent()
                for weight in self.leaves[index]:
                    node.leaf.vector.value.add().float_value = weight
                continue
            test = node.binary_node.inequality_left_child_test
            node.binary_node.left_child_id.value = self.left[index]
            node.binary_node.right_child_id.value = self.left[index] + 1
            test.feature_id.id.value = str(self.features[index])
            test.threshold.float_value = self.thresholds[index]
        result: bytes = model.SerializeToString()
        return result

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
                weights = [value.float_value for value in node.leaf.vector.value]
                self.leaves[index] = np.array(weights)
                continue
            test = node.binary_node.inequality_left_child_test
            left = node.binary_node.left_child_id.value
            right = node.binary_node.right_child_id.value
            if right != left + 1 or test.type or left <= index:
                raise invalid_argument(
                    "Unable to parse tree config: expected tests 'feature <= "
                    "threshold', and children that follow each other and their parent"
                )
            self.features[index] = int(test.feature_id.id.value)
            self.thresholds[index] = test.threshold.float_value
            self.left[index] = left
        for index in range(self.size):  # parents come first
            if self.features[index] >= 0:
                for child in (self.left[index], self.left[index] + 1):
                    self.depths[child] = self.depths[index] + 1


class FertileStats:
    """The resource of the leaves that may be split: a slot for each.

    All slots' candidates are in common arrays, [slots, candidates, ...], so that a
    batch is counted for all leaves together.
    """

    _counts: np.ndarray[Any, Any]  # the weight of each class, [slots, classes]
    _filled: np.ndarray[Any, Any]  # the number of candidates, [slots]
    _features: np.ndarray[Any, Any]  # [slots, candidates]
    _thresholds: np.ndarray[Any, Any]
    _left: np.ndarray[Any, Any]  # weights of classes, [slots, candidates, classes]
    _right: np.ndarray[Any, Any]

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.is_created = False
        self.depths: dict[int, int] = {}  # of the leaves with a slot
        self._slot_of: dict[int, int] = {}
        self._free: list[int] = []
        self._random: Any = None
        self._begin(0, 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """The handle is a scalar."""
        return ()

    def _resize(self, size: int) -> None:
        """Arrays of `size` slots, whose first ones stay."""
        classes, most = self._classes, self._most

        def grown(name: str, dtype: Any, *shape: int) -> Any:
            made = np.zeros((size, *shape), dtype)
            old = getattr(self, name)[:size]
            made[: len(old)] = old
            return made

        self._counts = grown("_counts", np.float64, classes)
        self._filled = grown("_filled", np.int64)
        self._features = grown("_features", np.int64, most)
        self._thresholds = grown("_thresholds", np.float32, most)
        self._left = grown("_left", np.float64, most, classes)
        self._right = grown("_right", np.float64, most, classes)

    def _begin(self, classes: int, most: int) -> None:
        """Arrays without slots."""
        self._classes, self._most = classes, most
        self._counts = np.zeros((0, classes))
        self._filled = np.zeros(0, np.int64)
        self._features = np.zeros((0, most), np.int64)
        self._thresholds = np.zeros((0, most), np.float32)
        self._left = self._right = np.zeros((0, most, classes))
        self._free = []

    def create(self, serialized: bytes, params: Any) -> None:
        """The slot of a root, or the slots of a FertileStats message, all empty."""
        message = proto_module("fertile_stats").FertileStats()
        message.ParseFromString(serialized)
        pairs = [(slot.node_id, slot.depth) for slot in message.node_to_slot]
        with self.lock:
            self.clear()
            self._begin(
                params.num_outputs, int(params.num_splits_to_consider.constant_value)
            )
            for node, depth in pairs or [(0, 0)]:
                self.allocate(node, depth)
            self.is_created = True

    def clear(self) -> None:
        """Drop all slots."""
        self._free += self._slot_of.values()
        self._slot_of, self.depths = {}, {}

    def allocate(self, node: int, depth: int) -> None:
        """Give a leaf an empty slot."""
        if not self._free:
            size = len(self._filled)
            self._resize(2 * size + 8)
            self._free = list(range(size, len(self._filled)))
        slot = self._free.pop()
        for array in (self._counts, self._filled, self._left, self._right):
            array[slot] = 0
        self._slot_of[node], self.depths[node] = slot, depth

    def release(self, node: int) -> None:
        """Drop the slot of a leaf that was split."""
        self._free.append(self._slot_of.pop(node))
        del self.depths[node]

    def serialized(self) -> bytes:
        """TensorFlow's message, without the candidates, as its default is."""
        message = proto_module("fertile_stats").FertileStats()
        for node, depth in self.depths.items():
            message.node_to_slot.add(node_id=node, depth=depth)
        result: bytes = message.SerializeToString()
        return result

    def add(self, data: Any, leaves: Any, labels: Any, weights: Any, seed: int) -> Any:
        """Count a batch; the first examples of a leaf also suggest its candidates.

        Args:
          data: float32 of shape [examples, features].
          leaves: the leaf of each example.
          labels: int64 classes.
          weights: float64.
          seed: of the random features; 0 for others in each session.

        Returns:
          The leaves with a slot that examples reached, in ascending order.
        """
        if self._random is None:
            # Trees with the same seed differ.
            own = zlib.crc32(self.name.encode())
            self._random = np.random.default_rng([seed, own] if seed else None)
        known = sorted(set(leaves.tolist()) & self._slot_of.keys())
        if not known:
            return known
        table = np.full(max(int(leaves.max()), *known) + 1, -1)
        table[known] = [self._slot_of[node] for node in known]
        rows = np.flatnonzero(table[leaves] >= 0)
        rows = rows[np.argsort(leaves[rows], kind="stable")]
        slots, labels, weights = table[leaves[rows]], labels[rows], weights[rows]
        starts = np.flatnonzero(np.r_[True, slots[1:] != slots[:-1]])
        sizes = np.diff(np.r_[starts, len(slots)])
        rank = np.arange(len(slots)) - np.repeat(starts, sizes)
        filled = self._filled[slots]
        place = filled + rank
        is_new = place < self._most  # suggests a candidate
        at = (slots[is_new], place[is_new])
        chosen = self._random.integers(data.shape[1], size=len(at[0]))
        self._features[at] = chosen
        self._thresholds[at] = data[rows[is_new], chosen]
        np.add.at(self._filled, at[0], 1)
        np.add.at(self._counts, (slots, labels), weights)
        # A candidate counts the examples from the one on that suggested it.
        columns = np.arange(self._most)
        counts = columns <= place[:, None]
        is_left = data[rows[:, None], self._features[slots]] <= self._thresholds[slots]
        cells = (slots[:, None] * self._most + columns) * self._classes
        cells = cells + labels[:, None]
        every = np.broadcast_to(weights[:, None], cells.shape)
        for sums, side in ((self._left, is_left), (self._right, ~is_left)):
            used = counts & side
            added = np.bincount(cells[used], every[used], sums.size)
            sums += added.reshape(sums.shape)
        return known

    def is_ripe(self, node: int, least: float) -> bool:
        """Whether a leaf has enough examples, of more than one class."""
        counts = self._counts[self._slot_of[node]]
        return bool(counts.sum() >= least and np.count_nonzero(counts) > 1)

    def best(self, node: int) -> Test | None:
        """The candidate of the smallest Gini impurity; None if none divides."""
        slot = self._slot_of.get(node)
        if slot is None:
            return None
        left, right = self._left[slot], self._right[slot]
        sizes = np.stack([left.sum(axis=1), right.sum(axis=1)])
        squares = np.stack([(left**2).sum(axis=1), (right**2).sum(axis=1)])
        is_useful = (sizes > 0).all(axis=0)
        if not is_useful.any():
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            impurity = (sizes - squares / sizes).sum(axis=0) / sizes.sum(axis=0)
        index = int(np.where(is_useful, impurity, np.inf).argmin())
        return Test(
            int(self._features[slot, index]),
            float(self._thresholds[slot, index]),
            left[index].copy(),
            right[index].copy(),
        )
