"""Heads of one output: regression, classification, several labels, a margin.

Source: contrib/learn/python/learn/estimators/head.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.framework.dtypes import int64
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.contrib.learn import head_losses as losses
from tfteach.lib.contrib.learn import head_metrics as metrics
from tfteach.lib.contrib.learn.head import (
    SingleHead,
    classification_outputs,
    labels_of,
)
from tfteach.lib.contrib.learn.keys import (
    MetricKey,
    ModeKeys,
    PredictionKey,
    ProblemType,
)
from tfteach.lib.lookup.vocabulary import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater
from tfteach.ops.math.exponential import sigmoid
from tfteach.ops.math.reduce_functions import argmax
from tfteach.ops.nn.softmax import softmax
from tfteach.ops.sparse.sparse_functions import sparse_to_indicator

_DEFAULT_THRESHOLD = 0.5
LossFunction = Callable[..., Tensor]


class RegressionHead(SingleHead):
    """See `regression_head`."""

    problem_type = ProblemType.LINEAR_REGRESSION
    default_name = "regression_head"

    def __init__(
        self,
        label_dimension: int,
        loss_fn: Any,
        link_fn: Callable[[Tensor], Tensor],
        *options: Any,
    ) -> None:
        super().__init__(label_dimension, *options)
        self._loss_fn = loss_fn
        self._link_fn = link_fn

    def _losses(self, labels: Any, logits: Tensor, weights: Any) -> losses.Losses:
        found: losses.Losses = self._loss_fn(labels, logits, weights)
        return found

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with name_scope(None, "predictions", (logits,)):
            scores = logits
            if self.logits_dimension == 1:
                scores = squeeze(logits, (1,), name=PredictionKey.SCORES)
            return {PredictionKey.SCORES: self._link_fn(scores)}


class ClassificationHead(SingleHead):
    """What heads with classes share: metrics of single classes, thresholds."""

    problem_type = ProblemType.CLASSIFICATION

    def __init__(
        self,
        n_classes: int,
        logits_dimension: int,
        metric_class_ids: Sequence[int] | None,
        loss_fn: LossFunction | None,
        *options: Any,
    ) -> None:
        super().__init__(logits_dimension, *options)
        for class_id in metric_class_ids or ():
            if not 0 <= class_id < n_classes:
                raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
        self._class_ids = tuple(metric_class_ids or ())
        self._loss_fn = loss_fn

    def _losses(self, labels: Any, logits: Tensor, weights: Any) -> losses.Losses:
        if self._loss_fn is None:
            return self._default_losses(labels, logits, weights)
        return _custom_losses(self._loss_fn, labels, logits, weights)

    def _default_losses(
        self, labels: Any, logits: Tensor, weights: Any
    ) -> losses.Losses:
        raise NotImplementedError


def _custom_losses(
    loss_fn: LossFunction, labels: Any, logits: Tensor, weights: Any
) -> losses.Losses:
    """The program's own loss, of arguments `labels`, `logits` and maybe `weights`."""
    if weights is None:
        loss = loss_fn(labels, logits)
    else:
        loss = loss_fn(labels, logits, weights)
    return loss, loss


def check_loss_fn(loss_fn: LossFunction | None) -> None:
    """Check the arguments of a program's own loss.

    Raises:
      ValueError: one is missing.
    """
    if loss_fn is None:
        return
    arguments = inspect.signature(loss_fn).parameters
    for name in ("labels", "logits", "weights"):
        if name not in arguments:
            raise ValueError(f"Argument {name} not found in loss_fn.")


class MultiClassHead(ClassificationHead):
    """See `multi_class_head`."""

    default_name = "multi_class_head"

    def __init__(
        self, n_classes: int, metric_class_ids: Any, loss_fn: Any, label_keys: Any,
        *options: Any,
    ) -> None:  # fmt: skip
        super().__init__(n_classes, n_classes, metric_class_ids, loss_fn, *options)
        if label_keys is not None and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys
        # With label_keys, the texts of the labels, which the metrics compare.
        self._texts: Any = None

    def _checked_labels(self, mode: str, labels: Any) -> Any:
        labels = super()._checked_labels(mode, labels)
        if labels is None or not self._label_keys:
            return labels
        self._texts = labels
        table = index_table_from_tensor(self._label_keys, name="label_id_lookup")
        return table.lookup(labels)

    def _metric_labels(self, labels: Any) -> Any:
        return self._texts if self._label_keys else labels

    def _default_losses(
        self, labels: Any, logits: Tensor, weights: Any
    ) -> losses.Losses:
        return losses.softmax_cross_entropy_loss(labels, logits, weights)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with name_scope(None, "predictions", (logits,)):
            classes: Any = argmax(logits, 1, name=PredictionKey.CLASSES)
            if self._label_keys:
                table = index_to_string_table_from_tensor(
                    self._label_keys, name="class_string_lookup"
                )
                classes = table.lookup(classes)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: softmax(
                    logits, name=PredictionKey.PROBABILITIES
                ),
                PredictionKey.CLASSES: classes,
            }

    def _metrics(
        self, predictions: Mapping[str, Any], labels: Any, weights: Any
    ) -> dict[str, metrics.Metric]:
        key, chosen = MetricKey, predictions[PredictionKey.CLASSES]
        found = {key.ACCURACY: metrics.accuracy(labels, chosen, weights)}
        if not self._label_keys:
            probabilities = predictions[PredictionKey.PROBABILITIES]
            logits = predictions[PredictionKey.LOGITS]
            for i in self._class_ids:
                found |= {
                    key.CLASS_PREDICTION_MEAN % i: metrics.class_mean(
                        chosen, weights, i
                    ),
                    key.CLASS_LABEL_MEAN % i: metrics.class_mean(labels, weights, i),
                    key.CLASS_PROBABILITY_MEAN % i: metrics.column_mean(
                        probabilities, weights, i
                    ),
                    key.CLASS_LOGITS_MEAN % i: metrics.column_mean(logits, weights, i),
                }
        return found

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return classification_outputs(
            predictions, PredictionKey.PROBABILITIES, self._label_keys
        )


class BinaryLogisticHead(ClassificationHead):
    """See `multi_class_head`, for two classes."""

    problem_type = ProblemType.LOGISTIC_REGRESSION
    default_name = "binary_logistic_head"

    def __init__(self, thresholds: Any, loss_fn: Any, *options: Any) -> None:
        super().__init__(2, 1, None, loss_fn, *options)
        self._thresholds = thresholds or (_DEFAULT_THRESHOLD,)

    def _default_losses(
        self, labels: Any, logits: Tensor, weights: Any
    ) -> losses.Losses:
        return losses.log_loss_with_two_classes(labels, logits, weights)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with name_scope(None, "predictions", (logits,)):
            both = _two_class_logits(logits)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.LOGISTIC: sigmoid(logits, name=PredictionKey.LOGISTIC),
                PredictionKey.PROBABILITIES: softmax(
                    both, name=PredictionKey.PROBABILITIES
                ),
                PredictionKey.CLASSES: argmax(both, 1, name=PredictionKey.CLASSES),
            }

    def _metrics(
        self, predictions: Mapping[str, Any], labels: Any, weights: Any
    ) -> dict[str, metrics.Metric]:
        key, logistic = MetricKey, predictions[PredictionKey.LOGISTIC]
        chosen = predictions[PredictionKey.CLASSES]
        found = {
            key.ACCURACY: metrics.accuracy(labels, chosen, weights),
            key.PREDICTION_MEAN: metrics.weighted_mean(logistic, weights),
            key.LABEL_MEAN: metrics.label_mean(labels, weights),
            key.ACCURACY_BASELINE: metrics.label_mean(labels, weights),
            key.AUC: metrics.area(logistic, labels, weights),
            key.AUC_PR: metrics.area(logistic, labels, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            at = (logistic, labels, weights, threshold)
            found |= {
                key.ACCURACY_MEAN % threshold: metrics.accuracy_at(*at),
                key.PRECISION_MEAN % threshold: metrics.precision_at(*at),
                key.RECALL_MEAN % threshold: metrics.recall_at(*at),
            }
        return found

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return classification_outputs(predictions, PredictionKey.PROBABILITIES, None)


def _two_class_logits(logits: Tensor) -> Tensor:
    return concat((zeros_like(logits), logits), 1)


class BinarySvmHead(SingleHead):
    """See `binary_svm_head`."""

    problem_type = ProblemType.LOGISTIC_REGRESSION
    default_name = "binary_svm_head"

    def __init__(self, thresholds: Any, *options: Any) -> None:
        super().__init__(1, *options)
        self._thresholds = thresholds or ()

    def _losses(self, labels: Any, logits: Tensor, weights: Any) -> losses.Losses:
        return losses.hinge_loss(labels, logits, weights)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with name_scope(None, "predictions", (logits,)):
            both = _two_class_logits(logits)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.CLASSES: argmax(both, 1, name=PredictionKey.CLASSES),
            }

    def _metrics(
        self, predictions: Mapping[str, Any], labels: Any, weights: Any
    ) -> dict[str, metrics.Metric]:
        chosen = predictions[PredictionKey.CLASSES]
        return {MetricKey.ACCURACY: metrics.accuracy(labels, chosen, weights)}


class MultiLabelHead(ClassificationHead):
    """See `multi_label_head`."""

    default_name = "multi_label_head"

    def __init__(
        self, n_classes: int, thresholds: Any, metric_class_ids: Any, loss_fn: Any,
        *options: Any,
    ) -> None:  # fmt: skip
        super().__init__(n_classes, n_classes, metric_class_ids, loss_fn, *options)
        self._thresholds = thresholds or ()

    def _checked_labels(self, mode: str, labels: Any) -> Any:
        found = labels_of(labels, self._label_name)
        if mode != ModeKeys.INFER and isinstance(
            found, (SparseTensor, SparseTensorValue)
        ):
            if self.logits_dimension < 2:
                raise ValueError(
                    "Must set num_classes >= 2 when passing labels as a SparseTensor."
                )
            found = convert_to_tensor_or_sparse_tensor(found)
            indicator = sparse_to_indicator(found, self.logits_dimension)
            return cast(indicator, int64)
        return super()._checked_labels(mode, found)

    def _default_losses(
        self, labels: Any, logits: Tensor, weights: Any
    ) -> losses.Losses:
        return losses.sigmoid_cross_entropy_loss(labels, logits, weights)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with name_scope(None, "predictions", (logits,)):
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: sigmoid(
                    logits, name=PredictionKey.PROBABILITIES
                ),
                PredictionKey.CLASSES: cast(
                    greater(logits, 0), int64, name=PredictionKey.CLASSES
                ),
            }

    def _metrics(
        self, predictions: Mapping[str, Any], labels: Any, weights: Any
    ) -> dict[str, metrics.Metric]:
        key, chosen = MetricKey, predictions[PredictionKey.CLASSES]
        probabilities = predictions[PredictionKey.PROBABILITIES]
        logits = predictions[PredictionKey.LOGITS]
        found = {
            key.ACCURACY: metrics.accuracy(labels, chosen, weights),
            key.AUC: metrics.area(probabilities, labels, weights),
            key.AUC_PR: metrics.area(probabilities, labels, weights, curve="PR"),
        }
        for i in self._class_ids:
            found |= {
                key.CLASS_PREDICTION_MEAN % i: metrics.indicator_mean(
                    chosen, weights, i
                ),
                key.CLASS_LABEL_MEAN % i: metrics.indicator_mean(labels, weights, i),
                key.CLASS_PROBABILITY_MEAN % i: metrics.column_mean(
                    probabilities, weights, i
                ),
                key.CLASS_LOGITS_MEAN % i: metrics.column_mean(logits, weights, i),
                key.CLASS_AUC % i: metrics.area(probabilities, labels, weights, i),
                key.CLASS_AUC_PR % i: metrics.area(
                    probabilities, labels, weights, i, curve="PR"
                ),
            }
        return found

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return classification_outputs(predictions, PredictionKey.PROBABILITIES, None)
