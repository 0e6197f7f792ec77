"""Means over all batches so far: of values, hits, errors.

All return (value, update_op): the value so far, and the op that adds the batch and
returns the value after it.  Labels and predictions are Tensors of one shape; weights
are a scalar, or of the values' rank with each size 1 or the same.
Source: python/ops/metrics_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.weights import (
    broadcast_weights,
    remove_squeezable_dimensions,
)
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.metrics.shared import fitted, in_graphs, metric_variable, recorded
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.shape_ops import size
from tfteach.ops.math.binary import maximum, squared_difference, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less
from tfteach.ops.math.complex import abs as abs_
from tfteach.ops.math.division import div, div_no_nan
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import sqrt
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.scope import variable_scope

Pair = tuple[Tensor, Tensor]


@export("metrics.mean")
@in_graphs()
def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The (weighted) mean of all values.

    Args:
      values: numeric Tensor of any shape.
      weights: a scalar, or a Tensor of `values`' rank with each size 1 or the same.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
      name: the variable scope of its two local variables.

    Returns:
      The mean so far, a scalar float32 Tensor (0 at first), and the op that adds this
      batch and returns the mean after it.

    Raises:
      ValueError: the weights do not match.

    Example:
      >>> value, update = tf.metrics.mean([1.0, 3.0])
      >>> sess.run(tf.local_variables_initializer())
      >>> sess.run(update)  # 2.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, float32)
        total = metric_variable([], float32, "total")
        count = metric_variable([], float32, "count")
        if weights is None:
            number = cast(size(values), float32)
        else:
            values, weights = _weighted(values, weights)
            number = reduce_sum(weights)
        new_total = assign_add(total, reduce_sum(values))
        with control_dependencies([values]):
            new_count = assign_add(count, number)
        return recorded(
            lambda: div_no_nan(total, maximum(count, 0), name="value"),
            lambda: div_no_nan(new_total, maximum(new_count, 0), name="update_op"),
            metrics_collections,
            updates_collections,
        )


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    """The values multiplied by their weights, and the weights in the values' shape."""
    values, _, weights = fitted(values, None, weights)
    weights = broadcast_weights(cast(weights, float32), values)
    return multiply(values, weights), weights


@export("metrics.mean_tensor")
@in_graphs()
def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The element-wise mean of Tensors; arguments as for `tf.metrics.mean`.

    Returns:
      Two float32 Tensors of `values`' shape, which is fully known.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, float32)
        total = metric_variable(values.shape, float32, "total_tensor")
        count = metric_variable(values.shape, float32, "count_tensor")
        number = ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = multiply(number, weights)
        new_total = assign_add(total, values)
        with control_dependencies([values]):
            new_count = assign_add(count, number)
        return recorded(
            lambda: div_no_nan(total, maximum(count, 0), name="value"),
            lambda: div_no_nan(new_total, maximum(new_count, 0), name="update_op"),
            metrics_collections,
            updates_collections,
        )


@export("metrics.accuracy")
@in_graphs()
def accuracy(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """Fraction of predictions that equal the labels; see `tf.metrics.mean`.

    Args:
      labels: Tensor of any shape and type.
      predictions: Tensor of the same shape, cast to `labels`' type.

    Raises:
      ValueError: the shapes differ.

    Example:
      >>> value, update = tf.metrics.accuracy([1, 2, 3, 4], [1, 2, 0, 0])  # 0.5
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    is_correct = cast(equal(predictions, labels), float32)
    return mean(
        is_correct,
        weights,
        metrics_collections,
        updates_collections,
        name or "accuracy",
    )


@export("metrics.mean_absolute_error")
@in_graphs()
def mean_absolute_error(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The mean of `|predictions - labels|`; see `tf.metrics.mean`."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    return mean(
        abs_(predictions - labels),
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_absolute_error",
    )


@export("metrics.mean_squared_error")
@in_graphs()
def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The mean of `(labels - predictions) ** 2`; see `tf.metrics.mean`."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    return mean(
        squared_difference(labels, predictions),
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_squared_error",
    )


@export("metrics.root_mean_squared_error")
@in_graphs()
def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The square root of `tf.metrics.mean_squared_error`."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    value, update = mean_squared_error(
        labels, predictions, weights, name=name or "root_mean_squared_error"
    )
    return recorded(
        lambda: sqrt(value),
        lambda: sqrt(update),
        metrics_collections,
        updates_collections,
    )


@export("metrics.mean_relative_error")
@in_graphs()
def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The mean of `|labels - predictions| / normalizer`, 0 where the latter is 0.

    Args:
      normalizer: a Tensor of `labels`' shape.
      others: see `tf.metrics.mean`.
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = where(
        equal(normalizer, 0.0),
        zeros_like(labels),
        div(abs_(labels - predictions), normalizer),
    )
    return mean(
        errors,
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_relative_error",
    )


@export("metrics.mean_cosine_distance")
@in_graphs()
def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """1 less the mean of `sum(predictions * labels, dim)`, for unit vectors.

    For the other arguments see `tf.metrics.mean`.
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    products = multiply(predictions, labels)
    products = reduce_sum(products, axis=[dim], keepdims=True)
    value, update = mean(products, weights, name=name or "mean_cosine_distance")
    return recorded(
        lambda: subtract(1.0, value),
        lambda: subtract(1.0, update),
        metrics_collections,
        updates_collections,
    )


@export("metrics.percentage_below")
@in_graphs()
def percentage_below(
    values: TensorLike,
    threshold: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The fraction of values below a threshold; see `tf.metrics.mean`."""
    return mean(
        cast(less(values, threshold), float32),
        weights,
        metrics_collections,
        updates_collections,
        name or "percentage_below_threshold",
    )
