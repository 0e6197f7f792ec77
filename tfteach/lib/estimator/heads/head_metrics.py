"""The metrics of heads that `tf.metrics` does not have in the same form.

Source: tensorflow_estimator/python/estimator/canned/head.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfteach.control.checks.weights import broadcast_weights
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.estimator.heads.head_checks import Weights
from tfteach.lib.metrics.means import accuracy, mean
from tfteach.lib.metrics.thresholds import (
    auc,
    precision_at_thresholds,
    recall_at_thresholds,
)
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import to_float
from tfteach.ops.math.compare import greater_equal

Pair = tuple[Tensor, Any]


def predictions_mean(predictions: Tensor, weights: Weights | None, name: str) -> Pair:
    """The mean prediction, of which each has its example's weight."""
    values = (predictions, weights) if weights is not None else (predictions,)
    with name_scope(name, "predictions_mean", values) as scope:
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        return mean(predictions, weights=weights, name=scope)


def area(
    labels: Tensor,
    predictions: Tensor,
    weights: Weights | None,
    curve: str,
    name: str,
    summation_method: str = "trapezoidal",
) -> Pair:
    """The area under the curve, of which each prediction has its example's weight."""
    with name_scope(name, "auc", (predictions, labels)) as scope:
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        return auc(
            labels,
            predictions,
            weights,
            curve=curve,
            name=scope,
            summation_method=summation_method,
        )


def accuracy_baseline(labels_mean: Pair) -> Pair:
    """The accuracy of predicting the more frequent class."""
    with name_scope("accuracy_baseline", values=labels_mean):
        value, update = labels_mean
        best = maximum(value, 1 - value, name="value")
        return best, maximum(update, 1 - update, name="update_op")


def _accuracy_at_threshold(
    labels: Tensor, predictions: Tensor, weights: Weights, threshold: float, name: str
) -> Pair:
    with name_scope(name, values=(predictions, labels)) as scope:
        are_positive = to_float(greater_equal(predictions, threshold))
        return accuracy(labels, are_positive, weights, name=scope)


def _at_threshold(
    metric: Callable[..., Pair],
    labels: Tensor,
    predictions: Tensor,
    weights: Weights,
    threshold: float,
    name: str,
) -> Pair:
    """A metric of several thresholds at a single one."""
    with name_scope(name, values=(predictions, labels)) as scope:
        value, update = metric(labels, predictions, (threshold,), weights, name=scope)
        return squeeze(value), squeeze(update)


def metrics_at_thresholds(
    labels: Tensor, predictions: Tensor, weights: Weights, thresholds: Iterable[float]
) -> dict[str, Pair]:
    """Accuracy, precision and recall of calling probabilities >= threshold positive."""
    found = {}
    for threshold in thresholds:
        end = f"/positive_threshold_{threshold:g}"
        arguments = labels, predictions, weights, threshold
        name = "accuracy" + end
        found[name] = _accuracy_at_threshold(*arguments, name)
        for kind, metric in (
            ("precision", precision_at_thresholds),
            ("recall", recall_at_thresholds),
        ):
            found[kind + end] = _at_threshold(metric, *arguments, kind + end)
    return found
