"""Precision and recall of the k best predictions.

Labels are class indices: int64 [..., labels], or [...] for one each; predictions are
the scores of all classes, [..., classes].
Source: python/ops/metrics_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import cond
from tfteach.control.checks.weights import assert_broadcastable, broadcast_weights
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import float64, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.metrics.shared import in_graphs, metric_variable, recorded
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice as slice_
from tfteach.ops.array.tile import tile
from tfteach.ops.array.top_k import top_k
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.fill import fill, ones_like, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import rank, shape, size
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.math.binary import add, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, greater_equal
from tfteach.ops.math.cumsum import cumsum
from tfteach.ops.math.division import div, div_no_nan
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_max, reduce_sum
from tfteach.ops.math.reduce_ops import reduced_shape
from tfteach.ops.sparse.set_operations import set_difference, set_intersection, set_size
from tfteach.ops.sparse.sparse_concat_split import sparse_concat
from tfteach.ops.sparse.sparse_functions import sparse_retain
from tfteach.ops.sparse.sparse_shape import sparse_reshape
from tfteach.ops.state.ref_variables import assign_add

Pair = tuple[Tensor, Tensor]


def _name_at(name: str, k: int | None, class_id: int | None = None) -> str:
    name += "_at_k" if k is None else f"_at_{k:d}"
    return name if class_id is None else f"{name}_class{class_id:d}"


def _with_label_axis(labels: Any, predictions: Any) -> Any:
    """Labels of the predictions' rank: single labels get a last axis of size 1."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(
                equal(rank(predictions), size(labels.dense_shape) + 1),
                lambda: sparse_reshape(
                    labels, shape=concat((labels.dense_shape, (1,)), 0), name=scope
                ),
                lambda: labels,
            )
        ranks = labels.shape.ndims, predictions.shape.ndims
        if ranks[0] is not None and ranks[1] is not None:
            if ranks[1] == ranks[0]:
                return labels
            if ranks[1] == ranks[0] + 1:
                return expand_dims(labels, -1, name=scope)
            raise ValueError(
                f"Unexpected labels shape {labels.shape} for predictions shape "
                f"{predictions.shape}."
            )
        return cond(
            equal(rank(predictions), rank(labels) + 1),
            lambda: expand_dims(labels, -1, name=scope),
            lambda: labels,
        )


def _only(ids: Any, class_id: int) -> SparseTensor:
    """The entries of each row that equal a class index."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, equal(ids.values, class_id))
    sizes = shape(ids, out_type=int64)
    last = size(sizes) - 1
    wanted = fill(reduced_shape(sizes, reshape(last, [1])), cast(class_id, int64))
    found = set_intersection(wanted, ids)
    return SparseTensor(found.indices, found.values, sizes)


_SETS = {
    "true_positive": lambda ids, labels: set_intersection(ids, labels),
    "false_positive": lambda ids, labels: set_difference(ids, labels),
    "false_negative": lambda ids, labels: set_difference(ids, labels, aminusb=False),
}


def _hits(
    kind: str,
    labels: Any,
    ids: Any,
    class_id: int | None = None,
    weights: Any = None,
    name: str | None = None,
) -> Tensor:
    """Per row, the number of predictions (or labels) of a kind, as float64."""
    with name_scope(name, kind + "s", (ids, labels, weights)):
        if class_id is not None:
            labels, ids = _only(labels, class_id), _only(ids, class_id)
        found = cast(set_size(_SETS[kind](ids, labels)), float64)
        if weights is not None:
            with control_dependencies([assert_broadcastable(weights, found)]):
                found = multiply(found, cast(weights, float64))
        return found


def _counted(
    kind: str, labels: Any, ids: Any, k: Any, class_id: Any, weights: Any
) -> Pair:
    """The total of `_hits` so far, and the op that adds this batch."""
    name = _name_at(kind, k, class_id)
    with name_scope(None, name, (ids, labels, weights)) as scope:
        found = _hits(kind, labels, ids, class_id, weights)
        total = cast(reduce_sum(found), float64)
        variable = metric_variable([], float64, scope)
        return variable, assign_add(variable, total, name="update")


def _share(
    what: str,
    other: str,
    labels: Any,
    ids: Any,
    k: Any,
    class_id: Any,
    weights: Any,
    collections: tuple[Any, Any],
    name: str | None,
) -> Pair:
    """true positives / (true positives + another kind)"""
    default = _name_at(what, k, class_id)
    with name_scope(name, default, (ids, labels, weights)) as scope:
        labels = _with_label_axis(labels, ids)
        ids = cast(ids, int64)
        hits = _counted("true_positive", labels, ids, k, class_id, weights)
        misses = _counted(other, labels, ids, k, class_id, weights)
        return recorded(
            lambda: div(hits[0], add(hits[0], misses[0]), name=scope),
            lambda: div(hits[1], add(hits[1], misses[1]), name="update"),
            *collections,
        )


@export("metrics.precision_at_top_k")
@in_graphs()
def precision_at_top_k(
    labels: TensorLike | SparseTensor,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.precision_at_k` for given top predictions.

    Args:
      predictions_idx: int64 Tensor [..., k], the class indices of the top predictions.
      k: their number, used only in the name.
      others: see `tf.metrics.precision_at_k`.
    """
    collections = metrics_collections, updates_collections
    return _share(
        "precision", "false_positive", labels, predictions_idx, k, class_id, weights,
        collections, name,
    )  # fmt: skip


@export("metrics.recall_at_top_k")
@in_graphs()
def recall_at_top_k(
    labels: TensorLike,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """`tf.metrics.recall_at_k` for given top predictions.

    For the arguments see `tf.metrics.precision_at_top_k`.
    """
    collections = metrics_collections, updates_collections
    return _share(
        "recall", "false_negative", labels, predictions_idx, k, class_id, weights,
        collections, name,
    )  # fmt: skip


@export("metrics.precision_at_k", "metrics.sparse_precision_at_k")
@in_graphs("sparse_precision_at_k")
def precision_at_k(
    labels: TensorLike | SparseTensor,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The fraction of the top k predictions that are labels.

    Args:
      labels: int64 Tensor or SparseTensor [..., labels] of class indices, or [...] for
        one each; -1 means no label.
      predictions: float Tensor [..., classes].
      k: the number of predictions considered per example.
      class_id: count only this class.
      weights: a scalar, or a Tensor [...] with each size 1 or the same.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
      name: the name scope of its two local variables.

    Returns:
      The fraction so far, a scalar float64 Tensor (NaN before any), and the op that
      adds this batch.

    Raises:
      ValueError: the shapes do not match.
    """
    scope_name = _name_at("precision", k, class_id)
    with name_scope(name, scope_name, (predictions, labels, weights)) as scope:
        _, ids = top_k(predictions, k)
        return precision_at_top_k(
            labels, ids, k, class_id, weights, metrics_collections,
            updates_collections, scope,
        )  # fmt: skip


@export("metrics.recall_at_k")
@in_graphs()
def recall_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The fraction of the labels that are among the top k predictions.

    For the arguments see `tf.metrics.precision_at_k`.
    """
    scope_name = _name_at("recall", k, class_id)
    with name_scope(name, scope_name, (predictions, labels, weights)) as scope:
        _, ids = top_k(predictions, k)
        return recall_at_top_k(
            labels, ids, k, class_id, weights, metrics_collections,
            updates_collections, scope,
        )  # fmt: skip


# ---- average precision


@export("metrics.average_precision_at_k", "metrics.sparse_average_precision_at_k")
@in_graphs("sparse_average_precision_at_k")
def average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: CollectionNames | None = None,
    updates_collections: CollectionNames | None = None,
    name: str | None = None,
) -> Pair:
    """The mean over the examples of the average precision of their top k predictions.

    For an example it is the sum of the precisions at 1, 2 ... k, taken at each rank
    that is a label, divided by the number of labels (at most k).
    For the arguments see `tf.metrics.precision_at_k`.

    Raises:
      ValueError: `k` is below 1, or shapes do not match.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    scope_name = _name_at("average_precision", k)
    with name_scope(name, scope_name, (predictions, labels, weights)) as scope:
        _, ids = top_k(predictions, k)
        classes = cast(shape(predictions)[-1], int64)
        labels = _without_unknown(labels, classes)
        return _mean_of_averages(
            labels, ids, weights, (metrics_collections, updates_collections), scope
        )


def _without_unknown(labels: Any, classes: Any) -> Any:
    """The labels, with -1 for invalid classes."""
    is_sparse = isinstance(labels, SparseTensor)

    def without() -> Any:
        values = labels.values if is_sparse else labels
        is_other = greater_equal(values, classes)
        values = where_v2(is_other, -1 * ones_like(values), values)
        if not is_sparse:
            return values
        return SparseTensor(labels.indices, values, labels.dense_shape)

    most = reduce_max(labels.values if is_sparse else labels)
    return cond(greater_equal(most, classes), without, lambda: labels)


def _mean_of_averages(
    labels: Any, ids: Any, weights: Any, collections: tuple[Any, Any], name: str
) -> Pair:
    values = (ids, labels, weights)
    with name_scope(name, "average_precision_at_top_k", values) as scope:
        average = _average_precision(labels, ids)
        if weights is not None:
            weights = broadcast_weights(cast(weights, float64), average)
            average = multiply(average, weights)
        with name_scope(None, "max", (average,)) as max_scope:
            most = metric_variable([], float64, max_scope)
            if weights is None:
                batch_most = cast(size(average, name="batch_max"), float64)
            else:
                batch_most = reduce_sum(weights, name="batch_max")
            new_most = assign_add(most, batch_most, name="update")
        with name_scope(None, "total", (average,)) as total_scope:
            total = metric_variable([], float64, total_scope)
            batch_total = reduce_sum(average, name="batch_total")
            new_total = assign_add(total, batch_total, name="update")
        return recorded(
            lambda: div_no_nan(total, most, name="mean"),
            lambda: div_no_nan(new_total, new_most, name=scope),
            *collections,
        )


def _average_precision(labels: Any, ids: Any) -> Tensor:
    with name_scope(None, "average_precision", (ids, labels)) as scope:
        ids = cast(ids, int64, name="predictions_idx")
        if ids.shape.ndims == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = dimension_value(ids.shape[-1])
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = _with_label_axis(labels, ids)
        each = expand_dims(ids, -1, name="predictions_idx_per_k")
        hits = _hits("true_positive", _repeated(labels, k), each, name="relevant_per_k")
        found = cumsum(hits, axis=-1, name="tp_per_k")
        seen = cumsum(ones_like(hits), axis=-1, name="retrieved_per_k")
        precision = div(
            cast(found, float64), cast(seen, float64), name="precision_per_k"
        )
        relevant = multiply(
            precision, cast(hits, float64), name="relevant_precision_per_k"
        )
        total = reduce_sum(relevant, axis=(-1,), name="precision_sum")
        return div(total, cast(_label_count(labels, k), float64), name=scope)


def _repeated(labels: Any, k: int) -> Any:
    """The labels repeated for each of the k ranks, along a new axis before the last."""
    with name_scope("labels_per_k", "expand_and_tile", (labels, k, -1)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return _repeated_sparse(labels, k, scope)
        wide = expand_dims(labels, -2, name="expand")
        if k == 1:
            return wide
        ones = ones_like(shape(labels))
        multiples = concat((ones[:-1], (k,), ones[-1:]), 0, name="multiples")
        return tile(wide, multiples, name=scope)


def _repeated_sparse(labels: SparseTensor, k: int, scope: str) -> SparseTensor:
    sizes = labels.dense_shape
    last = reshape(size(sizes) + -1, [1])
    wide = concat(
        (slice_(sizes, [0], last), [1], slice_(sizes, last, [-1])),
        0,
        name="expanded_shape",
    )
    expanded = sparse_reshape(labels, shape=wide, name="expand")
    if k == 1:
        return expanded
    return sparse_concat(-2, [expanded] * k, name=scope)


def _label_count(labels: Any, k: int) -> Tensor:
    with name_scope(None, "num_relevant", (labels,)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return minimum(set_size(labels), k, name=scope)
        is_label = greater_equal(labels, 0)
        ones = where_v2(is_label, ones_like(labels), zeros_like(labels))
        return minimum(reduce_sum(ones, axis=-1), k, name=scope)
