"""The metrics of an evaluation: those of the model, and those that a call adds.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.lib.contrib.learn.keys import MetricKey
from tfteach.lib.contrib.learn.metric_spec import MetricSpec
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.metrics import streaming_mean


def with_metrics(
    ops: ModelFnOps, metrics: Mapping[Any, Any] | None, features: Any, labels: Any
) -> ModelFnOps:
    """The model's ops, with the metrics that a call adds."""
    if not metrics:
        return ops
    added = _called(metrics, features, labels, ops.predictions)
    return ops._replace(eval_metric_ops={**ops.eval_metric_ops, **added})


def split(ops: ModelFnOps) -> tuple[list[Any], dict[str, Any]]:
    """The update ops of metrics, and their values; the loss is one of them.

    A metric may also be a Tensor alone, such as of a program's own function: its value
    is that of the last batch.
    """
    metrics = dict(ops.eval_metric_ops)
    if MetricKey.LOSS not in metrics:
        metrics[MetricKey.LOSS] = streaming_mean(ops.loss)
    updates, values = [], {}
    for name, metric in metrics.items():
        values[name] = metric
        if not isinstance(metric, list | tuple):
            continue
        if len(metric) == 2:
            values[name], update = metric
            updates.append(update)
        else:
            get_logger().warning(
                "Ignoring metric %s. It returned a list|tuple with len %s, expected 2",
                name,
                len(metric),
            )
    return updates, values


def _called(
    metrics: Mapping[Any, Any], features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    all_labels = labels
    if isinstance(labels, Mapping) and len(labels) == 1:
        labels = next(iter(labels.values()))
    found = {}
    for name, metric in sorted(metrics.items(), key=lambda item: str(item[0])):
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, all_labels, predictions)
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
