"""Metrics of random forests by name: functions that accumulate over batches.

Source: contrib/tensor_forest/client/eval_metrics.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.losses.functions import (
    log_loss,
    sigmoid_cross_entropy,
    sparse_softmax_cross_entropy,
)
from tfteach.lib.metrics import counts, means, thresholds
from tfteach.ops.array.in_top_k import in_top_k
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import squared_difference
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum

# From predictions, targets and weights to (value, update op), or to a Tensor.
Metric = Callable[..., Any]
INFERENCE_PROB_NAME = "probabilities"
INFERENCE_PRED_NAME = "classes"
FEATURE_IMPORTANCE_NAME = "global_feature_importance"
_AT = (0.5,)


def top_k_generator(k: int) -> Metric:
    """The metric of whether targets are among the `k` most probable classes."""

    def top_k(probabilities: Tensor, targets: Tensor) -> Any:
        flat = targets if targets.get_shape().ndims == 1 else squeeze(targets, [1])
        return means.mean(in_top_k(probabilities, flat, k))

    return top_k


def accuracy(predictions: Any, targets: Any, weights: Any = None) -> Any:
    """The share of right classes."""
    return means.accuracy(labels=targets, predictions=predictions, weights=weights)


def r2(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    """The mean over batches of 1 - (squared errors) / (squared deviations)."""
    targets = cast(targets, float32)
    deviations = squared_difference(targets, reduce_mean(targets, 0))
    total: Any = reduce_sum(deviations, 0)
    errors: Any = reduce_sum(squared_difference(targets, probabilities), 0)
    return means.mean(1 - reduce_sum(errors / total), weights=weights)


def _one_hot(targets: Tensor, probabilities: Tensor) -> Tensor:
    """Targets [n, 1] as [n, classes]."""
    classes = shape(probabilities)[1]
    return one_hot(squeeze(targets, [1]), classes)


def _class_log_loss(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    known = _one_hot(targets, probabilities)
    return means.mean(log_loss(probabilities, known), weights=weights)


def _sigmoid_entropy(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    known = _one_hot(targets, probabilities)
    return means.mean(sigmoid_cross_entropy(probabilities, known), weights=weights)


def _softmax_entropy(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    loss = sparse_softmax_cross_entropy(probabilities, cast(targets, "int32"))
    return means.mean(loss, weights=weights)


def _predictions(predictions: Any, unused_targets: Any, **unused: Any) -> Any:
    return predictions


def _precision(predictions: Any, targets: Any, weights: Any = None) -> Any:
    return counts.precision(labels=targets, predictions=predictions, weights=weights)


def _recall(predictions: Any, targets: Any, weights: Any = None) -> Any:
    return counts.recall(labels=targets, predictions=predictions, weights=weights)


def _of_second_class(metric: Callable[..., Any], **options: Any) -> Metric:
    """A metric of binary targets, of the probabilities [n, 2]."""

    def measured(probabilities: Any, targets: Any, weights: Any = None) -> Any:
        ones = probabilities[:, 1:2]
        return metric(labels=targets, predictions=ones, weights=weights, **options)

    return measured


_METRICS: dict[str, tuple[Metric, str]] = {
    "auc": (_of_second_class(thresholds.auc), INFERENCE_PROB_NAME),
    "sigmoid_entropy": (_sigmoid_entropy, INFERENCE_PROB_NAME),
    "softmax_entropy": (_softmax_entropy, INFERENCE_PROB_NAME),
    "accuracy": (accuracy, INFERENCE_PRED_NAME),
    "r2": (r2, "scores"),
    "predictions": (_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": (_class_log_loss, INFERENCE_PROB_NAME),
    "precision": (_precision, INFERENCE_PRED_NAME),
    "precision_at_thresholds": (
        _of_second_class(thresholds.precision_at_thresholds, thresholds=_AT),
        INFERENCE_PROB_NAME,
    ),
    "recall": (_recall, INFERENCE_PRED_NAME),
    "recall_at_thresholds": (
        _of_second_class(thresholds.recall_at_thresholds, thresholds=_AT),
        INFERENCE_PROB_NAME,
    ),
    "top_5": (top_k_generator(5), INFERENCE_PROB_NAME),
}


@export("contrib.tensor_forest.client.eval_metrics.get_metric")
def get_metric(metric_name: str) -> Metric:
    """A metric by its name.

    Args:
      metric_name: "accuracy", "auc", "classification_log_loss", "precision",
        "precision_at_thresholds", "predictions", "r2", "recall",
        "recall_at_thresholds", "sigmoid_entropy", "softmax_entropy" or "top_5".

    Returns:
      A function of predictions, targets and perhaps weights that returns the value and
      the op that accumulates a batch.

    Raises:
      KeyError: there is no such metric.
    """
    return _METRICS[metric_name][0]


@export("contrib.tensor_forest.client.eval_metrics.get_prediction_key")
def get_prediction_key(metric_name: str) -> str:
    """The key of the predictions that a metric expects: see `get_metric`.

    Raises:
      KeyError: there is no such metric.
    """
    return _METRICS[metric_name][1]
