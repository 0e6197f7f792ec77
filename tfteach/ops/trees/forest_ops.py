"""Ops of random forests: trees that grow while they see examples.

Source: contrib/tensor_forest/ops/model_ops.cc, stats_ops.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.trees.decision_forest import DecisionTree, FertileStats, parameters_of
from tfteach.ops.trees.handles import TreeResourceHandleOp


class ForestOp(StatefulOp, abstract=True):
    """Trees stay on the CPU, and have no gradients."""

    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


def _bytes(value: Any) -> bytes:
    found: bytes = np.asarray(value, object).item()
    return found


def _scalar(value: bytes) -> Any:
    boxed = np.empty((), object)
    boxed[()] = value
    return boxed


def _checked(data: Any, sparse_values: Any) -> Any:
    """Dense examples.

    Raises:
      InvalidArgumentError: examples are sparse, or no matrix.
    """
    if np.size(sparse_values):
        raise invalid_argument(
            "Forests of sparse features are not supported: pass a dense Tensor"
        )
    if data.ndim != 2:
        raise invalid_argument(
            f"input_data must have shape [examples, features], got {list(data.shape)}"
        )
    return data


def _weights(weights: Any, count: int) -> Any:
    return weights.astype(np.float64) if np.size(weights) else np.ones(count)


def _classes(labels: Any, count: int) -> Any:
    """Labels as int64.  Raises: InvalidArgumentError: they are no classes."""
    found = labels.reshape(-1).astype(np.int64)
    if found.size and not (found.min() >= 0 and found.max() < count):
        raise invalid_argument(
            f"Labels must be classes in [0, {count}), got {int(found.min())} to "
            f"{int(found.max())}"
        )
    return found


# ---- resources


class DecisionTreeResourceHandleOp(TreeResourceHandleOp, ForestOp):
    """A handle to a tree, shared by name.  Source: model_ops.cc."""

    kind: ClassVar[str] = "decision_tree"
    factory: ClassVar[Callable[[str], Any]] = DecisionTree


class TreeIsInitializedOp(ForestOp):
    """Whether a tree has been created.  Source: model_ops.cc."""

    signature = "tree_handle: resource -> is_initialized: bool"

    def infer_shape(self, tree_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, tree_handle: DecisionTree) -> Any:
        return np.bool_(tree_handle.is_created)


class CreateTreeVariable(ForestOp, NoOutputOp):
    """Create a tree from its message; "" is a single leaf.  Source: model_ops.cc."""

    signature = "tree_handle: resource, tree_config: string ->"
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, ctx: KernelContext, tree_handle: DecisionTree, tree_config: Any
    ) -> Any:
        classes = parameters_of(self.params).num_outputs
        if not tree_handle.is_created:
            tree_handle.create(_bytes(tree_config), classes)
        return ()


class TreeDeserialize(ForestOp, NoOutputOp):
    """Replace a tree by its message.  Source: model_ops.cc."""

    signature = "tree_handle: resource, tree_config: string ->"
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, ctx: KernelContext, tree_handle: DecisionTree, tree_config: Any
    ) -> Any:
        classes = parameters_of(self.params).num_outputs
        tree_handle.create(_bytes(tree_config), classes)
        return ()


class TreeSerialize(ForestOp):
    """The message of a tree.  Source: model_ops.cc."""

    signature = "tree_handle: resource -> tree_config: string"

    def infer_shape(self, tree_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, tree_handle: DecisionTree) -> Any:
        tree = tree_handle.created()
        with tree.lock:
            return _scalar(tree.serialized())


class TreeSize(ForestOp):
    """The number of nodes.  Source: model_ops.cc."""

    signature = "tree_handle: resource -> tree_size: int32"

    def infer_shape(self, tree_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, tree_handle: DecisionTree) -> Any:
        return np.int32(tree_handle.created().size)


class FeatureUsageCounts(ForestOp):
    """How many splits read each feature.  Source: model_ops.cc."""

    signature = "tree_handle: resource -> feature_counts: int32"
    params: str

    def infer_shape(self, tree_handle: Shape) -> Shape:
        return (None,)

    def compute(self, ctx: KernelContext, tree_handle: DecisionTree) -> Any:
        features = np.array(tree_handle.created().features, np.int64)
        count = parameters_of(self.params).num_features
        return np.bincount(features[features >= 0], minlength=count).astype(np.int32)


class FertileStatsResourceHandleOp(TreeResourceHandleOp, ForestOp):
    """A handle to the statistics of a tree, shared by name.  Source: stats_ops.cc."""

    kind: ClassVar[str] = "fertile_stats"
    factory: ClassVar[Callable[[str], Any]] = FertileStats


class FertileStatsIsInitializedOp(ForestOp):
    """Whether statistics have been created.  Source: stats_ops.cc."""

    signature = "stats_handle: resource -> is_initialized: bool"

    def infer_shape(self, stats_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, stats_handle: FertileStats) -> Any:
        return np.bool_(stats_handle.is_created)


class CreateFertileStatsVariable(ForestOp, NoOutputOp):
    """Create the statistics of a root, or of a message.  Source: stats_ops.cc."""

    signature = "stats_handle: resource, stats_config: string ->"
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, ctx: KernelContext, stats_handle: FertileStats, stats_config: Any
    ) -> Any:
        if not stats_handle.is_created:
            stats_handle.create(_bytes(stats_config), parameters_of(self.params))
        return ()


class FertileStatsDeserialize(ForestOp, NoOutputOp):
    """Replace statistics by a message.  Source: stats_ops.cc."""

    signature = "stats_handle: resource, stats_config: string ->"
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, ctx: KernelContext, stats_handle: FertileStats, stats_config: Any
    ) -> Any:
        stats_handle.create(_bytes(stats_config), parameters_of(self.params))
        return ()


class FertileStatsSerialize(ForestOp):
    """The message of statistics.  Source: stats_ops.cc."""

    signature = "stats_handle: resource -> stats_config: string"
    params: str

    def infer_shape(self, stats_handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, stats_handle: FertileStats) -> Any:
        with stats_handle.lock:
            return _scalar(stats_handle.serialized())


# ---- examples


class TraverseTreeV4(ForestOp):
    """The leaf that each example reaches.  Source: model_ops.cc."""

    signature = (
        "tree_handle: resource, input_data: float32, sparse_input_indices: int64, "
        "sparse_input_values: float32, sparse_input_shape: int64 -> leaf_ids: int32"
    )
    input_spec: str
    params: str

    def infer_shape(self, *_: Shape) -> Shape:
        return (None,)

    def compute(
        self,
        ctx: KernelContext,
        tree_handle: DecisionTree,
        input_data: Any,
        sparse_input_indices: Any,
        sparse_input_values: Any,
        sparse_input_shape: Any,
    ) -> Any:
        data = _checked(input_data, sparse_input_values)
        tree = tree_handle.created()
        with tree.lock:
            return tree.traverse(data)


class TreePredictionsV4(ForestOp, MultiOutputOp):
    """The classes' shares in the leaf of each example: [examples, classes].

    The second output, the paths, is empty.  Source: model_ops.cc.
    """

    signature = (
        "tree_handle: resource, input_data: float32, sparse_input_indices: int64, "
        "sparse_input_values: float32, sparse_input_shape: int64 -> "
        "predictions: float32, tree_paths: string"
    )
    input_spec: str
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return [(None, None), (None,)]

    def compute(
        self,
        ctx: KernelContext,
        tree_handle: DecisionTree,
        input_data: Any,
        sparse_input_indices: Any,
        sparse_input_values: Any,
        sparse_input_shape: Any,
    ) -> Any:
        params = parameters_of(self.params)
        data = _checked(input_data, sparse_input_values)
        tree = tree_handle.created()
        with tree.lock:
            leaves = tree.traverse(data)
            found = tree.probabilities(leaves, params.num_outputs)
        return found, np.empty(0, object)


class UpdateModelV4(ForestOp, NoOutputOp):
    """Count examples in their leaves.  Source: model_ops.cc."""

    signature = (
        "tree_handle: resource, leaf_ids: int32, input_labels: float32, "
        "input_weights: float32 ->"
    )
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self,
        ctx: KernelContext,
        tree_handle: DecisionTree,
        leaf_ids: Any,
        input_labels: Any,
        input_weights: Any,
    ) -> Any:
        tree = tree_handle.created()
        count = parameters_of(self.params).num_outputs
        labels = _classes(input_labels, count)
        weights = _weights(input_weights, len(labels))
        with tree.lock:
            sums = np.bincount(
                leaf_ids.astype(np.int64) * count + labels, weights, tree.size * count
            ).reshape(tree.size, count)
            for leaf in np.unique(leaf_ids).tolist():
                if tree.leaves[leaf] is not None:  # not split meanwhile
                    tree.leaves[leaf] = tree.leaves[leaf] + sums[leaf]
        return ()


class ProcessInputV4(ForestOp):
    """Count examples for the candidates of their leaves; which leaves are ripe.

    Source: stats_ops.cc.
    """

    signature = (
        "tree_handle: resource, stats_handle: resource, input_data: float32, "
        "sparse_input_indices: int64, sparse_input_values: float32, "
        "sparse_input_shape: int64, input_labels: float32, input_weights: float32, "
        "leaf_ids: int32 -> finished_nodes: int32"
    )
    random_seed: int
    input_spec: str
    params: str

    def infer_shape(self, *_: Shape) -> Shape:
        return (None,)

    def compute(
        self,
        ctx: KernelContext,
        tree_handle: DecisionTree,
        stats_handle: FertileStats,
        input_data: Any,
        sparse_input_indices: Any,
        sparse_input_values: Any,
        sparse_input_shape: Any,
        input_labels: Any,
        input_weights: Any,
        leaf_ids: Any,
    ) -> Any:
        params = parameters_of(self.params)
        data = _checked(input_data, sparse_input_values)
        labels = _classes(input_labels, params.num_outputs)
        weights = _weights(input_weights, len(labels))
        if tree_handle.created().size >= params.max_nodes:
            return np.zeros(0, np.int32)  # it grows no more
        least = params.split_after_samples.constant_value
        with stats_handle.lock:
            reached = stats_handle.add(
                data, leaf_ids, labels, weights, self.random_seed
            )
            ripe = [leaf for leaf in reached if stats_handle.is_ripe(leaf, least)]
        return np.array(ripe, np.int32)


class GrowTreeV4(ForestOp, NoOutputOp):
    """Split ripe leaves by their best candidates.  Source: stats_ops.cc."""

    signature = (
        "tree_handle: resource, stats_handle: resource, finished_nodes: int32 ->"
    )
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self,
        ctx: KernelContext,
        tree_handle: DecisionTree,
        stats_handle: FertileStats,
        finished_nodes: Any,
    ) -> Any:
        params, tree = parameters_of(self.params), tree_handle.created()
        with tree.lock, stats_handle.lock:
            for node in finished_nodes.tolist():
                test = stats_handle.best(node)
                if test is None or tree.size >= params.max_nodes:
                    continue
                stats_handle.release(node)
                for child in tree.split(node, test):
                    stats_handle.allocate(child, tree.depths[child])
        return ()


class FinalizeTree(ForestOp, NoOutputOp):
    """Drop the statistics of a tree that is to grow no more.  Source: stats_ops.cc."""

    signature = "tree_handle: resource, stats_handle: resource ->"
    params: str

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(
        self, ctx: KernelContext, tree_handle: DecisionTree, stats_handle: FertileStats
    ) -> Any:
        with stats_handle.lock:
            stats_handle.clear()
        return ()
