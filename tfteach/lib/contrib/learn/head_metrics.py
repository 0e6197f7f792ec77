"""The metrics of the heads: means, areas under curves, and values at thresholds.

Source: contrib/learn/python/learn/estimators/head.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.weights import broadcast_weights
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bool_, float32, int32
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.lib.metrics.means import accuracy as accuracy
from tfteach.lib.metrics.means import mean
from tfteach.lib.metrics.thresholds import (
    auc,
    precision_at_thresholds,
    recall_at_thresholds,
)
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, greater_equal

# A metric's value and the op that updates it.
Metric = tuple[Tensor, Tensor]


def _broadcast(weights: Any, values: Any) -> Any:
    return None if weights is None else broadcast_weights(weights, values)


def _column(weights: Any, column: int) -> Any:
    return None if weights is None else weights[:, column]


def weighted_mean(values: Any, weights: Any) -> Metric:
    """The mean of the values."""
    return mean(values, weights=_broadcast(weights, values))


def label_mean(labels: Any, weights: Any) -> Metric:
    """The mean of the labels."""
    return weighted_mean(cast(labels, float32), weights)


def class_mean(ids: Any, weights: Any, class_id: int) -> Metric:
    """How often `class_id` is among the ids."""
    found = equal(cast(class_id, int32), cast(ids, int32))
    return mean(where(found, ones_like(ids), zeros_like(ids)), weights=weights)


def column_mean(values: Any, weights: Any, column: int) -> Metric:
    """The mean of one column of a Tensor [batch, n]."""
    weights = _column(_broadcast(weights, values), column)
    return mean(values[:, column], weights=weights)


def indicator_mean(labels: Any, weights: Any, class_id: int) -> Metric:
    """The mean of one column of labels 0 and 1."""
    return column_mean(cast(labels, float32), weights, class_id)


def area(
    probabilities: Any, labels: Any, weights: Any, class_id: int | None = None,
    curve: str = "ROC",
) -> Metric:  # fmt: skip
    """The area under a curve; of one class's column if `class_id` is given."""
    labels = convert(labels)
    if labels.dtype.base_dtype != bool_:
        get_logger().warning("Casting %s labels to bool.", labels.dtype)
        labels = cast(labels, bool_)
    weights = _broadcast(weights, probabilities)
    if class_id is not None:
        weights = _column(weights, class_id)
        probabilities, labels = probabilities[:, class_id], labels[:, class_id]
    return auc(labels, probabilities, weights=weights, curve=curve)


def accuracy_at(probabilities: Any, labels: Any, weights: Any, threshold: float) -> Any:
    """The accuracy if probabilities from the threshold on are of class 1."""
    chosen = cast(greater_equal(probabilities, threshold), float32)
    return accuracy(labels=labels, predictions=chosen, weights=weights)


def precision_at(
    probabilities: Any, labels: Any, weights: Any, threshold: float
) -> Metric:
    """The share of class 1 among the probabilities above the threshold."""
    value, update = precision_at_thresholds(
        labels, probabilities, (threshold,), weights
    )
    return squeeze(value), squeeze(update)


def recall_at(
    probabilities: Any, labels: Any, weights: Any, threshold: float
) -> Metric:
    """The share of class 1 whose probability is above the threshold."""
    value, update = recall_at_thresholds(labels, probabilities, (threshold,), weights)
    return squeeze(value), squeeze(update)
