"""`tf.contrib.metrics`, also `slim.metrics`: `tf.metrics`, predictions given first.

Source: contrib/metrics/python/ops/metric_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.metrics import counts, means

Pair = tuple[Tensor, Tensor]


def public(name: str) -> Any:
    """Decorator: public in contrib.metrics and in contrib.slim.metrics."""
    return export(f"contrib.metrics.{name}", f"contrib.slim.metrics.{name}")


@public("aggregate_metrics")
def aggregate_metrics(*value_update_tuples: Pair) -> tuple[list[Any], list[Any]]:
    """The values and the update ops of several metrics, each as a list.

    Raises:
      ValueError: there are none.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


@public("aggregate_metric_map")
def aggregate_metric_map(
    names_to_tuples: dict[str, Pair],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the update ops of named metrics, each as a dict.

    Example:
      >>> values, updates = tf.contrib.metrics.aggregate_metric_map(
      ...     {"accuracy": tf.metrics.accuracy([1, 2], [1, 3])})
    """
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}


@public("streaming_mean")
def streaming_mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.mean`"""
    return means.mean(values, weights, metrics_collections, updates_collections, name)


@public("streaming_accuracy")
def streaming_accuracy(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.accuracy` with the predictions first."""
    collections = metrics_collections, updates_collections
    return means.accuracy(labels, predictions, weights, *collections, name)


@public("streaming_precision")
def streaming_precision(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.precision` with the predictions first."""
    collections = metrics_collections, updates_collections
    return counts.precision(labels, predictions, weights, *collections, name)


@public("streaming_recall")
def streaming_recall(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.recall` with the predictions first."""
    collections = metrics_collections, updates_collections
    return counts.recall(labels, predictions, weights, *collections, name)


@public("streaming_true_positives")
def streaming_true_positives(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.true_positives` with the predictions first."""
    collections = metrics_collections, updates_collections
    return counts.true_positives(labels, predictions, weights, *collections, name)


@public("streaming_true_negatives")
def streaming_true_negatives(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.true_negatives` with the predictions first."""
    collections = metrics_collections, updates_collections
    return counts.true_negatives(labels, predictions, weights, *collections, name)


@public("streaming_false_positives")
def streaming_false_positives(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.false_positives` with the predictions first."""
    collections = metrics_collections, updates_collections
    return counts.false_positives(labels, predictions, weights, *collections, name)


@public("streaming_false_negatives")
def streaming_false_negatives(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.false_negatives` with the predictions first."""
    collections = metrics_collections, updates_collections
    return counts.false_negatives(labels, predictions, weights, *collections, name)


@public("streaming_mean_absolute_error")
def streaming_mean_absolute_error(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.mean_absolute_error` with the predictions first."""
    collections = metrics_collections, updates_collections
    return means.mean_absolute_error(labels, predictions, weights, *collections, name)


@public("streaming_mean_squared_error")
def streaming_mean_squared_error(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.mean_squared_error` with the predictions first."""
    collections = metrics_collections, updates_collections
    return means.mean_squared_error(labels, predictions, weights, *collections, name)


@public("streaming_root_mean_squared_error")
def streaming_root_mean_squared_error(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.root_mean_squared_error` with the predictions first."""
    collections = metrics_collections, updates_collections
    return means.root_mean_squared_error(
        labels, predictions, weights, *collections, name
    )
