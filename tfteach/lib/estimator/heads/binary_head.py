"""The head of two classes: the sigmoid cross entropy of one logit.

Source: tensorflow_estimator/python/estimator/canned/head.py,
_BinaryLogisticHeadWithSigmoidCrossEntropyLoss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.estimator.export_outputs import ExportOutput, RegressionOutput
from tfteach.lib.estimator.heads.class_labels import (
    Vocabulary,
    all_class_ids,
    all_classes,
    class_names,
    classification_output,
    ids_of,
)
from tfteach.lib.estimator.heads.head import (
    CLASSIFY,
    REGRESS,
    Evaluated,
    LossSpec,
    Metrics,
    Predictions,
    SingleHead,
    regularization_metrics,
)
from tfteach.lib.estimator.heads.head_checks import (
    LossFn,
    WeightColumn,
    checked_logits,
    checked_thresholds,
    dense_labels,
    in_range,
)
from tfteach.lib.estimator.heads.head_metrics import (
    accuracy_baseline,
    area,
    metrics_at_thresholds,
    predictions_mean,
)
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.metrics.counts import precision, recall
from tfteach.lib.metrics.means import accuracy, mean
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.math.cast import to_float
from tfteach.ops.math.exponential import sigmoid
from tfteach.ops.math.reduce_functions import argmax
from tfteach.ops.nn.sigmoid_losses import sigmoid_cross_entropy_with_logits
from tfteach.ops.nn.softmax import softmax


def _cross_entropies(labels: Tensor, logits: Tensor) -> Tensor:
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


class BinaryHead(SingleHead):
    """Predicts one of two classes.

    Args:
      weight_column: a feature's key or a numeric column, of weights for the loss.
      thresholds: probabilities of class 1, in (0, 1), for each of which accuracy,
        precision and recall are evaluated.
      label_vocabulary: the two classes' names, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` other than NONE.
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses [batch, 1]; None for sigmoid cross entropies.
      name: the name of its scope, and the suffix of its metrics.

    Raises:
      ValueError: an argument is not valid.
      TypeError: the vocabulary is neither list nor tuple.
    """

    def __init__(
        self,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Vocabulary = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        self._thresholds = checked_thresholds(thresholds)
        if label_vocabulary is not None and not isinstance(
            label_vocabulary, list | tuple
        ):
            raise TypeError(
                "label_vocabulary should be a list or tuple. Given type: "
                f"{type(label_vocabulary)}"
            )
        super().__init__(name, loss_reduction, weight_column, loss_fn)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """One: the logit of class 1."""
        return 1

    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The losses of a batch; for the arguments see `Head.create_loss`."""
        logits = convert(logits)
        labels = dense_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = ids_of(labels, self._label_vocabulary)
        labels = in_range(to_float(labels), 2)
        return self._loss_spec(features, logits, labels, _cross_entropies)

    def _predictions(self, logits: Any) -> tuple[Tensor, Predictions]:
        vocabulary = self._label_vocabulary
        with name_scope(None, "predictions", (logits,)):
            logits = checked_logits(logits, 1)
            logistic = sigmoid(logits, name="logistic")
            both = concat((zeros_like(logits), logits), -1, name="two_class_logits")
            probabilities = softmax(both, name="probabilities")
            ids = expand_dims(argmax(both, axis=-1, name="class_ids"), -1)
            every_id = all_class_ids(logits, 2)
            every_class = all_classes(logits, 2, vocabulary)
            return logits, {
                "logits": logits,
                "logistic": logistic,
                "probabilities": probabilities,
                "class_ids": ids,
                "classes": class_names(ids, vocabulary),
                "all_class_ids": every_id,
                "all_classes": every_class,
            }

    def _served(self, predictions: Predictions) -> dict[str, ExportOutput]:
        scores = predictions["probabilities"]
        return {
            CLASSIFY: classification_output(scores, 2, self._label_vocabulary),
            REGRESS: RegressionOutput(predictions["logistic"]),
        }

    def _metrics(self, evaluated: Evaluated) -> Metrics:
        predictions, _, loss, regularization = evaluated
        labels, weights = loss.processed_labels, loss.weights
        logistic, ids = predictions["logistic"], predictions["class_ids"]
        with name_scope(None, "metrics", (labels, loss.unreduced_loss, weights)):
            labels_mean = predictions_mean(labels, weights, "label/mean")
            return {
                "average_loss": mean(loss.unreduced_loss, weights, name="average_loss"),
                "accuracy": accuracy(labels, ids, weights, name="accuracy"),
                "precision": precision(labels, ids, weights, name="precision"),
                "recall": recall(labels, ids, weights, name="recall"),
                "prediction/mean": predictions_mean(
                    logistic, weights, "prediction/mean"
                ),
                "label/mean": labels_mean,
                "accuracy_baseline": accuracy_baseline(labels_mean),
                "auc": area(labels, logistic, weights, "ROC", "auc"),
                "auc_precision_recall": area(
                    labels,
                    logistic,
                    weights,
                    "PR",
                    "auc_precision_recall",
                    self._pr_summation,
                ),
                **metrics_at_thresholds(labels, logistic, weights, self._thresholds),
                **regularization_metrics(regularization),
            }
