"""Ops that let an ensemble of boosted trees grow.

Source: core/ops/boosted_trees_ops.cc, core/kernels/boosted_trees/training_ops.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import NoOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.trees.ensemble_growth import Split, center_bias, grow_layer
from tfteach.ops.trees.ensemble_ops import TreeOp
from tfteach.ops.trees.split_gains import weights_and_gains
from tfteach.ops.trees.tree_ensemble import TreeEnsemble


def _check_shapes_per_feature(
    feature_ids: Shape,
    vectors: Sequence[Sequence[Shape]],
    contributions: Sequence[Sequence[Shape]],
    scalars: Sequence[Shape],
) -> list[Shape]:
    shapes.with_rank(feature_ids, 1)
    for position, first in enumerate(vectors[0]):
        nodes = shapes.with_rank(first, 1)
        for vector in vectors[1:]:
            nodes = shapes.merge(nodes, vector[position]) or nodes
        for contribution in contributions:
            shapes.merge(shapes.with_rank(contribution[position], 2), (*nodes, 1))
    for scalar in scalars:
        shapes.with_rank(scalar, 0)
    return []


def _candidates(feature_ids: Any, columns: dict[str, Sequence[Any]]) -> Iterator[Split]:
    """The splits of all features, feature by feature.

    Args:
      feature_ids: the features.
      columns: attribute of `Split` -> its values for each feature; all but those of
        `kind` are vectors, or matrices of one column.

    Raises:
      InvalidArgumentError: the values of a feature are of different lengths.
    """
    count = len(columns["node"])
    if len(feature_ids) != count:
        raise invalid_argument(
            f"feature_ids must have an element for each of the {count} features, got "
            f"{len(feature_ids)}"
        )
    for position, feature in enumerate(feature_ids.tolist()):
        values = [
            np.reshape(found[position], -1).tolist() for found in columns.values()
        ]
        if len({len(found) for found in values}) > 1:
            raise invalid_argument(
                f"Feature {feature} must have as many values of each kind as node_ids, "
                f"{len(values[0])}, got {[len(found) for found in values]}"
            )
        for row in zip(*values, strict=True):
            yield Split(feature=feature, **dict(zip(columns, row, strict=True)))


class BoostedTreesUpdateEnsemble(TreeOp, NoOutputOp):
    """Add a layer to the last tree.  Source: boosted_trees_ops.cc."""

    signature = (
        "tree_ensemble_handle: resource, feature_ids: int32, "
        "node_ids: num_features*int32, gains: num_features*float32, "
        "thresholds: num_features*int32, left_node_contribs: num_features*float32, "
        "right_node_contribs: num_features*float32, max_depth: int32, "
        "learning_rate: float32 ->"
    )
    pruning_mode: int
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"pruning_mode": 0, "num_features": 0}

    def infer_shape(
        self,
        tree_ensemble_handle: Shape,
        feature_ids: Shape,
        node_ids: list[Shape],
        gains: list[Shape],
        thresholds: list[Shape],
        left_node_contribs: list[Shape],
        right_node_contribs: list[Shape],
        max_depth: Shape,
        learning_rate: Shape,
    ) -> list[Shape]:
        return _check_shapes_per_feature(
            feature_ids,
            (node_ids, gains, thresholds),
            (left_node_contribs, right_node_contribs),
            (max_depth, learning_rate),
        )

    def compute(
        self,
        ctx: KernelContext,
        tree_ensemble_handle: TreeEnsemble,
        feature_ids: Any,
        *others: Any,
    ) -> Any:
        *lists, max_depth, learning_rate = others
        names = ("node", "gain", "threshold", "left", "right")
        columns = _by_name(lists, names)
        columns["dimension"] = [np.zeros_like(nodes) for nodes in columns["node"]]
        ensemble = tree_ensemble_handle.created()
        with ensemble.lock:
            grow_layer(
                ensemble,
                _candidates(feature_ids, columns),
                int(max_depth),
                learning_rate,
                self.pruning_mode,
            )
        return ()


def _by_name(tensors: Sequence[Any], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The tensors of several lists of inputs, all of one length, by list."""
    count = len(tensors) // len(names)
    return {
        name: tensors[index * count : (index + 1) * count]
        for index, name in enumerate(names)
    }


class BoostedTreesUpdateEnsembleV2(TreeOp, NoOutputOp):
    """Add a layer of splits of several kinds to the last tree.

    Source: boosted_trees_ops.cc, BoostedTreesUpdateEnsembleV2.
    """

    signature = (
        "tree_ensemble_handle: resource, feature_ids: int32, "
        "dimension_ids: num_features*int32, node_ids: num_features*int32, "
        "gains: num_features*float32, thresholds: num_features*int32, "
        "left_node_contribs: num_features*float32, "
        "right_node_contribs: num_features*float32, split_types: num_features*string, "
        "max_depth: int32, learning_rate: float32, pruning_mode: int32 ->"
    )
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"num_features": 0}

    def infer_shape(
        self,
        tree_ensemble_handle: Shape,
        feature_ids: Shape,
        dimension_ids: list[Shape],
        node_ids: list[Shape],
        gains: list[Shape],
        thresholds: list[Shape],
        left_node_contribs: list[Shape],
        right_node_contribs: list[Shape],
        split_types: list[Shape],
        max_depth: Shape,
        learning_rate: Shape,
        pruning_mode: Shape,
    ) -> list[Shape]:
        return _check_shapes_per_feature(
            feature_ids,
            (node_ids, dimension_ids, gains, thresholds, split_types),
            (left_node_contribs, right_node_contribs),
            (max_depth, learning_rate, pruning_mode),
        )

    def compute(
        self,
        ctx: KernelContext,
        tree_ensemble_handle: TreeEnsemble,
        feature_ids: Any,
        *others: Any,
    ) -> Any:
        *lists, max_depth, learning_rate, pruning_mode = others
        names = ("dimension", "node", "gain", "threshold", "left", "right", "kind")
        columns = _by_name(lists, names)
        columns["kind"] = [
            [kind.decode("utf-8", "replace") for kind in kinds.tolist()]
            for kinds in columns["kind"]
        ]
        ensemble = tree_ensemble_handle.created()
        with ensemble.lock:
            grow_layer(
                ensemble,
                _candidates(feature_ids, columns),
                int(max_depth),
                learning_rate,
                int(pruning_mode),
            )
        return ()


class BoostedTreesCenterBias(TreeOp):
    """Move the first tree's root towards the mean; whether there is more to move.

    Source: boosted_trees_ops.cc, BoostedTreesCenterBias.
    """

    signature = (
        "tree_ensemble_handle: resource, mean_gradients: float32, "
        "mean_hessians: float32, l1: float32, l2: float32 -> continue_centering: bool"
    )

    def infer_shape(
        self,
        tree_ensemble_handle: Shape,
        mean_gradients: Shape,
        mean_hessians: Shape,
        l1: Shape,
        l2: Shape,
    ) -> Shape:
        shapes.merge(
            shapes.with_rank(mean_gradients, 2), shapes.with_rank(mean_hessians, 2)
        )
        shapes.with_rank(l1, 0)
        shapes.with_rank(l2, 0)
        return ()

    def compute(
        self,
        ctx: KernelContext,
        tree_ensemble_handle: TreeEnsemble,
        mean_gradients: Any,
        mean_hessians: Any,
        l1: Any,
        l2: Any,
    ) -> Any:
        change, _ = weights_and_gains(mean_gradients[0, 0], mean_hessians[0, 0], l1, l2)
        ensemble = tree_ensemble_handle.created()
        with ensemble.lock:
            return np.bool_(center_bias(ensemble, change))
