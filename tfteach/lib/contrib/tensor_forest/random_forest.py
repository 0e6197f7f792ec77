"""Estimators of random forests.

Source: contrib/tensor_forest/client/random_forest.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.layers.feature_column_ops import (
    transform_features as transform_old_columns,
)
from tfteach.lib.contrib.learn.estimator import Estimator as OldEstimator
from tfteach.lib.contrib.learn.head import Head as OldHead
from tfteach.lib.contrib.learn.head_functions import (
    multi_class_head as old_multi_class_head,
)
from tfteach.lib.contrib.learn.head_functions import (
    regression_head as old_regression_head,
)
from tfteach.lib.contrib.learn.keys import ModeKeys, ProblemType
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.tensor_forest.forest_hooks import (
    TensorForestLossHook,
    TensorForestRunOpAtEndHook,
)
from tfteach.lib.contrib.tensor_forest.forest_params import ForestHParams
from tfteach.lib.contrib.tensor_forest.tensor_forest import RandomForestGraphs
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import PredictOutput
from tfteach.lib.estimator.heads.binary_head import BinaryHead
from tfteach.lib.estimator.heads.head import Head
from tfteach.lib.estimator.heads.multi_class_head import MultiClassHead
from tfteach.lib.estimator.heads.regression_head import RegressionHead
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.feature_column.input_layer import transform_features
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.exponential import log
from tfteach.ops.state.ref_variables import assign_add
from tfteach.ops.state.resource_variables import DestroyResourceOp

Columns = Sequence[Any] | None
_PLACES = (
    "contrib.tensor_forest.client.random_forest",
    "contrib.tensor_forest.random_forest",
)
KEYS_NAME = "keys"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
_LEAST_ODDS = 1e-6


@export(*(f"{place}.ModelBuilderOutputType" for place in _PLACES))
class ModelBuilderOutputType:
    """What a model function of `get_model_fn` returns."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


def _default_old_head(params: ForestHParams, weights_name: str | None) -> OldHead:
    if params.regression:
        return old_regression_head(
            weight_column_name=weights_name, label_dimension=params.num_outputs
        )
    return old_multi_class_head(params.num_classes, weight_column_name=weights_name)


def _default_head(params: ForestHParams, weights_name: str | None) -> Head:
    reduction = Reduction.SUM_OVER_BATCH_SIZE
    if params.regression:
        return RegressionHead(weights_name, params.num_outputs, reduction)
    if params.num_classes == 2:
        return BinaryHead(weights_name, loss_reduction=reduction)
    return MultiClassHead(
        params.num_classes, weight_column=weights_name, loss_reduction=reduction
    )


class _Options(NamedTuple):
    """Arguments that all estimators of forests have."""

    params: ForestHParams
    graph_builder_class: Callable[..., RandomForestGraphs]
    feature_columns: Any
    weights_name: str | None
    keys_name: str | None
    early_stopping_rounds: int | None
    early_stopping_loss_threshold: float
    num_trainers: int
    trainer_id: int
    report_feature_importances: bool
    include_all_in_serving: bool


class _Model(NamedTuple):
    """The parts of a graph that both kinds of estimators have.

    Attributes:
      features: the features, with weights but without keys.
      keys: the feature that predictions repeat, or None.
      logits: what heads expect.
      train_op: the step, in training.
      at_end: what runs when the training ends.
      predictions: further predictions.
    """

    features: dict[Any, Any]
    logits: Tensor
    train_op: Operation | None
    at_end: dict[str, Any]
    predictions: dict[str, Tensor]


class _Builder(abc.ABC):
    """Builds the model of an estimator, around the graphs of the forest."""

    def __init__(self, options: _Options) -> None:
        self.options = options

    @abc.abstractmethod
    def transformed(self, features: dict[Any, Any]) -> dict[Any, Any]:
        """The values of feature columns by keys."""

    def model(self, features: Any, labels: Any, mode: str) -> _Model:
        """The graphs of the forest."""
        given = self.options
        if not isinstance(features, dict):
            features = {"features": features}
        features = dict(features)
        weights = features.pop(given.weights_name) if given.weights_name else None
        predictions: dict[str, Tensor] = {}
        if given.keys_name:
            predictions[given.keys_name] = features.pop(given.keys_name)
        if given.feature_columns:
            features |= self.transformed(features)
        forest = given.graph_builder_class(given.params)
        logits, paths, variance = forest.inference_graph(features)
        scalar("average_tree_size", forest.average_size())
        if not given.params.regression and given.params.num_classes == 2:
            logits = _odds(logits)
        train_op = None
        if labels is not None and mode == ModeKeys.TRAIN:
            with control_dependencies([logits.op]):
                train_op = group(
                    forest.training_graph(
                        features,
                        labels,
                        num_trainers=given.num_trainers,
                        trainer_id=given.trainer_id,
                        input_weights=weights,
                    ),
                    assign_add(get_global_step(), 1),
                )
        destroy = DestroyResourceOp()
        handles = forest.get_all_resource_handles()
        at_end: dict[str, Any] = {
            "9: clean up resources": group(*(destroy(handle) for handle in handles))
        }
        if given.report_feature_importances:
            at_end["1: feature_importances"] = forest.feature_importances()
        if given.params.inference_tree_paths:
            predictions[TREE_PATHS_PREDICTION_KEY] = paths
        predictions[VARIANCE_PREDICTION_KEY] = variance
        if weights is not None:
            features[given.weights_name] = weights
        return _Model(features, logits, train_op, at_end, predictions)

    def hooks(self, model: _Model, loss: Tensor | None) -> list[SessionRunHook]:
        """The hooks of the training."""
        given = self.options
        found: list[SessionRunHook] = [TensorForestRunOpAtEndHook(model.at_end)]
        if given.early_stopping_rounds:
            found.append(
                TensorForestLossHook(
                    given.early_stopping_rounds,
                    early_stopping_loss_threshold=given.early_stopping_loss_threshold,
                    loss_op=loss,
                )
            )
        return found


def _odds(probabilities: Tensor) -> Tensor:
    """The logits [examples, 1] of probabilities of two classes."""
    ones = slice_of(probabilities, [0, 1], [-1, 1])
    odds: Any = ones / maximum(1.0 - ones, _LEAST_ODDS)
    return log(maximum(odds, _LEAST_ODDS))


class _OldBuilder(_Builder):
    """For `tf.contrib.learn.Estimator`."""

    def __init__(
        self, options: _Options, head: OldHead | None, scope: str | None
    ) -> None:
        super().__init__(options)
        params, weights_name = options.params, options.weights_name
        self._head = head or _default_old_head(params, weights_name)
        self._scope = scope

    def transformed(self, features: dict[Any, Any]) -> dict[Any, Any]:
        return transform_old_columns(features, self.options.feature_columns)

    def model_fn(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        """The model in a mode."""
        model = self.model(features, labels, mode)
        found = self._head.create_model_fn_ops(
            features=model.features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda _: model.train_op,
            logits=model.logits,
            scope=self._scope,
        )
        found = found._replace(training_hooks=self.hooks(model, found.loss))
        found.predictions.update(model.predictions)
        if (
            self.options.include_all_in_serving
            and found.output_alternatives is not None
        ):
            found.output_alternatives[ALL_SERVING_KEY] = (
                ProblemType.UNSPECIFIED,
                found.predictions,
            )
        return found


class _CoreBuilder(_Builder):
    """For `tf.estimator.Estimator`."""

    def __init__(self, options: _Options, head: Head | None) -> None:
        super().__init__(options)
        self._head = head or _default_head(options.params, options.weights_name)

    def transformed(self, features: dict[Any, Any]) -> dict[Any, Any]:
        found = transform_features(features, self.options.feature_columns)
        return {column.name: tensor for column, tensor in found.items()}

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """The model in a mode."""
        model = self.model(features, labels, mode)
        spec = self._head.create_estimator_spec(
            features=model.features,
            mode=mode,
            logits=model.logits,
            labels=labels,
            train_op_fn=lambda _: model.train_op,
        )
        spec = spec._replace(training_hooks=self.hooks(model, spec.loss))
        spec.predictions.update(model.predictions)
        if self.options.include_all_in_serving and mode == ModeKeys.INFER:
            output = PredictOutput(spec.predictions)
            keys = (ALL_SERVING_KEY, DEFAULT_SERVING_SIGNATURE_DEF_KEY)
            spec = spec._replace(export_outputs=dict.fromkeys(keys, output))
        return spec


def _check_refused(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise NotImplementedError(
                f"{name} is not supported in estimators of forests: leave it out"
            )


@export(*(f"{place}.get_model_fn" for place in _PLACES))
def get_model_fn(
    params: ForestHParams,
    graph_builder_class: Callable[..., RandomForestGraphs],
    device_assigner: None,
    feature_columns: Columns = None,
    weights_name: str | None = None,
    model_head: OldHead | Head | None = None,
    keys_name: str | None = None,
    early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float = 0.001,
    num_trainers: int = 1,
    trainer_id: int = 0,
    report_feature_importances: bool = False,
    local_eval: bool = False,
    head_scope: str | None = None,
    include_all_in_serving: bool = False,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Callable[..., ModelFnOps] | Callable[..., EstimatorSpec]:
    """A model function of a random forest.

    Args:
      params: filled `ForestHParams`.
      graph_builder_class: `RandomForestGraphs`, or a function of `params`.
      device_assigner: None.
      feature_columns: columns whose values are features, too.
      weights_name: the feature of the examples' weights.
      model_head: the head; None for one of classes, or of numbers.
      keys_name: a feature that predictions repeat.
      early_stopping_rounds: how many steps in a row the loss may fail to fall; 0 or
        None for no end.
      early_stopping_loss_threshold: the least fall, as a fraction.
      num_trainers, trainer_id: see `RandomForestGraphs.training_graph`.
      report_feature_importances: whether the end of the training logs them.
      local_eval: False.
      head_scope: the scope of the head.
      include_all_in_serving: whether an export has a signature of all predictions.
      output_type: of `ModelBuilderOutputType`.

    Returns:
      A function of features, labels and mode.

    Raises:
      NotImplementedError: `device_assigner` or `local_eval` are given.
    """
    _check_refused(device_assigner=device_assigner, local_eval=local_eval)
    options = _Options(
        params, graph_builder_class, feature_columns, weights_name, keys_name,
        early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id,
        report_feature_importances, include_all_in_serving,
    )  # fmt: skip
    head: Any = model_head
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        return _OldBuilder(options, head, head_scope).model_fn
    return _CoreBuilder(options, head).model_fn


@export(*(f"{place}.TensorForestEstimator" for place in _PLACES))
class TensorForestEstimator(OldEstimator):
    """A random forest as a `tf.contrib.learn.Estimator`.

    Args:
      params: `ForestHParams`.
      device_assigner: None.
      model_dir: the directory of checkpoints and event files.
      feature_columns: columns of `tf.contrib.layers` whose values are features, too.
      graph_builder_class: what builds the graphs, from the parameters.
      config: a `tf.contrib.learn.RunConfig`.
      weight_column: the feature of the examples' weights.
      keys_column: a feature that predictions repeat.
      feature_engineering_fn: a function from features and labels to such.
      early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id,
        report_feature_importances, include_all_in_serving: see `get_model_fn`.
      local_eval: False.
      version: None.
      head: a head of `tf.contrib.learn`; None for one of classes, or of numbers.

    Raises:
      NotImplementedError: `device_assigner`, `local_eval` or `version` are given.

    Example:
      >>> from tensorflow.contrib.tensor_forest.client import random_forest
      >>> from tensorflow.contrib.tensor_forest.python import tensor_forest
      >>> params = tensor_forest.ForestHParams(num_classes=3, num_features=4)
      >>> classifier = random_forest.TensorForestEstimator(params.fill())
      >>> classifier.fit(x=x, y=y, steps=100)

    Source: contrib/tensor_forest/client/random_forest.py.
    """

    def __init__(
        self,
        params: ForestHParams,
        device_assigner: None = None,
        model_dir: PathLike | None = None,
        feature_columns: Columns = None,
        graph_builder_class: Callable[..., RandomForestGraphs] = RandomForestGraphs,
        config: RunConfig | None = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: None = None,
        head: OldHead | None = None,
        include_all_in_serving: bool = False,
    ) -> None:
        _check_refused(version=version)
        model_fn = get_model_fn(
            params.fill(), graph_builder_class, device_assigner, feature_columns,
            weight_column, head, keys_column, early_stopping_rounds,
            early_stopping_loss_threshold, num_trainers, trainer_id,
            report_feature_importances, local_eval,
            include_all_in_serving=include_all_in_serving,
        )  # fmt: skip
        super().__init__(
            model_fn,
            model_dir,
            config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(*(f"{place}.CoreTensorForestEstimator" for place in _PLACES))
class CoreTensorForestEstimator(Estimator):
    """A random forest as a `tf.estimator.Estimator`.

    Args:
      feature_columns: columns of `tf.feature_column` whose values are features, too.
      config: a `tf.estimator.RunConfig`.
      head: a head of `tf.contrib.estimator`; None for one of classes, or of numbers.
      feature_engineering_fn: None.
      params, device_assigner, model_dir, graph_builder_class, weight_column,
        keys_column, early_stopping_rounds, early_stopping_loss_threshold, num_trainers,
        trainer_id, report_feature_importances, local_eval, version,
        include_all_in_serving: see `TensorForestEstimator`.

    Raises:
      NotImplementedError: `device_assigner`, `local_eval`, `version` or
        `feature_engineering_fn` are given.

    Example:
      >>> classifier = random_forest.CoreTensorForestEstimator(params.fill())
      >>> classifier.train(input_fn, steps=100)

    Source: contrib/tensor_forest/client/random_forest.py.
    """

    def __init__(
        self,
        params: ForestHParams,
        device_assigner: None = None,
        model_dir: PathLike | None = None,
        feature_columns: Columns = None,
        graph_builder_class: Callable[..., RandomForestGraphs] = RandomForestGraphs,
        config: RunConfig | None = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: None = None,
        head: Head | None = None,
        include_all_in_serving: bool = False,
    ) -> None:
        _check_refused(version=version, feature_engineering_fn=feature_engineering_fn)
        model_fn: Any = get_model_fn(
            params.fill(), graph_builder_class, device_assigner, feature_columns,
            weight_column, head, keys_column, early_stopping_rounds,
            early_stopping_loss_threshold, num_trainers, trainer_id,
            report_feature_importances, local_eval,
            include_all_in_serving=include_all_in_serving,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)


@export(*(f"{place}.MultiForestMultiHeadEstimator" for place in _PLACES))
def MultiForestMultiHeadEstimator(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use an estimator for each forest.

    Raises:
      NotImplementedError: always.
    """
    raise NotImplementedError(
        "MultiForestMultiHeadEstimator is not implemented: use a TensorForestEstimator "
        "for each of the labels"
    )
