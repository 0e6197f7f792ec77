"""Ops that create, save and describe an ensemble of boosted trees.

Source: core/ops/boosted_trees_ops.cc, core/kernels/boosted_trees/resource_ops.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.trees.handles import TreeResourceHandleOp
from tfteach.ops.trees.tree_ensemble import TreeEnsemble


class TreeOp(StatefulOp, abstract=True):
    """Ensembles stay on the CPU, and have no gradients."""

    on_gpu: ClassVar[bool] = False


class BoostedTreesEnsembleResourceHandleOp(TreeResourceHandleOp):
    """A handle to an ensemble, shared by name.

    Source: boosted_trees_ops.cc, BoostedTreesEnsembleResourceHandleOp.
    """

    kind: ClassVar[str] = "tree_ensemble"
    factory: ClassVar[Callable[[str], Any]] = TreeEnsemble


class IsBoostedTreesEnsembleInitialized(TreeOp):
    """Whether an ensemble has been created.  Source: boosted_trees_ops.cc."""

    signature = "tree_ensemble_handle: resource -> is_initialized: bool"

    def infer_shape(self, tree_ensemble_handle: Shape) -> Shape:
        shapes.with_rank(tree_ensemble_handle, 0)
        return ()

    def compute(self, ctx: KernelContext, tree_ensemble_handle: TreeEnsemble) -> Any:
        return np.bool_(tree_ensemble_handle.message is not None)


class BoostedTreesCreateEnsemble(TreeOp, NoOutputOp):
    """Create an ensemble from its message; an existing one stays as it is.

    Source: boosted_trees_ops.cc, BoostedTreesCreateEnsemble.
    """

    signature = (
        "tree_ensemble_handle: resource, stamp_token: int64, "
        "tree_ensemble_serialized: string ->"
    )

    def infer_shape(self, *inputs: Shape) -> list[Shape]:
        for given in inputs:
            shapes.with_rank(given, 0)
        return []

    def compute(
        self,
        ctx: KernelContext,
        tree_ensemble_handle: TreeEnsemble,
        stamp_token: Any,
        tree_ensemble_serialized: Any,
    ) -> Any:
        if tree_ensemble_handle.message is None:
            tree_ensemble_handle.load(
                int(stamp_token), np.asarray(tree_ensemble_serialized, object).item()
            )
        return ()


class BoostedTreesDeserializeEnsemble(TreeOp, NoOutputOp):
    """Replace an ensemble by its message.

    Source: boosted_trees_ops.cc, BoostedTreesDeserializeEnsemble.
    """

    signature = (
        "tree_ensemble_handle: resource, stamp_token: int64, "
        "tree_ensemble_serialized: string ->"
    )

    def infer_shape(self, *inputs: Shape) -> list[Shape]:
        for given in inputs:
            shapes.with_rank(given, 0)
        return []

    def compute(
        self,
        ctx: KernelContext,
        tree_ensemble_handle: TreeEnsemble,
        stamp_token: Any,
        tree_ensemble_serialized: Any,
    ) -> Any:
        tree_ensemble_handle.created().load(
            int(stamp_token), np.asarray(tree_ensemble_serialized, object).item()
        )
        return ()


class BoostedTreesSerializeEnsemble(TreeOp, MultiOutputOp):
    """The stamp token and the message of an ensemble.

    Source: boosted_trees_ops.cc, BoostedTreesSerializeEnsemble.
    """

    signature = (
        "tree_ensemble_handle: resource -> "
        "stamp_token: int64, tree_ensemble_serialized: string"
    )

    def infer_shape(self, tree_ensemble_handle: Shape) -> list[Shape]:
        shapes.with_rank(tree_ensemble_handle, 0)
        return [(), ()]

    def compute(self, ctx: KernelContext, tree_ensemble_handle: TreeEnsemble) -> Any:
        ensemble = tree_ensemble_handle.created()
        with ensemble.lock:
            serialized = np.array(None, object)
            serialized[()] = ensemble.message.SerializeToString()
            return np.int64(ensemble.stamp), serialized


class BoostedTreesGetEnsembleStates(TreeOp, MultiOutputOp):
    """How far an ensemble has grown.

    Outputs the stamp token, the number of trees, of finalized trees and of layers tried
    so far, and the range [first, last) of the nodes that may be split next.

    Source: boosted_trees_ops.cc, BoostedTreesGetEnsembleStates.
    """

    signature = (
        "tree_ensemble_handle: resource -> stamp_token: int64, num_trees: int32, "
        "num_finalized_trees: int32, num_attempted_layers: int32, "
        "last_layer_nodes_range: int32"
    )

    def infer_shape(self, tree_ensemble_handle: Shape) -> list[Shape]:
        shapes.with_rank(tree_ensemble_handle, 0)
        return [(), (), (), (), (2,)]

    def compute(self, ctx: KernelContext, tree_ensemble_handle: TreeEnsemble) -> Any:
        ensemble = tree_ensemble_handle.created()
        with ensemble.lock:
            message, grown = ensemble.message, ensemble.message.growing_metadata
            # A range that was never set is that of a root.
            nodes = (grown.last_layer_node_start, grown.last_layer_node_end or 1)
            return (
                np.int64(ensemble.stamp),
                np.int32(len(message.trees)),
                np.int32(sum(tree.is_finalized for tree in message.tree_metadata)),
                np.int32(grown.num_layers_attempted),
                np.array(nodes, np.int32),
            )
