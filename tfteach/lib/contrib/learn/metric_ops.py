"""The metrics of an evaluation: those of the model, and those that a call adds.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.lib.contrib.learn.keys import MetricKey
from tfteach.lib.contrib.learn.metric_spec import MetricSpec
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.metrics import streaming_mean


def with_metrics(
    metrics: Mapping[Any, Any] | None, features: Any, labels: Any, ops: ModelFnOps
) -> dict[str, Any]:
    """All metrics by name, as (value, update op); the loss is one of them."""
    found = dict(ops.eval_metric_ops)
    if metrics:
        found |= _called(metrics, features, labels, ops.predictions)
    if MetricKey.LOSS not in found:
        found[MetricKey.LOSS] = streaming_mean(ops.loss)
    return found


def _called(
    metrics: Mapping[Any, Any], features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    if isinstance(labels, Mapping) and len(labels) == 1:
        labels = next(iter(labels.values()))
    found = {}
    for name, metric in sorted(metrics.items(), key=lambda item: str(item[0])):
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(
                    f"Invalid metric for {name}. It returned a tuple with len "
                    f"{len(name)}, expected 2."
                )
            if not isinstance(predictions, Mapping):
                raise ValueError(
                    "Metrics passed provide (name, prediction), but predictions are "
                    f"not dict. Metrics: {metrics}, Predictions: {predictions}."
                )
            found[name[0]] = metric(predictions[name[1]], labels)
        else:
            if isinstance(predictions, Mapping):
                raise ValueError(
                    "Metrics passed provide only name, no prediction, but predictions "
                    f"are dict. Metrics: {metrics}, Labels: {labels}."
                )
            found[name] = metric(predictions, labels)
    return found
