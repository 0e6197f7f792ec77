"""How a training step lets an ensemble grow: at once, or after several batches.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfteach.control.cond_v2 import cond_v2
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.lib.estimator.boosted_trees.bucketized_features import FeatureGroup
from tfteach.lib.estimator.boosted_trees.ensemble_resources import (
    EnsembleStates,
    TreeEnsemble,
)
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.compare import greater_equal
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_min
from tfteach.ops.queues.conditional_accumulator import ConditionalAccumulator
from tfteach.ops.trees.ensemble_updates import (
    BoostedTreesCenterBias,
    BoostedTreesUpdateEnsemble,
)
from tfteach.ops.trees.split_search import BoostedTreesCalculateBestGainsPerFeature


class TreeParameters(NamedTuple):
    """What shapes the trees; see `tf.estimator.BoostedTreesClassifier`."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str | None
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """The number of nodes above the last layer: ids of nodes are below it."""
        return (1 << self.max_depth) - 1

    @property
    def num_quantiles(self) -> int:
        """The number of buckets of numeric columns."""
        return int(1.0 / self.quantile_sketch_epsilon)


class Grower(abc.ABC):
    """Turns the sums of gradients of batches into layers.

    Args:
      ensemble: what grows.
      states: its state before the step.
      parameters: of its trees.
      groups: the features, in the order of the sums.

    Attributes:
      center_bias_needed: a bool variable, set before the ensemble grows.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        states: EnsembleStates,
        parameters: TreeParameters,
        groups: Sequence[FeatureGroup],
    ) -> None:
        self._ensemble, self._states = ensemble, states
        self._parameters, self._groups = parameters, groups
        self.center_bias_needed: Any = None

    @abc.abstractmethod
    def center_bias(self, gradients: Tensor, hessians: Tensor) -> Any:
        """Move the ensemble's bias towards the mean of the labels."""

    @abc.abstractmethod
    def grow_tree(self, sums: list[list[Tensor]]) -> Any:
        """Add a layer.

        Args:
          sums: for each group, and each of its features, the sums of gradients and
            hessians: [max_splits, num_buckets, 2].
        """

    @abc.abstractmethod
    def chief_init_op(self) -> Operation:
        """An op that a new session of the chief runs."""

    def _update(self, sums: Sequence[Sequence[Tensor]]) -> Operation:
        """An op that adds the layer of the best splits."""
        p = self._parameters
        ids: list[int] = []
        columns: list[list[Tensor]] = [[], [], [], [], []]
        for features, (_, feature_ids) in zip(sums, self._groups, strict=True):
            count = len(feature_ids)
            op = BoostedTreesCalculateBestGainsPerFeature(p.max_splits, count)
            found = op(
                self._states.last_layer_nodes_range, list(features),
                p.l1, p.l2, p.tree_complexity, p.min_node_weight,
            )  # fmt: skip
            for index, column in enumerate(columns):
                column += found[index * count : (index + 1) * count]
            ids += feature_ids
        mode = {"pre": 1, "post": 2}.get(p.pruning_mode or "none", 0)
        return BoostedTreesUpdateEnsemble(mode, len(ids))(
            self._ensemble.resource_handle, ids, *columns, p.max_depth, p.learning_rate
        )

    def _center(self, mean_gradients: Tensor, mean_hessians: Tensor) -> Any:
        """Whether the bias is still not the mean, assigned to its variable."""
        p = self._parameters
        again = BoostedTreesCenterBias()(
            self._ensemble.resource_handle,
            expand_dims(mean_gradients, 0),
            expand_dims(mean_hessians, 0),
            p.l1,
            p.l2,
        )
        return self.center_bias_needed.assign(again)


class InMemoryGrower(Grower):
    """Grows in each step: a batch is all there is."""

    def center_bias(self, gradients: Tensor, hessians: Tensor) -> Any:
        """Move the bias by the batch."""
        return self._center(reduce_mean(gradients, 0), reduce_mean(hessians, 0))

    def grow_tree(self, sums: list[list[Tensor]]) -> Any:
        """Add a layer of the batch's splits."""
        return self._update(sums)

    def chief_init_op(self) -> Operation:
        """Nothing to do."""
        return no_op()


class AccumulatorGrower(Grower):
    """Grows once several batches have been summed.

    Args:
      n_batches_per_layer: how many.
      is_chief: whether this worker lets the ensemble grow; others only add their sums.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        states: EnsembleStates,
        parameters: TreeParameters,
        groups: Sequence[FeatureGroup],
        n_batches_per_layer: int,
        is_chief: bool,
    ) -> None:
        super().__init__(ensemble, states, parameters, groups)
        self._n_batches, self._is_chief = n_batches_per_layer, is_chief
        self._init_ops: list[Operation] = []
        self._accumulators = [
            self._accumulator(
                [len(ids), parameters.max_splits, num_buckets, 2],
                f"numeric_stats_summary_accumulator_{i}",
            )
            for i, (num_buckets, ids) in enumerate(groups)
        ]
        if parameters.center_bias:
            self._bias_accumulator = self._accumulator([2, 1], "bias_accumulator")

    def _accumulator(self, shape: list[int], name: str) -> ConditionalAccumulator:
        """A mean that accepts what was computed since the last update."""
        made = ConditionalAccumulator(float32, shape, shared_name=name)
        self._init_ops.append(made.set_global_step(self._states.stamp_token))
        return made

    def chief_init_op(self) -> Operation:
        """Accumulate from the ensemble's stamp on."""
        return group(*self._init_ops)

    def center_bias(self, gradients: Tensor, hessians: Tensor) -> Any:
        """Move the bias once there are enough batches."""
        mean = reduce_mean(stack([gradients, hessians]), 1)
        accumulator = self._bias_accumulator
        apply = accumulator.apply_grad(mean, self._states.stamp_token)
        if not self._is_chief:
            return apply

        def move() -> Any:
            found = unstack(accumulator.take_grad(1), axis=0)
            needed = self._center(*found)
            return cond_v2(needed, no_op, self._accept_next_stamp, name="cond")

        with control_dependencies([apply]):
            count = accumulator.num_accumulated()
            return cond_v2(
                greater_equal(count, self._n_batches),
                move,
                no_op,
                name="wait_until_n_batches_for_bias_accumulated",
            )

    def _accept_next_stamp(self) -> Operation:
        """Sums are from now on computed with the centered bias."""
        return group(
            *(
                accumulator.set_global_step(self._states.stamp_token + 1)
                for accumulator in self._accumulators
            )
        )

    def grow_tree(self, sums: list[list[Tensor]]) -> Any:
        """Add the batch's sums, and a layer once there are enough batches."""
        applied = [
            accumulator.apply_grad(stack(features), self._states.stamp_token)
            for accumulator, features in zip(self._accumulators, sums, strict=True)
        ]
        if not self._is_chief:
            return group(*applied)

        def grow() -> Any:
            return self._update(
                [
                    unstack(accumulator.take_grad(1), axis=0)
                    for accumulator in self._accumulators
                ]
            )

        with control_dependencies(applied):
            counts = [a.num_accumulated() for a in self._accumulators]
            return cond_v2(
                greater_equal(reduce_min(stack(counts)), self._n_batches),
                grow,
                no_op,
                name="wait_until_n_batches_accumulated",
            )
