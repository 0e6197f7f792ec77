"""`tf.contrib.metrics`, also `slim.metrics`: `tf.metrics`, predictions given first.

Source: contrib/metrics/python/ops/metric_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
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


def _of(metric: Callable[..., Pair]) -> Callable[..., Pair]:
    """A metric of labels and predictions with the predictions first."""

    def streaming(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Pair:
        collections = metrics_collections, updates_collections
        return metric(labels, predictions, weights, *collections, name)

    streaming.__doc__ = f"`tf.metrics.{metric.__name__}` with the predictions first."
    streaming.__name__ = streaming.__qualname__ = f"streaming_{metric.__name__}"
    made: Callable[..., Pair] = public(streaming.__name__)(streaming)
    return made


streaming_accuracy = _of(means.accuracy)
streaming_precision = _of(counts.precision)
streaming_recall = _of(counts.recall)
streaming_true_positives = _of(counts.true_positives)
streaming_true_negatives = _of(counts.true_negatives)
streaming_false_positives = _of(counts.false_positives)
streaming_false_negatives = _of(counts.false_negatives)
streaming_mean_absolute_error = _of(means.mean_absolute_error)
streaming_mean_squared_error = _of(means.mean_squared_error)
streaming_root_mean_squared_error = _of(means.root_mean_squared_error)
