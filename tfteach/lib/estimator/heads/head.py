"""The base of all heads: the order in which they build an EstimatorSpec.

Source: tensorflow_estimator/python/estimator/canned/head.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import get_collection, name_scope
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import ExportOutput, PredictOutput
from tfteach.lib.estimator.heads.head_checks import (
    LossFn,
    WeightColumn,
    Weights,
    call_loss_fn,
    check_loss_fn,
    check_reduction,
    weights_of,
)
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.losses.weighted import Reduction, compute_weighted_loss
from tfteach.lib.metrics.means import mean
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.global_step import get_global_step
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.fill import ones_like
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.reduce_functions import reduce_sum

Metrics = dict[str, tuple[Tensor, Any]]
Predictions = dict[str, Tensor]
TrainOpFn = Callable[[Tensor], Any]

# The names of signatures.
CLASSIFY, REGRESS, PREDICT = "classification", "regression", "predict"


class LossSpec(NamedTuple):
    """A head's loss, and what its metrics need.

    Attributes:
      training_loss: the scalar to minimize.
      unreduced_loss: the losses of the examples, [batch, ..., 1 or logits_dimension].
      weights: the examples' weights; 1.0 if there are none.
      processed_labels: the labels as Tensor of the logits' rank; classes as ids.
    """

    training_loss: Tensor
    unreduced_loss: Tensor
    weights: Weights
    processed_labels: Tensor


class Evaluated(NamedTuple):
    """What metrics are made of.

    Attributes:
      predictions: the predictions by name.
      labels: the labels as the caller gave them.
      loss: the losses of a batch.
      regularization: the sum of regularization losses, or None.
    """

    predictions: Predictions
    labels: Any
    loss: LossSpec
    regularization: Tensor | None


class Head(abc.ABC):
    """Makes an EstimatorSpec of logits."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The head's name, or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of logits."""

    @abc.abstractmethod
    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The loss of a batch.

        Args:
          features: the features, among which the weights may be.
          mode: a `tf.estimator.ModeKeys`.
          logits: Tensor [batch, ..., logits_dimension].
          labels: Tensor [batch, ..., labels]; without the last dimension if it is 1.
        """

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: TrainOpFn | None = None,
    ) -> EstimatorSpec:
        """What a model function returns.

        Args:
          features: the features, among which the weights may be.
          mode: a `tf.estimator.ModeKeys`.
          logits: Tensor [batch, ..., logits_dimension].
          labels: Tensor [batch, ..., labels]; not needed for predictions.
          optimizer: a `tf.train.Optimizer` that minimizes the loss.
          train_op_fn: a function from the loss to the train op, instead of it.

        Returns:
          A `tf.estimator.EstimatorSpec`.

        Raises:
          ValueError: labels or logits are missing or of another shape, or, to train,
            neither or both of `optimizer` and `train_op_fn` are given.
        """


class SingleHead(Head):
    """A head with predictions, a loss and metrics of its own.

    Args:
      name: the name of its scope, and the suffix of its metrics and summaries.
      loss_reduction: a `tf.losses.Reduction` other than NONE.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses; None for those of the head.

    Raises:
      ValueError: reduction or function are not valid.
    """

    # How areas under precision-recall curves are summed; see `tf.metrics.auc`.
    _pr_summation: ClassVar[str] = "trapezoidal"

    def __init__(
        self,
        name: str | None,
        loss_reduction: str,
        weight_column: WeightColumn,
        loss_fn: LossFn | None,
    ) -> None:
        check_reduction(loss_reduction)
        if loss_fn is not None:
            check_loss_fn(loss_fn)
        self._name, self._loss_reduction = name, loss_reduction
        self._weight_column, self._loss_fn = weight_column, loss_fn

    @property
    def name(self) -> str | None:
        """The head's name, or None."""
        return self._name

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> tuple[Tensor, Predictions]:
        """Checked logits, and the predictions by name."""

    @abc.abstractmethod
    def _served(self, predictions: Predictions) -> dict[str, ExportOutput]:
        """The outputs of signatures by name; the first is also the default one."""

    @abc.abstractmethod
    def _metrics(self, evaluated: Evaluated) -> Metrics:
        """The metrics of an evaluation by name."""

    def _loss_spec(
        self,
        features: Mapping[str, Any],
        logits: Tensor,
        labels: Tensor,
        losses_of: Callable[[Tensor, Tensor], Tensor],
        loss_dimension: int = 1,
        per_logit: bool = False,
    ) -> LossSpec:
        """The weighted losses of a batch, and their reduction.

        Args:
          features: the features, among which the weights may be.
          logits: the logits.
          labels: the processed labels.
          losses_of: makes losses of labels and logits, unless the caller's function
            does.
          loss_dimension: the size of the last dimension of losses.
          per_logit: whether each logit may have its own weight.
        """
        if self._loss_fn is None:
            losses = losses_of(labels, logits)
        else:
            losses = call_loss_fn(
                self._loss_fn, labels, logits, features, loss_dimension
            )
        weights = weights_of(features, self._weight_column, logits, per_logit)
        total = compute_weighted_loss(losses, weights, reduction=self._loss_reduction)
        return LossSpec(total, losses, weights, labels)

    def _key(self, key: str) -> str:
        """The name of a metric or summary."""
        return f"{key}/{self._name}" if self._name else key

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: TrainOpFn | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function returns; for the arguments see `Head`.

        Args:
          regularization_losses: scalars to add to the loss.
        """
        with name_scope(self._name, "head"):
            logits, predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._export_outputs(predictions)
                return EstimatorSpec(mode, predictions, export_outputs=outputs)
            loss = self.create_loss(features, mode, logits, labels)
            total, regularization = loss.training_loss, None
            if regularization_losses:
                regularization = add_n(regularization_losses)
                total = add_n([total, regularization])
            if mode != ModeKeys.EVAL:
                train_op = train_op_of(total, optimizer, train_op_fn)
                mean_loss = self._mean_loss(loss)
        if mode == ModeKeys.EVAL:
            given = Evaluated(predictions, labels, loss, regularization)
            metrics = self._metrics(given)
            metrics = {self._key(key): value for key, value in metrics.items()}
            return EstimatorSpec(mode, predictions, total, eval_metric_ops=metrics)
        with name_scope(""):
            self._summarize(total, mean_loss, regularization)
        return EstimatorSpec(ModeKeys.TRAIN, predictions, total, train_op)

    def _export_outputs(self, predictions: Predictions) -> dict[str, ExportOutput]:
        served = self._served(predictions)
        default = next(iter(served.values()))
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: default,
            **served,
            PREDICT: PredictOutput(predictions),
        }

    def _mean_loss(self, loss: LossSpec) -> Tensor | None:
        """The mean loss of an example, if the loss is a sum."""
        if self._loss_reduction != Reduction.SUM:
            return None
        weights = loss.weights * ones_like(loss.unreduced_loss)
        return loss.training_loss / reduce_sum(weights)

    def _summarize(
        self, loss: Tensor, mean_loss: Tensor | None, regularization: Tensor | None
    ) -> None:
        scalar(self._key("loss"), loss)
        if mean_loss is not None:
            scalar(self._key("average_loss"), mean_loss)
        if regularization is not None:
            scalar(self._key("regularization_loss"), regularization)


def regularization_metrics(regularization: Tensor | None) -> Metrics:
    """The mean of the regularization losses, if there are any."""
    if regularization is None:
        return {}
    name = "regularization_loss"
    return {name: mean(regularization, name=name)}


def train_op_of(
    loss: Tensor, optimizer: Any, train_op_fn: TrainOpFn | None
) -> Operation | Tensor:
    """The train op, with the updates that layers have collected.

    Raises:
      ValueError: neither or both of `optimizer` and `train_op_fn` are given.
    """
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    elif optimizer is not None:
        train_op = optimizer.minimize(loss, global_step=get_global_step())
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates: Iterable[Any] = get_collection(GraphKeys.UPDATE_OPS)
    return group(train_op, *updates) if updates else train_op
