"""Counts of true and false positives and negatives; precision and recall.

Source: python/ops/metrics_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.ranks import assert_rank_in
from tfteach.control.checks.types import assert_type
from tfteach.framework.dtypes import bool_, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.metrics.shared import fitted, in_graphs, metric_variable, recorded
from tfteach.ops.array.where_select import where
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, greater, logical_and
from tfteach.ops.math.division import div
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.scope import variable_scope

Pair = tuple[Tensor, Tensor]
_PARTS = ("value", "update_op")


def _truths(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Labels and predictions as bools of one shape, and the matching weights."""
    return fitted(cast(predictions, bool_), cast(labels, bool_), weights)


def _count_pairs(
    name: str | None,
    default: str,
    wanted: tuple[bool, bool],
    labels: Any,
    predictions: Any,
    weights: Any,
    collections: tuple[Any, Any],
) -> Pair:
    """The (weighted) number of examples with this pair of label and prediction."""
    with variable_scope(name, default, (predictions, labels, weights)):
        predictions, labels, weights = _truths(labels, predictions, weights)
        first, second = equal(labels, wanted[0]), equal(predictions, wanted[1])
        values = logical_and(first, second)
        assert_type(values, bool_)
        count = metric_variable([], float32, "count")
        values = cast(values, float32)
        if weights is not None:
            check = assert_rank_in(weights, (0, rank(values)))
            with control_dependencies([check]):
                values = multiply(values, cast(weights, float32))
        return recorded(
            lambda: identity(count),
            lambda: assign_add(count, reduce_sum(values)),
            *collections,
        )


@export("metrics.true_positives")
@in_graphs()
def true_positives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of true positives.

    Args:
      labels: Tensor, cast to bool.
      predictions: Tensor of the same shape, cast to bool.
      weights: a scalar, or a Tensor of `labels`' rank that broadcasts.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
      name: the variable scope of its local variable.

    Returns:
      The count so far, a scalar float32 Tensor, and the op that adds this batch.

    Raises:
      ValueError: the shapes differ.

    Example:
      >>> value, update = tf.metrics.true_positives([1, 1, 0], [1, 0, 1])  # 1.
    """
    return _count_pairs(
        name,
        "true_positives",
        (True, True),
        labels,
        predictions,
        weights,
        (metrics_collections, updates_collections),
    )


@export("metrics.true_negatives")
@in_graphs()
def true_negatives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of true negatives.

    See `tf.metrics.true_positives`.
    """
    return _count_pairs(
        name,
        "true_negatives",
        (False, False),
        labels,
        predictions,
        weights,
        (metrics_collections, updates_collections),
    )


@export("metrics.false_positives")
@in_graphs()
def false_positives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of false positives.

    See `tf.metrics.true_positives`.
    """
    return _count_pairs(
        name,
        "false_positives",
        (False, True),
        labels,
        predictions,
        weights,
        (metrics_collections, updates_collections),
    )


@export("metrics.false_negatives")
@in_graphs()
def false_negatives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The number of false negatives.

    See `tf.metrics.true_positives`.
    """
    return _count_pairs(
        name,
        "false_negatives",
        (True, False),
        labels,
        predictions,
        weights,
        (metrics_collections, updates_collections),
    )


def _share(hits: Any, misses: Any, name: str) -> Any:
    """The share of hits; 0 if there is neither."""
    return where(greater(hits + misses, 0), div(hits, hits + misses), 0, name)


@export("metrics.precision")
@in_graphs()
def precision(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The fraction of positive predictions that are correct.

    `true positives / (true positives + false positives)`, 0 if there are none.
    For the arguments see `tf.metrics.true_positives`.
    """
    with variable_scope(name, "precision", (predictions, labels, weights)):
        predictions, labels, weights = _truths(labels, predictions, weights)
        hits = true_positives(labels, predictions, weights)
        misses = false_positives(labels, predictions, weights)
        return recorded(
            lambda: _share(hits[0], misses[0], "value"),
            lambda: _share(hits[1], misses[1], "update_op"),
            metrics_collections,
            updates_collections,
        )


@export("metrics.recall")
@in_graphs()
def recall(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The fraction of positive labels that are predicted.

    `true positives / (true positives + false negatives)`, 0 if there are none.
    For the arguments see `tf.metrics.true_positives`.
    """
    with variable_scope(name, "recall", (predictions, labels, weights)):
        predictions, labels, weights = _truths(labels, predictions, weights)
        hits = true_positives(labels, predictions, weights)
        misses = false_negatives(labels, predictions, weights)
        return recorded(
            lambda: _share(hits[0], misses[0], "value"),
            lambda: _share(hits[1], misses[1], "update_op"),
            metrics_collections,
            updates_collections,
        )
