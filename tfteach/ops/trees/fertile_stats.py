"""The statistics of the leaves of a random forest's tree that may be split.

While a leaf may grow, it compares candidates: tests `feature <= threshold`, of a random
feature and the value that an example has of it.  After the examples that suggest these,
and `split_after_samples` more that all are compared by, the candidate of the smallest
impurity splits the leaf.

TensorFlow's own trees differ from run to run, also with seeds; these do, unless the op
has a seed.

Source: contrib/tensor_forest/kernels/v4; P. Domingos, G. Hulten, "Mining High-Speed
Data Streams", 2000, for leaves that wait for enough examples.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tfteach.framework.protos.pool import proto_module
from tfteach.ops.trees.decision_forest import (
    Test,
    TreeResource,
    goes_left,
    leaf_model_of,
    parameters_of,
)
from tfteach.ops.trees.forest_examples import drawn_features
from tfteach.ops.trees.leaf_models import ClassCounts, LeafModel


class FertileStats(TreeResource):
    """The resource of the leaves that may be split: a slot for each.

    All slots' candidates are in common arrays, [slots, candidates, ...], so that a
    batch is counted for all leaves together.
    """

    _sums: np.ndarray[Any, Any]  # the statistics of each leaf, [slots, width]
    _filled: np.ndarray[Any, Any]  # the number of candidates, [slots]
    _features: np.ndarray[Any, Any]  # [slots, candidates]
    _thresholds: np.ndarray[Any, Any]
    _left: np.ndarray[Any, Any]  # statistics, [slots, candidates, width]
    _right: np.ndarray[Any, Any]

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.depths: dict[int, int] = {}  # of the leaves with a slot
        self._slot_of: dict[int, int] = {}
        self._free: list[int] = []
        self._random: Any = None
        self._begin(ClassCounts(0), 0, is_strict=False)

    def _resize(self, size: int) -> None:
        """Arrays of `size` slots, whose first ones stay."""
        width, most = self.model.width, self._most

        def grown(name: str, dtype: Any, *shape: int) -> Any:
            made = np.zeros((size, *shape), dtype)
            old = getattr(self, name)[:size]
            made[: len(old)] = old
            return made

        self._sums = grown("_sums", np.float64, width)
        self._filled = grown("_filled", np.int64)
        self._features = grown("_features", np.int64, most)
        self._thresholds = grown("_thresholds", np.float32, most)
        self._left = grown("_left", np.float64, most, width)
        self._right = grown("_right", np.float64, most, width)

    def _begin(self, model: LeafModel, most: int, is_strict: bool) -> None:
        """Arrays without slots."""
        self.model, self._most, self._is_strict = model, most, is_strict
        self._sums = np.zeros((0, model.width))
        self._filled = np.zeros(0, np.int64)
        self._features = np.zeros((0, most), np.int64)
        self._thresholds = np.zeros((0, most), np.float32)
        self._left = self._right = np.zeros((0, most, model.width))
        self._free = []

    def create(self, serialized: bytes, params: str) -> None:
        """The slot of a root, or the slots of a FertileStats message, all empty."""
        message = proto_module("fertile_stats").FertileStats()
        message.ParseFromString(serialized)
        pairs = [(slot.node_id, slot.depth) for slot in message.node_to_slot]
        given = parameters_of(params)
        most = int(given.num_splits_to_consider.constant_value)
        with self.lock:
            self.drop_slots()
            self._begin(leaf_model_of(params), most, bool(given.inequality_test_type))
            for node, depth in pairs or [(0, 0)]:
                self.allocate(node, depth)
            self.is_created = True

    def clear(self) -> None:
        super().clear()
        with self.lock:
            self.drop_slots()

    def drop_slots(self) -> None:
        """Forget all leaves."""
        self._free += self._slot_of.values()
        self._slot_of, self.depths = {}, {}

    def allocate(self, node: int, depth: int) -> None:
        """Give a leaf an empty slot."""
        if not self._free:
            size = len(self._filled)
            self._resize(2 * size + 8)
            self._free = list(range(size, len(self._filled)))
        slot = self._free.pop()
        for array in (self._sums, self._filled, self._left, self._right):
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

    def add(self, data: Any, leaves: Any, targets: Any, weights: Any, seed: int) -> Any:
        """Count a batch; the first examples of a leaf also suggest its candidates.

        Args:
          data: float32 of shape [examples, features], or SparseExamples.
          leaves: the leaf of each example.
          targets: what the leaf model makes of the labels.
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
        slots = table[leaves[rows]]
        starts = np.flatnonzero(np.r_[True, slots[1:] != slots[:-1]])
        sizes = np.diff(np.r_[starts, len(slots)])
        rank = np.arange(len(slots)) - np.repeat(starts, sizes)
        place = self._filled[slots] + rank
        is_new = place < self._most  # suggests a candidate
        at = (slots[is_new], place[is_new])
        chosen = drawn_features(data, rows[is_new], self._random)
        self._features[at] = chosen
        self._thresholds[at] = data[rows[is_new], chosen]
        np.add.at(self._filled, at[0], 1)
        self._count(data, rows[~is_new], slots[~is_new], targets, weights)
        return known

    def _count(
        self, data: Any, rows: Any, slots: Any, targets: Any, weights: Any
    ) -> None:
        """Let all candidates of their leaves see examples."""
        parts = self.model.parts(targets[rows], weights[rows])
        for column, added in parts:
            np.add.at(self._sums, (slots, column), added)
        values = data[rows[:, None], self._features[slots]]
        is_left = goes_left(values, self._thresholds[slots], self._is_strict)
        cells = slots[:, None] * self._most + np.arange(self._most)
        for sums, used in ((self._left, is_left), (self._right, ~is_left)):
            for column, given in parts:
                at = cells * self.model.width + np.reshape(column, (-1, 1))
                every = np.broadcast_to(given[:, None], cells.shape)
                added = np.bincount(at[used], every[used], sums.size)
                sums += added.reshape(sums.shape)

    def is_ripe(self, node: int, least: float) -> bool:
        """Whether a leaf has compared all candidates by enough mixed examples."""
        sums = self._sums[self._slot_of[node]]
        return bool(self.model.sizes(sums) >= least and self.model.is_mixed(sums))

    def best(self, node: int) -> Test | None:
        """The candidate of the smallest impurity; None if none divides."""
        slot = self._slot_of.get(node)
        if slot is None:
            return None
        model, sides = self.model, np.stack([self._left[slot], self._right[slot]])
        sizes = model.sizes(sides)
        is_useful = (sizes > 0).all(axis=0)
        if not is_useful.any():
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            impurity = model.impurity(sides).sum(axis=0) / sizes.sum(axis=0)
        index = int(np.where(is_useful, impurity, np.inf).argmin())
        return Test(
            int(self._features[slot, index]),
            float(self._thresholds[slot, index]),
            self._is_strict,
            model.leaf(sides[0, index]),
            model.leaf(sides[1, index]),
        )
