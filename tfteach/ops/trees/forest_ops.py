"""Ops of random forests: trees that grow while they see examples.

Source: contrib/tensor_forest/ops/model_ops.cc, stats_ops.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.trees.decision_forest import (
    DecisionTree,
    TreeResource,
    leaf_model_of,
    parameters_of,
)
from tfteach.ops.trees.fertile_stats import FertileStats
from tfteach.ops.trees.forest_examples import examples_of
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


def _weights(weights: Any, count: int) -> Any:
    return weights.astype(np.float64) if np.size(weights) else np.ones(count)


# ---- resources


class _IsInitialized(ForestOp, abstract=True):
    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: TreeResource) -> Any:
        return np.bool_(handle.is_created)


class _Create(ForestOp, NoOutputOp, abstract=True):
    """Fills a resource from a message; an empty one as at the beginning."""

    params: str
    replaces: ClassVar[bool] = False  # a resource that has been created

    def infer_shape(self, *_: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, handle: TreeResource, config: Any) -> Any:
        if self.replaces or not handle.is_created:
            handle.create(_bytes(config), self.params)
        return ()


class _Serialize(ForestOp, abstract=True):
    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: TreeResource) -> Any:
        with handle.lock:
            return _scalar(handle.created().serialized())


class DecisionTreeResourceHandleOp(TreeResourceHandleOp, ForestOp):
    """A handle to a tree, shared by name.  Source: model_ops.cc."""

    kind: ClassVar[str] = "decision_tree"
    factory: ClassVar[Callable[[str], Any]] = DecisionTree


class TreeIsInitializedOp(_IsInitialized):
    """Whether a tree has been created.  Source: model_ops.cc."""

    signature = "tree_handle: resource -> is_initialized: bool"


class CreateTreeVariable(_Create):
    """Create a tree from its message; "" is a single leaf.  Source: model_ops.cc."""

    signature = "tree_handle: resource, tree_config: string ->"


class TreeDeserialize(_Create):
    """Replace a tree by its message.  Source: model_ops.cc."""

    signature = "tree_handle: resource, tree_config: string ->"

    replaces: ClassVar[bool] = True


class TreeSerialize(_Serialize):
    """The message of a tree.  Source: model_ops.cc."""

    signature = "tree_handle: resource -> tree_config: string"


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


class FertileStatsIsInitializedOp(_IsInitialized):
    """Whether statistics have been created.  Source: stats_ops.cc."""

    signature = "stats_handle: resource -> is_initialized: bool"


class CreateFertileStatsVariable(_Create):
    """Create the statistics of a root, or of a message.  Source: stats_ops.cc."""

    signature = "stats_handle: resource, stats_config: string ->"


class FertileStatsDeserialize(_Create):
    """Replace statistics by a message.  Source: stats_ops.cc."""

    signature = "stats_handle: resource, stats_config: string ->"

    replaces: ClassVar[bool] = True


class FertileStatsSerialize(_Serialize):
    """The message of statistics.  Source: stats_ops.cc."""

    signature = "stats_handle: resource -> stats_config: string"
    params: str


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
        data = examples_of(
            input_data, sparse_input_indices, sparse_input_values, sparse_input_shape
        )
        tree = tree_handle.created()
        with tree.lock:
            return tree.traverse(data)


class TreePredictionsV4(ForestOp, MultiOutputOp):
    """What the leaf of each example predicts: [examples, outputs].

    The second output, the nodes to the leaves, is empty unless the parameters ask for
    it.  Source: model_ops.cc.
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
        data = examples_of(
            input_data, sparse_input_indices, sparse_input_values, sparse_input_shape
        )
        tree = tree_handle.created()
        with tree.lock:
            leaves = tree.traverse(data)
            found = tree.predictions(leaves, leaf_model_of(self.params))
            if not params.inference_tree_paths:
                return found, np.empty(0, object)
            return found, tree.paths(leaves)


class UpdateModelV4(ForestOp, NoOutputOp):
    """Let leaves learn from their examples.  Source: model_ops.cc."""

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
        tree, model = tree_handle.created(), leaf_model_of(self.params)
        targets = model.targets(input_labels)
        weights = _weights(input_weights, len(targets))
        with tree.lock:
            sums = np.zeros((tree.size, model.width))
            for column, added in model.parts(targets, weights):
                np.add.at(sums, (leaf_ids, column), added)
            for leaf in np.unique(leaf_ids).tolist():
                values = tree.leaves[leaf]
                if values is not None:  # not split meanwhile
                    tree.leaves[leaf] = model.updated(values, sums[leaf])
        return ()


class ProcessInputV4(ForestOp):
    """Let the candidates of leaves see their examples; which leaves are ripe.

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
        data = examples_of(
            input_data, sparse_input_indices, sparse_input_values, sparse_input_shape
        )
        targets = leaf_model_of(self.params).targets(input_labels)
        weights = _weights(input_weights, len(targets))
        if tree_handle.created().size >= params.max_nodes:
            return np.zeros(0, np.int32)  # it grows no more
        least = params.split_after_samples.constant_value
        with stats_handle.lock:
            reached = stats_handle.add(
                data, leaf_ids, targets, weights, self.random_seed
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
            stats_handle.drop_slots()
        return ()
