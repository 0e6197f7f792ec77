"""The head of classes of which any number may be true.

Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py,
multi_label_head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.control.checks.types import assert_integer
from tfteach.control.checks.values import assert_less, assert_non_negative
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.estimator.export_outputs import ExportOutput
from tfteach.lib.estimator.heads.class_labels import (
    Vocabulary,
    classification_output,
    ids_of,
)
from tfteach.lib.estimator.heads.head import (
    CLASSIFY,
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
    check_label_is_given,
    checked_logits,
    dense_labels,
    in_range,
)
from tfteach.lib.estimator.heads.head_metrics import (
    area,
    metrics_at_thresholds,
    predictions_mean,
)
from tfteach.lib.losses.classification import sigmoid_cross_entropy
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.metrics.means import mean
from tfteach.lib.metrics.thresholds import auc
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice as slice_
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import to_int64
from tfteach.ops.math.exponential import sigmoid
from tfteach.ops.math.reduce_functions import reduce_mean
from tfteach.ops.sparse.sparse_functions import sparse_to_indicator


def _mean_cross_entropies(labels: Tensor, logits: Tensor) -> Tensor:
    losses = sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
    return reduce_mean(losses, axis=-1, keepdims=True)


class MultiLabelHead(SingleHead):
    """Predicts for each class whether it is true; see `multi_label_head`."""

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn,
        thresholds: Sequence[float],
        label_vocabulary: Vocabulary,
        loss_reduction: str,
        loss_fn: LossFn | None,
        class_ids: Sequence[int],
        name: str | None,
    ) -> None:
        super().__init__(name, loss_reduction, weight_column, loss_fn)
        self._n_classes = n_classes
        self._thresholds, self._label_vocabulary = thresholds, label_vocabulary
        self._class_ids = class_ids

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The losses of a batch; for the arguments see `Head.create_loss`."""
        logits = convert(logits)
        labels = dense_labels(self._indicators(labels), logits, self._n_classes)
        return self._loss_spec(features, logits, labels, _mean_cross_entropies)

    def _indicators(self, labels: Any) -> Any:
        """Labels as zeros and ones for each class."""
        check_label_is_given(labels)
        if not isinstance(labels, SparseTensor):
            text = "labels must be an integer indicator Tensor with values in [0, 1]"
            return in_range(convert(labels), 2, text)
        count = self._n_classes
        if self._label_vocabulary:
            ids = SparseTensor(
                labels.indices,
                ids_of(labels.values, self._label_vocabulary),
                labels.dense_shape,
            )
            return to_int64(sparse_to_indicator(ids, count))
        text = f"labels must be an integer SparseTensor with values in [0, {count})"
        checks = [
            assert_integer(labels.values, message=text),
            assert_less(labels.values, constant(count), message=text),
            assert_non_negative(labels.values, message=text),
        ]
        with control_dependencies(checks):
            present = sparse_to_indicator(labels, count)
        return to_int64(present)

    def _predictions(self, logits: Any) -> tuple[Tensor, Predictions]:
        logits = checked_logits(logits, self._n_classes)
        with name_scope(None, "predictions", (logits,)):
            probabilities = sigmoid(logits, name="probabilities")
            return logits, {"logits": logits, "probabilities": probabilities}

    def _served(self, predictions: Predictions) -> dict[str, ExportOutput]:
        scores, names = predictions["probabilities"], self._label_vocabulary
        return {CLASSIFY: classification_output(scores, self._n_classes, names)}

    def _metrics(self, evaluated: Evaluated) -> Metrics:
        predictions, _, loss, regularization = evaluated
        labels, weights = loss.processed_labels, loss.weights
        scores = predictions["probabilities"]
        with name_scope(
            None, "metrics", (labels, scores, loss.unreduced_loss, weights)
        ):
            found = {
                "average_loss": mean(loss.unreduced_loss, weights, name="average_loss"),
                "auc": auc(labels, scores, weights, name="auc"),
                "auc_precision_recall": auc(
                    labels,
                    scores,
                    weights,
                    curve="PR",
                    name="auc_precision_recall",
                    summation_method=self._pr_summation,
                ),
                **metrics_at_thresholds(labels, scores, weights, self._thresholds),
            }
            for number in self._class_ids:
                found.update(self._class_metrics(number, labels, scores, weights))
            return {**found, **regularization_metrics(regularization)}

    def _class_metrics(
        self, number: int, labels: Tensor, scores: Tensor, weights: Any
    ) -> Metrics:
        """The metrics of one class."""
        leading = rank(scores) - 1
        start = concat([zeros([leading], "int32"), [number]], 0)
        size = concat([-1 * ones([leading], "int32"), [1]], 0)
        score, label = slice_(scores, start, size), slice_(labels, start, size)
        names = self._label_vocabulary
        end = f"/{names[number]}" if names else f"/class{number}"
        mean_key, auc_key = "probability_mean" + end, "auc" + end
        pr_key = "auc_precision_recall" + end
        return {
            mean_key: predictions_mean(score, weights, mean_key),
            auc_key: area(label, score, weights, "ROC", auc_key),
            pr_key: area(label, score, weights, "PR", pr_key, self._pr_summation),
        }


@export("contrib.estimator.multi_label_head")
def multi_label_head(
    n_classes: int,
    weight_column: WeightColumn = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Vocabulary = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    classes_for_class_based_metrics: Sequence[int | str] | None = None,
    name: str | None = None,
) -> MultiLabelHead:
    """The head of a classifier of whose classes any number may be true.

    Labels are a Tensor [batch, n_classes] of zeros and ones, or a SparseTensor of
    classes: of ids, or of names in the vocabulary.

    Args:
      n_classes: the number of classes, 2 or more.
      weight_column, label_vocabulary, loss_reduction, name: see
        `tf.contrib.estimator.binary_classification_head`.
      thresholds: probabilities, for each of which accuracy, precision and recall are
        evaluated.
      loss_fn: as there; None for the mean of the sigmoid cross entropies of classes.
      classes_for_class_based_metrics: ids or names of classes that also have metrics
        of their own.

    Returns:
      A head with `n_classes` logits.

    Raises:
      ValueError: an argument is not valid.

    Example:
      >>> head = tf.contrib.estimator.multi_label_head(3)
      >>> estimator = tf.estimator.DNNEstimator(head, [16], columns)

    Source: tensorflow_estimator/contrib/estimator/python/estimator/head.py.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(
            f"n_classes must be > 1 for multi-class classification. Given: {n_classes}"
        )
    check_arguments(n_classes, thresholds, label_vocabulary)
    return MultiLabelHead(
        n_classes,
        weight_column,
        thresholds or (),
        label_vocabulary,
        loss_reduction,
        loss_fn,
        class_ids_of(
            classes_for_class_based_metrics or (), n_classes, label_vocabulary
        ),
        name,
    )


def check_arguments(
    n_classes: int, thresholds: Sequence[float] | None, label_vocabulary: Vocabulary
) -> None:
    """Raise ValueError unless thresholds and vocabulary are valid."""
    for threshold in thresholds or ():
        if threshold <= 0.0 or threshold >= 1.0:
            raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
    if label_vocabulary:
        if not isinstance(label_vocabulary, list | tuple):
            raise ValueError(
                "label_vocabulary must be a list or tuple. Given type: "
                f"{type(label_vocabulary)}"
            )
        if len(label_vocabulary) != n_classes:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). Given: "
                f"{len(label_vocabulary)}"
            )


def class_ids_of(
    classes: Sequence[int | str], count: int, vocabulary: Vocabulary
) -> tuple[int, ...]:
    """The ids of classes, which are given all by id or all by name."""
    if classes and isinstance(classes[0], str):
        if not vocabulary:
            raise ValueError(
                "label_vocabulary must be provided when "
                "classes_for_class_based_metrics are sting."
            )
        return tuple(list(vocabulary).index(str(name)) for name in classes)
    ids = tuple(int(given) for given in classes)
    for given in ids:
        if not 0 <= given < count:
            raise ValueError(
                "All classes_for_class_based_metrics must be in range "
                f"[0, {count - 1}]. Given: {given}"
            )
    return ids
