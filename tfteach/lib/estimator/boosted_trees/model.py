"""The model function of boosted trees: features, predictions, and a step's growth.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.autodiff.gradients import gradients
from tfteach.control.cond_v2 import cond_v2
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.estimator.boosted_trees.bucketized_features import (
    FeatureGroup,
    boundaries_of,
    bucketized_features,
    check_columns,
    feature_groups,
    is_numeric,
    numeric_features,
    transformed_features,
)
from tfteach.lib.estimator.boosted_trees.ensemble_resources import (
    QuantileAccumulator,
    TreeEnsemble,
)
from tfteach.lib.estimator.boosted_trees.growers import (
    AccumulatorGrower,
    Grower,
    InMemoryGrower,
    TreeParameters,
)
from tfteach.lib.estimator.boosted_trees.training_hooks import (
    GrowerInitializationHook,
    StopAtAttemptsHook,
)
from tfteach.lib.estimator.boosted_trees.training_state import (
    StateVariables,
    batch_size_of,
    cached_features,
    local_variable,
    new_state,
)
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.numeric_columns import numeric_column
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.stack_unstack import unstack
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.compare import greater_equal
from tfteach.ops.queues.conditional_accumulator import ConditionalAccumulator
from tfteach.ops.trees.ensemble_predictions import (
    BoostedTreesExampleDebugOutputs,
    BoostedTreesPredict,
    BoostedTreesTrainingPredict,
)
from tfteach.ops.trees.stats_summary_ops import BoostedTreesMakeStatsSummary

# Gradients and hessians of the mean loss, by logits and labels.
ClosedForm = Callable[[Tensor, Any], tuple[Tensor, Tensor]]

# The prediction that explains the others, serialized.
DEBUG_OUTPUT = "boosted_trees_debug_output"

_SCOPE = "boosted_trees"
_PRUNING_MODES = ("none", "post", "pre")


class TreeModel(NamedTuple):
    """What a model function needs beside features and labels.

    Attributes:
      head: makes predictions, the loss and metrics of the logits.
      columns: the sorted feature columns.
      parameters: of the trees.
      n_batches_per_layer: the batches whose sums make a layer.
      train_in_memory: whether a batch is all there is, and the same in every step.
      closed_form: gradients of the head's loss; None to differentiate it.
      weight_column: a feature's key or a numeric column, or None.
    """

    head: Head
    columns: Sequence[Any]
    parameters: TreeParameters
    n_batches_per_layer: int
    train_in_memory: bool
    closed_form: ClosedForm | None
    weight_column: Any


def check_parameters(parameters: TreeParameters) -> None:
    """Raise ValueError for a pruning mode that cannot be used."""
    mode = parameters.pruning_mode
    if mode not in _PRUNING_MODES:
        raise ValueError(
            "pruning_mode mode must be one of: " + ", ".join(_PRUNING_MODES)
        )
    if mode != "none" and parameters.tree_complexity <= 0:
        raise ValueError("For pruning, tree_complexity must be positive.")
    if mode == "none" and parameters.tree_complexity:
        raise ValueError(
            "Tree complexity have no effect unless pruning mode is chosen."
        )


def build_model(
    model: TreeModel,
    features: Any,
    labels: Any,
    mode: str,
    config: RunConfig,
    explains: bool = False,
) -> EstimatorSpec:
    """The EstimatorSpec of a mode; see `Head.create_estimator_spec`.

    Args:
      explains: whether predictions include `DEBUG_OUTPUT`.
    """
    if mode == ModeKeys.TRAIN:
        check_parameters(model.parameters)
    check_columns(model.columns)
    groups = feature_groups(model.columns, model.parameters.num_quantiles)
    with name_scope(_SCOPE) as scope:
        ensemble = TreeEnsemble(scope)
        quantiles = _quantiles(model, scope)
        boundaries = boundaries_of(model.columns, quantiles)
        if mode != ModeKeys.TRAIN:
            inputs = bucketized_features(features, model.columns, boundaries)
            op = BoostedTreesPredict(len(inputs), model.head.logits_dimension)
            logits = op(ensemble.resource_handle, inputs)
            spec = model.head.create_estimator_spec(
                features, mode, logits, labels, train_op_fn=lambda loss: no_op()
            )
            if explains and mode == ModeKeys.PREDICT:
                debug = BoostedTreesExampleDebugOutputs(
                    len(inputs), model.head.logits_dimension
                )
                spec.predictions[DEBUG_OUTPUT] = debug(ensemble.resource_handle, inputs)
            return spec
        step = _TrainingStep(
            model, groups, features, labels, ensemble, quantiles, boundaries, config
        )
    spec = model.head.create_estimator_spec(
        features,
        mode,
        step.logits,
        labels,
        train_op_fn=lambda loss: step.train_op(loss, labels),
    )
    hook = GrowerInitializationHook(step.grower.chief_init_op())
    return spec._replace(
        training_hooks=(*(spec.training_hooks or ()), step.stop_hook),
        training_chief_hooks=(hook, *(spec.training_chief_hooks or ())),
    )


def _quantiles(model: TreeModel, scope: str) -> QuantileAccumulator | None:
    """The quantiles of the numeric columns, if there are any."""
    count = sum(map(is_numeric, model.columns))
    if not count:
        return None
    p = model.parameters
    return QuantileAccumulator(
        p.quantile_sketch_epsilon,
        count,
        p.num_quantiles,
        f"{scope}QuantileAccumulator/",
    )


class _TrainingStep:
    """The ops of a training step, as far as the head does not build them.

    Attributes:
      logits: the logits of the batch, before the step.
      grower: what lets the ensemble grow.
      stop_hook: ends the training.
    """

    def __init__(
        self,
        model: TreeModel,
        groups: Sequence[FeatureGroup],
        features: Any,
        labels: Any,
        ensemble: TreeEnsemble,
        quantiles: QuantileAccumulator | None,
        boundaries: Mapping[Any, Tensor],
        config: RunConfig,
    ) -> None:
        self._model, self._groups, self._features = model, groups, features
        self._quantiles = quantiles
        parameters = model.parameters
        no_op()
        self._are_boundaries_ready = local_variable(
            quantiles is None, "are_boundaries_ready"
        )

        self._step: Any = get_or_create_global_step()
        self._waits_for: list[Any] = []
        self._variables: StateVariables | None = None
        if model.train_in_memory:
            if model.n_batches_per_layer != 1:
                raise AssertionError(
                    "When train_in_memory is enabled, input_fn should return the "
                    "entire dataset as a single batch, and n_batches_per_layer should "
                    "be set as 1."
                )
            size = batch_size_of(labels)
            self._inputs, cached = cached_features(
                features, model.columns, boundaries, size, self._are_boundaries_ready
            )
            self._waits_for.append(cached)
            self._variables = StateVariables(size)
            state = self._variables.lookup()
        else:
            self._inputs = bucketized_features(features, model.columns, boundaries)
            state = new_state(batch_size_of(labels))
        op = BoostedTreesTrainingPredict(len(self._inputs), model.head.logits_dimension)
        with control_dependencies([no_op()]):
            states = ensemble.get_states()
            partial, self._tree_ids, self._node_ids = op(
                ensemble.resource_handle, state.tree_ids, state.node_ids, self._inputs
            )
        self.logits: Tensor = state.logits + partial
        self._stamp = states.stamp_token
        self.grower: Grower
        if model.train_in_memory:
            self.grower = InMemoryGrower(ensemble, states, parameters, groups)
        else:
            self.grower = AccumulatorGrower(
                ensemble,
                states,
                parameters,
                groups,
                model.n_batches_per_layer,
                config.is_chief,
            )
        scalar("ensemble/num_trees", states.num_trees)
        scalar("ensemble/num_finalized_trees", states.num_finalized_trees)
        scalar("ensemble/num_attempted_layers", states.num_attempted_layers)
        self.grower.center_bias_needed = local_variable(
            parameters.center_bias, "center_bias_needed"
        )
        if model.weight_column is None:
            self._weights = constant([1.0], shape=[1])
        else:
            self._weights = _example_weights(features, model.weight_column)
        self.stop_hook = StopAtAttemptsHook(
            states.num_finalized_trees,
            states.num_attempted_layers,
            parameters.n_trees,
            parameters.max_depth,
        )

    def train_op(self, loss: Tensor, labels: Any) -> Any:
        """What a step runs: first quantiles are found, then the ensemble grows."""
        closed_form = self._model.closed_form
        if closed_form is None:
            # Outside of the condition below: within it, the way from the loss to the
            # logits would be cut.
            first = gradients(loss, self.logits, name="Gradients")[0]
            second = gradients(first, self.logits, name="Hessians")[0]

            def closed_form(logits: Tensor, labels: Any) -> tuple[Tensor, Tensor]:
                return first, second

        known = closed_form
        if self._quantiles is None:
            return self._grow(known, labels)
        return cond_v2(
            self._are_boundaries_ready,
            lambda: self._grow(known, labels),
            self._update_quantiles,
            name="cond",
        )

    def _grow(self, closed_form: ClosedForm, labels: Any) -> Operation:
        """Center the bias or add splits, and count the step."""
        waits_for = list(self._waits_for)
        if self._variables is not None:
            insert = self._variables.insert
            waits_for.append(
                cond_v2(
                    self.grower.center_bias_needed,
                    no_op,
                    lambda: insert(self._tree_ids, self._node_ids, self.logits),
                    name="cond",
                )
            )
        first, second = closed_form(self.logits, labels)
        p = self._model.parameters
        sums = []
        for num_buckets, ids in self._groups:
            op = BoostedTreesMakeStatsSummary(p.max_splits, num_buckets, 1)
            nodes = self._node_ids
            sums.append(
                [squeeze(op(nodes, first, second, [self._inputs[i]]), [0]) for i in ids]
            )
        if p.center_bias:
            grown = cond_v2(
                self.grower.center_bias_needed,
                lambda: self.grower.center_bias(first, second),
                lambda: self.grower.grow_tree(sums),
                name="cond",
            )
        else:
            grown = self.grower.grow_tree(sums)
        with control_dependencies([grown]):
            increment = self._step.assign_add(1)
        return group(*waits_for, grown, increment, name="grow_op")

    def _update_quantiles(self) -> Any:
        """Add the batch to the quantiles; after enough batches they are boundaries."""
        assert self._quantiles is not None
        quantiles = self._quantiles
        with name_scope("UpdateQuantile"):
            columns = numeric_features(self._features, self._model.columns)
            added = quantiles.add_summaries(columns, self._weights)
            accumulator = ConditionalAccumulator(
                float32, [], shared_name="quantile_summary_accum"
            )
            ready = accumulator.set_global_step(self._stamp)
            counted = accumulator.apply_grad(0.0, self._stamp)
            update = group(ready, added, counted)
            if self._model.train_in_memory:
                return self._flushed(update)

            def flush() -> Operation:
                taken, flushed = accumulator.take_grad(1), quantiles.flush()
                return group(self._mark_ready(), flushed, taken.op)

            with control_dependencies([update]):
                return cond_v2(
                    greater_equal(
                        accumulator.num_accumulated(), self._model.n_batches_per_layer
                    ),
                    flush,
                    no_op,
                    name="wait_until_quaniles_accumulated",
                )

    def _mark_ready(self) -> Any:
        return self._are_boundaries_ready.assign(True).op

    def _flushed(self, update: Operation) -> Operation:
        """Boundaries after the only batch."""
        assert self._quantiles is not None
        with control_dependencies([update]):
            return group(self._quantiles.flush(), self._mark_ready())


def _example_weights(features: Mapping[str, Any], weight_column: Any) -> Tensor:
    """The weights of the examples, [batch]."""
    if isinstance(weight_column, str):
        weight_column = numeric_column(key=weight_column, shape=(1,))
    tensors = transformed_features(features, [weight_column])
    return unstack(tensors[weight_column], axis=1)[0]
