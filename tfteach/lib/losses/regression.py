"""Regression losses: squared, absolute, Huber, cosine, pairwise.

In all of them `labels` and `predictions` are numeric Tensors of one shape, and weights,
scope, loss_collection and reduction are those of `tf.losses.compute_weighted_loss`.
Source: python/ops/losses/losses_impl.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.control.checks.weights import assert_broadcastable
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import AxisLike, TensorLike
from tfteach.lib.losses.weighted import (
    Reduction,
    add_loss,
    compute_weighted_loss,
    present_count,
)
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.math.binary import add, maximum, minimum, squared_difference, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import abs as abs_
from tfteach.ops.math.division import div_no_nan
from tfteach.ops.math.exponential import log
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.range import range as range_
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import square


def require(**given: Any) -> None:
    """Raise ValueError for an argument that is None."""
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


@contextmanager
def _floats(
    scope: str | None, default: str, labels: Any, predictions: Any, weights: Any
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """A loss's name scope, and its labels and predictions as float32 of one shape."""
    require(labels=labels, predictions=predictions)
    with name_scope(scope, default, [predictions, labels, weights]) as scope:
        predictions, labels = cast(predictions, float32), cast(labels, float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        yield scope, labels, predictions


@export("losses.absolute_difference")
def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean of `|predictions - labels|`; see `tf.losses.mean_squared_error`."""
    with _floats(scope, "absolute_difference", labels, predictions, weights) as found:
        scope, labels, predictions = found
        losses = abs_(subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.cosine_distance")
def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: AxisLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: AxisLike | None = None,
) -> Tensor:
    """The mean of `1 - sum(predictions * labels, axis)`, for unit vectors.

    Args:
      labels, predictions: numeric Tensors of one shape, of length 1 along `axis`.
      axis: an int, the axis of the vectors.
      weights, scope, loss_collection, reduction: see
        `tf.losses.compute_weighted_loss`; the losses have size 1 along `axis`.
      dim: deprecated name of `axis`.

    Returns:
      A scalar float32 Tensor.

    Raises:
      ValueError: no axis is given, or the shapes do not match.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with _floats(scope, "cosine_distance_loss", labels, predictions, weights) as found:
        scope, labels, predictions = found
        products = multiply(predictions, labels)
        losses = 1 - reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.huber_loss")
def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean of a loss that is quadratic near 0 and linear beyond `delta`.

    `e ** 2 / 2` where `e = |predictions - labels| <= delta`, else
    `delta * (e - delta / 2)`.  For the arguments see `tf.losses.mean_squared_error`.

    Example:
      >>> tf.losses.huber_loss([0.0, 0.0], [0.5, 3.0])  # (0.125 + 2.5) / 2
    """
    with _floats(scope, "huber_loss", labels, predictions, weights) as found:
        scope, labels, predictions = found
        error = abs_(subtract(predictions, labels))
        quadratic = minimum(error, delta)
        linear = subtract(error, quadratic)
        half = convert(0.5, dtype=quadratic.dtype)
        losses = add(
            multiply(half, multiply(quadratic, quadratic)), multiply(delta, linear)
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.log_loss")
def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean cross entropy of probabilities.

    `-labels * log(predictions + epsilon)
    - (1 - labels) * log(1 - predictions + epsilon)`

    For the arguments see `tf.losses.mean_squared_error`; `epsilon` keeps the logarithms
    finite.
    """
    with _floats(scope, "log_loss", labels, predictions, weights) as found:
        scope, labels, predictions = found
        # The order of TensorFlow's nodes.
        positive = -multiply(labels, log(predictions + epsilon))
        losses = positive - multiply((1 - labels), log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.mean_squared_error")
def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean of `(predictions - labels) ** 2`.

    Args:
      labels: numeric Tensor, the true values.
      predictions: numeric Tensor of the same shape.
      weights: a scalar, or a Tensor of `labels`' rank with each size 1 or the same.
      scope: the name scope of the ops.
      loss_collection: the collection that the loss is added to, or None.
      reduction: one of `tf.losses.Reduction`.

    Returns:
      A scalar float32 Tensor; one of `labels`' shape for Reduction.NONE.

    Raises:
      ValueError: labels or predictions are None, or shapes do not match.

    Example:
      >>> tf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])  # 2.
    """
    with _floats(scope, "mean_squared_error", labels, predictions, weights) as found:
        scope, labels, predictions = found
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The mean squared difference of pairwise differences within each example.

    With the errors `e = predictions - labels` of an example's n elements:
    `sum over i < j of (e[i] - e[j]) ** 2`, divided by the number of pairs.

    Args:
      labels: numeric Tensor [batch, ...].
      predictions: numeric Tensor of the same shape.
      weights: a scalar, or a Tensor of `labels`' rank with each size 1 or the same.
      scope: the name scope of the ops.
      loss_collection: the collection that the loss is added to, or None.

    Returns:
      A scalar float32 Tensor.

    Raises:
      ValueError: labels or predictions are None, or shapes do not match.
    """
    require(labels=labels, predictions=predictions)
    values = [predictions, labels, weights]
    with name_scope(scope, "mean_pairwise_squared_error", values):
        weights, labels = cast(weights, float32), cast(labels, float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions = cast(predictions, float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            differences = subtract(predictions, labels)
            axes = range_(1, rank(differences))
            squares = reduce_sum(square(differences), axis=axes, keepdims=True)
            count = present_count(differences, weights, per_batch=True)
            of_squares = 2.0 * div_no_nan(squares, maximum(count - 1, 0), name="value")
            total = reduce_sum(differences, axis=axes, keepdims=True)
            of_sums = 2.0 * div_no_nan(
                square(total), maximum(multiply(count, count - 1), 0), name="value"
            )
            loss = reduce_sum(multiply(of_squares - of_sums, weights))
            loss = where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")
            add_loss(loss, loss_collection)
            return loss
