"""Losses of predictions and logits, which precede the labels.

Source: contrib/losses/python/losses/loss_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import AxisLike, TensorLike
from tfteach.lib.contrib.losses.weighted import (
    add_loss,
    compute_weighted_loss,
    present,
    public,
    scaled,
)
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import squared_difference, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import abs as abs_
from tfteach.ops.math.division import div_no_nan
from tfteach.ops.math.exponential import log
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import square
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.cross_entropy import softmax_cross_entropy_with_logits
from tfteach.ops.nn.sigmoid_losses import sigmoid_cross_entropy_with_logits


@contextmanager
def _floats(
    scope: Any, default: str, predictions: Any, labels: Any, weights: Any
) -> Iterator[tuple[str, Any, Any]]:
    """A loss's name scope, and predictions and labels as float32 of one shape."""
    with name_scope(scope, default, [predictions, labels, weights]) as opened:
        predictions.shape.assert_is_compatible_with(labels.shape)
        yield opened, cast(predictions, float32), cast(labels, float32)


@public("absolute_difference")
def absolute_difference(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """`tf.losses.absolute_difference` with weights of the leading axes."""
    with _floats(scope, "absolute_difference", predictions, labels, weights) as found:
        scope, predictions, labels = found
        losses = abs_(subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope=scope)


@public("mean_squared_error")
def mean_squared_error(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """`tf.losses.mean_squared_error` with weights of the leading axes."""
    with _floats(scope, "mean_squared_error", predictions, labels, weights) as found:
        scope, predictions, labels = found
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope=scope)


@public("log_loss")
def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """`tf.losses.log_loss` with weights of the leading axes."""
    with _floats(scope, "log_loss", predictions, labels, weights) as found:
        scope, predictions, labels = found
        positive = -multiply(labels, log(predictions + epsilon))
        losses = positive - multiply((1 - labels), log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope=scope)


@public("cosine_distance")
def cosine_distance(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    axis: AxisLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: AxisLike | None = None,
) -> Tensor:
    """`tf.losses.cosine_distance` with weights of the leading axes.

    Raises:
      ValueError: no axis is given, or the shapes do not match.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with _floats(scope, "cosine_distance_loss", predictions, labels, weights) as found:
        scope, predictions, labels = found
        losses = 1 - reduce_sum(multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=scope)


@public("mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """The mean squared difference of pairwise differences within each example.

    Raises:
      ValueError: the shapes do not match, or a rank is unknown.
    """
    default = "mean_pairwise_squared_error"
    with _floats(scope, default, predictions, labels, weights) as found:
        scope, predictions, labels = found
        weights = cast(convert(weights), float32)
        differences = subtract(predictions, labels)
        for name, tensor in (("diffs", differences), ("weights", weights)):
            if tensor.shape.ndims is None:
                raise ValueError(f"{name}.get_shape().ndims cannot be None")
        axes = list(range(1, differences.shape.ndims or 0))
        squares = reduce_sum(square(differences), axis=axes)
        count = present(differences, weights, per_batch=True)
        of_squares = 2.0 * div_no_nan(squares, count, name="value")
        total = reduce_sum(differences, axis=axes)
        of_sums = 2.0 * div_no_nan(square(total), square(count), name="value")
        loss = scaled(of_squares - of_sums, weights)
        loss = where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")
        add_loss(loss)
        return loss


@public("hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """`max(0, 1 - (2 * labels - 1) * logits)`, element-wise, added to no collection."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = cast(labels, float32)
        one = ones_like(labels)
        signs = subtract(2 * labels, one)
        return relu(subtract(one, multiply(signs, logits)))


@public("sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: TensorLike = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
) -> Tensor:
    """`tf.losses.sigmoid_cross_entropy` with weights of the leading axes."""
    values = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", values) as scope:
        logits.shape.assert_is_compatible_with(multi_class_labels.shape)
        labels = cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)


@public("softmax_cross_entropy")
def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: TensorLike = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
) -> Tensor:
    """`tf.losses.softmax_cross_entropy` with weights of the leading axes."""
    values = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", values) as scope:
        logits.shape.assert_is_compatible_with(onehot_labels.shape)
        labels = cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = cast(shape(labels)[1], logits.dtype)
            negatives = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + negatives
        losses = softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)


@public("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    logits: TensorLike,
    labels: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Tensor:
    """`tf.losses.sparse_softmax_cross_entropy`, with weights of the leading axes."""
    values = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as scope:
        labels = reshape(labels, shape=[shape(labels)[0]])
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)
