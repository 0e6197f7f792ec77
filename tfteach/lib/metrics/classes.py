"""Means over classes: accuracy per class, intersection over union.

Source: python/ops/metrics_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.confusion import confusion_matrix
from tfteach.framework.dtypes import float32, float64, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.metrics.shared import in_graphs, metric_variable, recorded
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones, ones_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import size
from tfteach.ops.linalg.matrix_diag import diag_part
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, greater, not_equal
from tfteach.ops.math.division import div, div_no_nan
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum
from tfteach.ops.state.ref_variables import assign_add
from tfteach.ops.state.scatter_functions import scatter_add
from tfteach.variables.scope import variable_scope

Pair = tuple[Tensor, Tensor]


def _flat(tensor: Any) -> Tensor:
    return reshape(tensor, [-1]) if tensor.shape.ndims > 1 else tensor


@export("metrics.mean_per_class_accuracy")
@in_graphs()
def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The mean over the classes of the accuracy within each class.

    Args:
      labels: int Tensor of class indices, of rank 1 or more.
      predictions: int Tensor of the same shape.
      num_classes: the number of classes.
      weights: Tensor of the same shape, or None.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
      name: the variable scope of its two local variables.

    Returns:
      The mean so far, a scalar float32 Tensor, and the op that adds this batch, which
      returns the accuracy of each class.

    Raises:
      ValueError: the shapes differ.
    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(cast(labels, int64))
        predictions = _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], float32, "total")
        count = metric_variable([num_classes], float32, "count")
        number = ones([size(labels)], float32)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        is_correct = cast(equal(predictions, labels), float32)
        if weights is not None:
            weights = cast(_flat(weights), float32)
            is_correct *= weights
            number *= weights
        new_total = scatter_add(total, labels, number)
        new_count = scatter_add(count, labels, is_correct)

        def mean_accuracy() -> Tensor:
            per_class = div_no_nan(count, maximum(total, 0))
            return reduce_mean(per_class, name="mean_accuracy")

        return recorded(
            mean_accuracy,
            lambda: div_no_nan(new_count, maximum(new_total, 0), name="update_op"),
            metrics_collections,
            updates_collections,
        )


@export("metrics.mean_iou")
@in_graphs()
def mean_iou(
    labels: Tensor,
    predictions: Tensor,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The mean over the classes of intersection over union.

    `true positives / (true positives + false positives + false negatives)`
    For the arguments see `tf.metrics.mean_per_class_accuracy`.

    Returns:
      The mean so far, a scalar float32 Tensor, and the op that adds this batch, which
      returns the confusion matrix.
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.shape.assert_is_compatible_with(labels.shape)
        sizes = [num_classes, num_classes]
        total = metric_variable(sizes, float64, "total_confusion_matrix")
        predictions, labels = cast(predictions, int64), cast(labels, int64)
        classes = cast(num_classes, int64)
        predictions, labels = _flat(predictions), _flat(labels)
        weights = None if weights is None else _flat(weights)
        matrix = confusion_matrix(
            labels, predictions, classes, dtype=float64, weights=weights
        )
        update = assign_add(total, matrix)
        return recorded(
            lambda: _mean_quotient(total),
            lambda: update,
            metrics_collections,
            updates_collections,
        )


def _mean_quotient(matrix: Any) -> Tensor:
    """The mean intersection over union of the classes that occur."""
    rows = cast(reduce_sum(matrix, 0), float32)
    columns = cast(reduce_sum(matrix, 1), float32)
    diagonal = cast(diag_part(matrix), float32)
    unions = rows + columns - diagonal
    count = reduce_sum(cast(not_equal(unions, 0), float32))
    unions = where(greater(unions, 0), unions, ones_like(unions))
    quotients = div(diagonal, unions)
    is_any = greater(count, 0)
    return where(is_any, reduce_sum(quotients, name="mean_iou") / count, 0)
