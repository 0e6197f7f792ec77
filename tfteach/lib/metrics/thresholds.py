"""Counts at several thresholds of the predictions, and areas under curves.

Source: python/ops/metrics_impl.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.checks.values import assert_greater_equal, assert_less_equal
from tfteach.control.checks.weights import broadcast_weights
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import bool_, float32, int32, int64
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.metrics.shared import fitted, in_graphs, metric_variable, recorded
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, greater, logical_and, logical_not
from tfteach.ops.math.complex import abs as abs_
from tfteach.ops.math.cumsum import cumsum
from tfteach.ops.math.division import div, div_no_nan
from tfteach.ops.math.exponential import log
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import argmax, argmin, reduce_min, reduce_sum
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.scope import variable_scope

Pair = tuple[Tensor, Tensor]
Counts = dict[str, Any]

# The variables of the four counts, in TensorFlow's order of creation.
_NAMES = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}


def _checked(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    """Predictions as floats, checked at run time to be in [0, 1]; labels as bools."""
    message = "predictions must be in [0, 1]"
    zero = cast(0.0, predictions.dtype)
    above = assert_greater_equal(predictions, zero, message=message)
    one = cast(1.0, predictions.dtype)
    below = assert_less_equal(predictions, one, message=message)
    with control_dependencies([above, below]):
        return fitted(cast(predictions, float32), cast(labels, bool_), weights)


def _counts_at(
    labels: Any, predictions: Any, thresholds: Any, weights: Any, wanted: Any = _NAMES
) -> tuple[Counts, Counts]:
    """The counts' variables and updates, each with one element per threshold."""
    predictions, labels, weights = _checked(labels, predictions, weights)
    count = len(thresholds)
    column = reshape(predictions, [-1, 1])
    row = reshape(cast(labels, bool_), [1, -1])
    number: Any = dimension_value(column.shape[0])
    if number is None:
        number = shape(column)[0]
    limits = tile(expand_dims(constant(thresholds), [1]), stack([1, number]))
    said, true = {}, {}
    said["p"] = greater(tile(transpose(column), [count, 1]), limits)
    if "fn" in wanted or "tn" in wanted:
        said["n"] = logical_not(said["p"])
    true["p"] = tile(row, [count, 1])
    if "fp" in wanted or "tn" in wanted:
        true["n"] = logical_not(true["p"])
    tiled = None
    if weights is not None:
        weights = broadcast_weights(cast(weights, float32), predictions)
        tiled = tile(reshape(weights, [1, -1]), [count, 1])
        limits.shape.assert_is_compatible_with(tiled.shape)
    values: Counts = {}
    updates: Counts = {}
    for key in (k for k in _NAMES if k in wanted):
        values[key] = metric_variable([count], float32, _NAMES[key])
        # A false positive or negative has the label opposite to the prediction.
        label = key[1] if key[0] == "t" else {"p": "n", "n": "p"}[key[1]]
        hits = cast(logical_and(true[label], said[key[1]]), float32)
        if tiled is not None:
            hits *= tiled
        updates[key] = assign_add(values[key], reduce_sum(hits, 1))
    return values, updates


def _even_thresholds(count: int, last: float) -> list[float]:
    """`count` evenly spaced thresholds, the first just below 0, the last `last`."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, last]


_EPSILON = 1e-7  # keeps predictions of exactly 0 and 1 on the correct side


# ---- curves


@export("metrics.auc")
@in_graphs()
def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Pair:
    """The area under a curve, approximated at several thresholds.

    Args:
      labels: Tensor, cast to bool.
      predictions: float Tensor of the same shape, with values in [0, 1].
      weights: a scalar, or a Tensor of `labels`' rank with each size 1 or the same.
      num_thresholds: the number of points on the curve.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
      curve: "ROC", or "PR" for precision over recall.
      name: the variable scope of its four local variables.
      summation_method: "trapezoidal", "careful_interpolation" (for PR), "minoring" or
        "majoring".
      thresholds: floats in (0, 1), instead of evenly spaced ones.

    Returns:
      The area so far, a scalar float32 Tensor, and the op that adds this batch.

    Raises:
      ValueError: `curve` or `summation_method` is unknown.
      InvalidArgumentError: (in a run) a prediction is not in [0, 1].

    Example:
      >>> value, update = tf.metrics.auc([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])  # 0.75
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        last = 1.0 + _EPSILON
        if thresholds is not None:
            num_thresholds = len(thresholds) + 2
            points = [0.0 - _EPSILON, *sorted(thresholds), last]
        else:
            points = _even_thresholds(num_thresholds, last)
        values, updates = _counts_at(labels, predictions, points, weights)
        return recorded(
            lambda: _area(curve, summation_method, values, "value"),
            lambda: _area(curve, summation_method, updates, "update_op"),
            metrics_collections,
            updates_collections,
        )


def _area(curve: str, method: str, counts: Counts, name: str) -> Tensor:
    tp, fn, tn, fp = (counts[key] for key in _NAMES)
    epsilon = 1.0e-6
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated(tp, fp, fn)
    recall = div(tp + epsilon, tp + fn + epsilon)
    if curve == "ROC":
        x, y = div(fp, fp + tn + epsilon), recall
    else:
        x, y = recall, div(tp + epsilon, tp + fp + epsilon)
    last = int(x.shape[0]) - 1
    if curve == "PR" and method == "trapezoidal":
        get_logger().warning(
            "Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
            '"careful_interpolation" instead.'
        )
    if method in ("trapezoidal", "careful_interpolation"):
        widths, heights = x[:last] - x[1:], (y[:last] + y[1:]) / 2.0
    elif method in ("minoring", "majoring"):
        widths = x[:last] - x[1:]
        choose = minimum if method == "minoring" else maximum
        heights = choose(y[:last], y[1:])
    else:
        raise ValueError(f"Invalid summation_method: {method}")
    return reduce_sum(multiply(widths, heights), name=name)


def _interpolated(tp: Any, fp: Any, fn: Any) -> Tensor:
    """The area under precision over recall, with positives interpolated linearly.

    Paper: Davis and Goadrich, "The relationship between precision-recall and ROC
    curves" (2006).
    """
    last = int(tp.shape[0]) - 1
    hits = tp[:last] - tp[1:]
    positives = tp + fp
    slope = div_no_nan(
        hits, maximum(positives[:last] - positives[1:], 0), name="prec_slope"
    )
    intercept = tp[1:] - multiply(slope, positives[1:])
    ratio = where(
        logical_and(positives[:last] > 0, positives[1:] > 0),
        div_no_nan(
            positives[:last], maximum(positives[1:], 0), name="recall_relative_ratio"
        ),
        ones_like(positives[1:]),
    )
    return reduce_sum(
        div_no_nan(
            slope * (hits + intercept * log(ratio)),
            maximum(tp[1:] + fn[1:], 0),
            name="pr_auc_increment",
        ),
        name="interpolate_pr_auc",
    )


@export("metrics.sensitivity_at_specificity")
@in_graphs()
def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The sensitivity (true positive rate) at a threshold of a given specificity.

    Args:
      specificity: in [0, 1]: the required true negative rate.
      others: see `tf.metrics.auc`.

    Raises:
      ValueError: `specificity` is not in [0, 1].
    """
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with variable_scope(
        name, "sensitivity_at_specificity", (predictions, labels, weights)
    ):
        points = _even_thresholds(num_thresholds, 1.0 + _EPSILON)
        values, updates = _counts_at(labels, predictions, points, weights)

        def sensitivity(counts: Counts, part: str) -> Tensor:
            tp, fn, tn, fp = (counts[key] for key in _NAMES)
            found = div(tn, tn + fp + _EPSILON)
            index = cast(argmin(abs_(found - specificity), 0), int32)
            return div(tp[index], tp[index] + fn[index] + _EPSILON, part)

        return recorded(
            lambda: sensitivity(values, "value"),
            lambda: sensitivity(updates, "update_op"),
            metrics_collections,
            updates_collections,
        )


@export("metrics.specificity_at_sensitivity")
@in_graphs()
def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The specificity (true negative rate) at a threshold of a given sensitivity.

    Args:
      sensitivity: in [0, 1]: the required true positive rate.
      others: see `tf.metrics.auc`.

    Raises:
      ValueError: `sensitivity` is not in [0, 1].
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope(
        name, "specificity_at_sensitivity", (predictions, labels, weights)
    ):
        points = _even_thresholds(num_thresholds, 1.0 - _EPSILON)
        values, updates = _counts_at(labels, predictions, points, weights)

        def specificity(counts: Counts, part: str) -> Tensor:
            tp, fn, tn, fp = (counts[key] for key in _NAMES)
            found = div(tp, tp + fn + _EPSILON)
            least = reduce_min(abs_(found - sensitivity))
            nearest = cast(equal(abs_(found - sensitivity), least), int64)
            # The last of several: where the cumulative count first reaches its maximum.
            index = cast(argmax(cumsum(nearest), 0), int32)
            return div(tn[index], tn[index] + fp[index] + _EPSILON, part)

        return recorded(
            lambda: specificity(values, "value"),
            lambda: specificity(updates, "update_op"),
            metrics_collections,
            updates_collections,
        )


# ---- counts and quotients


def _count_at(
    name: str | None,
    key: str,
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any,
    collections: tuple[Any, Any],
) -> Pair:
    with variable_scope(name, _NAMES[key], (predictions, labels, weights)):
        values, updates = _counts_at(labels, predictions, thresholds, weights, (key,))
        return recorded(
            lambda: identity(values[key]), lambda: updates[key], *collections
        )


@export("metrics.true_positives_at_thresholds")
@in_graphs()
def true_positives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of true labels with a prediction above each threshold.

    For the arguments see `tf.metrics.precision_at_thresholds`.
    """
    collections = metrics_collections, updates_collections
    return _count_at(name, "tp", labels, predictions, thresholds, weights, collections)


@export("metrics.false_negatives_at_thresholds")
@in_graphs()
def false_negatives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of true labels with a prediction not above each threshold.

    For the arguments see `tf.metrics.precision_at_thresholds`.
    """
    collections = metrics_collections, updates_collections
    return _count_at(name, "fn", labels, predictions, thresholds, weights, collections)


@export("metrics.true_negatives_at_thresholds")
@in_graphs()
def true_negatives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of false labels with a prediction not above each threshold.

    For the arguments see `tf.metrics.precision_at_thresholds`.
    """
    collections = metrics_collections, updates_collections
    return _count_at(name, "tn", labels, predictions, thresholds, weights, collections)


@export("metrics.false_positives_at_thresholds")
@in_graphs()
def false_positives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of false labels with a prediction above each threshold.

    For the arguments see `tf.metrics.precision_at_thresholds`.
    """
    collections = metrics_collections, updates_collections
    return _count_at(name, "fp", labels, predictions, thresholds, weights, collections)


def _recorded_shares(
    name: str, other: str, pair: tuple[Counts, Counts], *collections: Any
) -> Pair:
    """true positives / (true positives + another count)"""

    def share(counts: Counts, part: str) -> Tensor:
        hits = counts["tp"]
        return div(hits, _EPSILON + hits + counts[other], name=f"{name}_{part}")

    return recorded(
        lambda: share(pair[0], "value"),
        lambda: share(pair[1], "update_op"),
        *collections,
    )


@export("metrics.precision_at_thresholds")
@in_graphs()
def precision_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """Precision, with predictions above each threshold counted as positive.

    Args:
      labels: Tensor, cast to bool.
      predictions: float Tensor of the same shape, with values in [0, 1].
      thresholds: a list of floats.
      weights: a scalar, or a Tensor of `labels`' rank with each size 1 or the same.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
      name: the variable scope of its local variables.

    Returns:
      The value so far, a float32 Tensor [thresholds], and the op that adds this batch.

    Raises:
      InvalidArgumentError: (in a run) a prediction is not in [0, 1].
    """
    with variable_scope(
        name, "precision_at_thresholds", (predictions, labels, weights)
    ):
        pair = _counts_at(labels, predictions, thresholds, weights, ("tp", "fp"))
        return _recorded_shares(
            "precision", "fp", pair, metrics_collections, updates_collections
        )


@export("metrics.recall_at_thresholds")
@in_graphs()
def recall_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """Recall, with predictions above each threshold counted as positive.

    For the arguments see `tf.metrics.precision_at_thresholds`.
    """
    with variable_scope(name, "recall_at_thresholds", (predictions, labels, weights)):
        pair = _counts_at(labels, predictions, thresholds, weights, ("tp", "fn"))
        return _recorded_shares(
            "recall", "fn", pair, metrics_collections, updates_collections
        )
