"""The head of three or more classes: softmax cross entropy.

Source: tensorflow_estimator/python/estimator/canned/head.py,
_MultiClassHeadWithSoftmaxCrossEntropyLoss.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.estimator.export_outputs import ExportOutput
from tfteach.lib.estimator.heads.binary_head import BinaryHead
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
    check_n_classes,
    checked_logits,
    dense_labels,
    in_range,
)
from tfteach.lib.losses.classification import sparse_softmax_cross_entropy
from tfteach.lib.losses.weighted import Reduction
from tfteach.lib.metrics.means import accuracy, mean
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.math.reduce_functions import argmax
from tfteach.ops.nn.softmax import softmax


def _cross_entropies(labels: Tensor, logits: Tensor) -> Tensor:
    losses = sparse_softmax_cross_entropy(labels, logits, reduction=Reduction.NONE)
    return expand_dims(losses, -1)


class MultiClassHead(SingleHead):
    """Predicts one of several classes.

    Args:
      n_classes: the number of classes, more than 2.
      weight_column: a feature's key or a numeric column, of weights for the loss.
      label_vocabulary: the classes' names, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` other than NONE.
      loss_fn: a function of `labels`, `logits` and perhaps `features` that returns the
        losses [batch, 1]; None for softmax cross entropies.
      name: the name of its scope, and the suffix of its metrics.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        label_vocabulary: Vocabulary = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        if label_vocabulary is not None and not isinstance(
            label_vocabulary, list | tuple
        ):
            raise ValueError(
                "label_vocabulary should be a list or a tuple. Given type: "
                f"{type(label_vocabulary)}"
            )
        if n_classes is not None and n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        check_n_classes(n_classes)
        super().__init__(name, loss_reduction, weight_column, loss_fn)
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The losses of a batch; for the arguments see `Head.create_loss`."""
        logits = convert(logits)
        labels = dense_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            if labels.dtype != string:
                raise ValueError(
                    "Labels dtype should be string if there is a vocabulary. Instead "
                    f"got {labels.dtype}"
                )
            labels = ids_of(labels, self._label_vocabulary)
        elif not labels.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {labels.dtype}."
            )
        labels = in_range(labels, self._n_classes)
        return self._loss_spec(features, logits, labels, _cross_entropies)

    def _predictions(self, logits: Any) -> tuple[Tensor, Predictions]:
        vocabulary, count = self._label_vocabulary, self._n_classes
        logits = checked_logits(logits, count)
        with name_scope(None, "predictions", (logits,)):
            every_id = all_class_ids(logits, count)
            every_class = all_classes(logits, count, vocabulary)
            ids = expand_dims(argmax(logits, axis=-1, name="class_ids"), -1)
            names = class_names(ids, vocabulary)
            return logits, {
                "logits": logits,
                "probabilities": softmax(logits, name="probabilities"),
                "class_ids": ids,
                "classes": names,
                "all_class_ids": every_id,
                "all_classes": every_class,
            }

    def _served(self, predictions: Predictions) -> dict[str, ExportOutput]:
        scores, names = predictions["probabilities"], self._label_vocabulary
        return {CLASSIFY: classification_output(scores, self._n_classes, names)}

    def _metrics(self, evaluated: Evaluated) -> Metrics:
        predictions, _, loss, regularization = evaluated
        labels, weights = loss.processed_labels, loss.weights
        values = (loss.unreduced_loss, labels, predictions["class_ids"], weights)
        with name_scope(None, "metrics", values):
            return {
                "average_loss": mean(loss.unreduced_loss, weights, name="average_loss"),
                "accuracy": accuracy(
                    labels, predictions["class_ids"], weights, name="accuracy"
                ),
                **regularization_metrics(regularization),
            }


def classification_head(
    n_classes: int,
    weight_column: WeightColumn = None,
    label_vocabulary: Vocabulary = None,
    loss_reduction: str = Reduction.SUM,
) -> SingleHead:
    """The head of a canned classifier: binary for 2 classes, else multi-class."""
    if n_classes == 2:
        return BinaryHead(
            weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
