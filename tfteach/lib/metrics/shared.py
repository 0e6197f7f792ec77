"""Shared parts of metrics: variables, matching of shapes, and collections.

Source: python/ops/metrics_impl.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from tfteach.control.branch import cond
from tfteach.control.checks.weights import remove_squeezable_dimensions
from tfteach.framework.convert import convert
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.replicas import current_mode
from tfteach.framework.scope import add_to_collections
from tfteach.framework.type_aliases import CollectionNames, DTypeLike
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.math.compare import equal
from tfteach.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from tfteach.variables.scope import get_variable_scope

_P = ParamSpec("_P")
_R = TypeVar("_R")


def in_graphs(name: str = "") -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: a metric that is refused where ops run eagerly.

    Args:
      name: its name in TensorFlow's message, if not that of the function.
    """

    def decorate(metric: Callable[_P, _R]) -> Callable[_P, _R]:
        shown = name or metric.__name__

        @wraps(metric)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            require_graph(
                f"tf.metrics.{shown} is not supported when eager execution is enabled."
            )
            return metric(*args, **kwargs)

        return checked

    return decorate


def metric_variable(shape: Any, dtype: DTypeLike, name: str) -> Any:
    """A local variable of zeros; the open scope decides whether it is a resource."""
    return Variable._make(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        name=name,
        use_resource=get_variable_scope().use_resource,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
    )


def recorded(
    value: Callable[[], Any],
    update: Callable[[], Any],
    metrics_collections: CollectionNames | None,
    updates_collections: CollectionNames | None,
) -> tuple[Any, Any]:
    """The pair that a metric returns, added to the collections.

    Args:
      value: computes the value from the metric's variables.  In replicas it is called
        once, in between, where these variables are the sums over all replicas.
      update: computes the update op of this replica, after the value.
      metrics_collections: collections that the value is added to.
      updates_collections: collections that the update op is added to.
    """

    def once(strategy: Any = None) -> Any:
        found = value()
        if metrics_collections:
            add_to_collections(metrics_collections, found)
        return found

    mode = current_mode()
    context = None if mode is None else mode.replica_context
    merged = once() if context is None else context.merge_call(once)
    updated = update()
    if updates_collections:
        add_to_collections(updates_collections, updated)
    return merged, updated


def fitted(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """The three as Tensors of matching ranks, adding or removing dimensions of 1.

    Raises:
      ValueError: the static shapes of predictions and labels differ.
    """
    predictions = convert(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    return predictions, labels, _fitted_weights(convert(weights), predictions)


def _fitted_weights(weights: Tensor, predictions: Tensor) -> Any:
    weights_rank = weights.shape.ndims
    if weights_rank == 0:
        return weights
    if predictions.shape.ndims is not None and weights_rank is not None:
        excess = weights_rank - predictions.shape.ndims
        if excess == 1:
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if excess == -1 else weights
    own_rank = rank(weights)
    difference = own_rank - rank(predictions)
    dims = weights.shape.dims
    may_squeeze = dims is None or dims[-1].is_compatible_with(1)

    def expanded() -> Any:
        return cond(
            equal(difference, -1),
            lambda: expand_dims(weights, [-1]),
            lambda: weights,
        )

    def adjusted() -> Any:
        return cond(
            equal(difference, 1),
            lambda: squeeze(weights, [-1]) if may_squeeze else weights,
            expanded,
        )

    return cond(equal(own_rank, 0), lambda: weights, adjusted)
