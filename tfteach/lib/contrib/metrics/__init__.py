"""`tf.contrib.metrics`, also `slim.metrics`: `tf.metrics` with predictions first.

Source: contrib/metrics/python/ops/metric_ops.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import bool_, float32, string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import CollectionNames, T, TensorLike
from tfteach.lib.metrics import classes, counts, means, ranked, thresholds
from tfteach.ops.array.in_top_k import in_top_k
from tfteach.ops.core.fill import ones_like
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.division import div
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum

Pair = tuple[Tensor, Tensor]


def public(name: str) -> Callable[[T], T]:
    """Decorator: exports to contrib.metrics and contrib.slim.metrics."""
    return export(f"contrib.metrics.{name}", f"contrib.slim.metrics.{name}")


@public("aggregate_metrics")
def aggregate_metrics(*value_update_tuples: Pair) -> tuple[list[Any], list[Any]]:
    """The values and the update ops of several metrics, each as a list.

    Raises:
      ValueError: there are no metrics.
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
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.mean`"""
    return means.mean(values, weights, metrics_collections, updates_collections, name)


def _of(metric: Callable[..., Pair]) -> Callable[..., Pair]:
    """A metric of labels and predictions, called with the predictions first."""

    def streaming(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: CollectionNames | None = None,
        updates_collections: CollectionNames | None = None,
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

_COLLECTIONS = "metrics_collections=None updates_collections=None"


def _named(name: str, metric: Callable[..., Pair], order: str) -> Callable[..., Pair]:
    """A metric under another name, with its arguments reordered.

    Args:
      name: the public name.
      metric: a function of `tf.metrics`.
      order: the arguments; those with defaults as "name=default".
    """
    parameters = []
    for part in order.split():
        argument, has_default, default = part.partition("=")
        known = {"None": None, "200": 200, "ROC": "ROC"}.get(default)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        empty = inspect.Parameter.empty
        value = known if has_default else empty
        parameters.append(inspect.Parameter(argument, kind, default=value))
    signature = inspect.Signature(parameters)

    def streaming(*args: Any, **kwargs: Any) -> Pair:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return metric(**bound.arguments)

    streaming.__doc__ = (
        f"`tf.metrics.{metric.__name__}` with its arguments in another order."
    )
    streaming.__name__ = streaming.__qualname__ = name
    streaming.__signature__ = signature  # type: ignore[attr-defined]
    made: Callable[..., Pair] = public(name)(streaming)
    return made


streaming_mean_tensor = _named(
    "streaming_mean_tensor",
    means.mean_tensor,
    f"values weights=None {_COLLECTIONS} name=None",
)
streaming_auc = _named(
    "streaming_auc",
    thresholds.auc,
    "predictions labels weights=None num_thresholds=200 "
    f"{_COLLECTIONS} curve=ROC name=None",
)
streaming_specificity_at_sensitivity = _named(
    "streaming_specificity_at_sensitivity",
    thresholds.specificity_at_sensitivity,
    "predictions labels sensitivity weights=None num_thresholds=200 "
    f"{_COLLECTIONS} name=None",
)
streaming_sensitivity_at_specificity = _named(
    "streaming_sensitivity_at_specificity",
    thresholds.sensitivity_at_specificity,
    "predictions labels specificity weights=None num_thresholds=200 "
    f"{_COLLECTIONS} name=None",
)
streaming_precision_at_thresholds = _named(
    "streaming_precision_at_thresholds",
    thresholds.precision_at_thresholds,
    f"predictions labels thresholds weights=None {_COLLECTIONS} name=None",
)
streaming_recall_at_thresholds = _named(
    "streaming_recall_at_thresholds",
    thresholds.recall_at_thresholds,
    f"predictions labels thresholds weights=None {_COLLECTIONS} name=None",
)
streaming_sparse_recall_at_k = _named(
    "streaming_sparse_recall_at_k",
    ranked.recall_at_k,
    f"predictions labels k class_id=None weights=None {_COLLECTIONS} name=None",
)
streaming_sparse_precision_at_k = _named(
    "streaming_sparse_precision_at_k",
    ranked.precision_at_k,
    f"predictions labels k class_id=None weights=None {_COLLECTIONS} name=None",
)
streaming_sparse_average_precision_at_k = _named(
    "streaming_sparse_average_precision_at_k",
    ranked.average_precision_at_k,
    f"predictions labels k weights=None {_COLLECTIONS} name=None",
)
streaming_mean_relative_error = _named(
    "streaming_mean_relative_error",
    means.mean_relative_error,
    f"predictions labels normalizer weights=None {_COLLECTIONS} name=None",
)
streaming_percentage_less = _named(
    "streaming_percentage_less",
    means.percentage_below,
    f"values threshold weights=None {_COLLECTIONS} name=None",
)
streaming_mean_iou = _named(
    "streaming_mean_iou",
    classes.mean_iou,
    f"predictions labels num_classes weights=None {_COLLECTIONS} name=None",
)
streaming_mean_cosine_distance = _named(
    "streaming_mean_cosine_distance",
    means.mean_cosine_distance,
    f"predictions labels dim weights=None {_COLLECTIONS} name=None",
)


@public("streaming_recall_at_k")
def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The fraction of examples whose label is among the top k predictions.

    Args:
      predictions: float32 Tensor [batch, classes].
      labels: int Tensor [batch].
      k: the number of predictions considered.
      weights, metrics_collections, updates_collections: as in `tf.metrics.mean`.
      name: the variable scope; "recall_at_<k>" if None.

    Returns:
      (value, update_op).

    Source: contrib/metrics/python/ops/metric_ops.py.
    """
    is_in = cast(in_top_k(predictions, labels, k), float32)
    collections = metrics_collections, updates_collections
    return means.mean(is_in, weights, *collections, name or f"recall_at_{k}")


@export("contrib.metrics.accuracy")
def accuracy(
    predictions: Tensor,
    labels: Tensor,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The fraction of predictions that equal their labels, in this batch.

    Args:
      predictions, labels: Tensors of one type: integers, bools or strings.
      weights: Tensor that broadcasts to them: the weight of each prediction.
      name: the scope of the ops.

    Returns:
      A float32 scalar.

    Raises:
      ValueError: the types are not supported, or differ.

    Source: contrib/metrics/python/metrics/classification.py.
    """
    kind = labels.dtype
    if not (kind.is_integer or kind in (bool_, string)):
        raise ValueError(
            f"Labels should have bool, integer, or string dtype, not {kind!r}"
        )
    if not kind.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({kind!r})"
        )
    with name_scope(name, "accuracy", [predictions, labels]):
        is_right = cast(equal(predictions, labels), float32)
        if weights is None:
            return reduce_mean(is_right)
        is_right = multiply(is_right, weights)
        total = multiply(weights, ones_like(is_right))
        return div(reduce_sum(is_right), reduce_sum(total))
