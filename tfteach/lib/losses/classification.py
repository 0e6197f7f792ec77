"""Losses of logits: cross entropy and hinge.

Weights, scope, loss_collection and reduction are those of
`tf.losses.compute_weighted_loss`.
Source: python/ops/losses/losses_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.weights import (
    may_end_in_one,
    remove_squeezable_dimensions,
    squeeze_if,
)
from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.losses.regression import require
from tfteach.lib.losses.weighted import Reduction, compute_weighted_loss
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import squeeze, stop_gradient
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.math.binary import subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.multiply import multiply
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.cross_entropy import softmax_cross_entropy_with_logits_v2
from tfteach.ops.nn.sigmoid_losses import sigmoid_cross_entropy_with_logits


@export("losses.hinge_loss")
def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean hinge loss `max(0, 1 - (2 * labels - 1) * logits)`.

    Args:
      labels: numeric Tensor of zeros and ones.
      logits: numeric Tensor of the same shape.
      weights, scope, loss_collection, reduction: see
        `tf.losses.compute_weighted_loss`.

    Returns:
      A scalar float32 Tensor.

    Raises:
      ValueError: labels or logits are None, or shapes do not match.
    """
    require(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        logits, labels = cast(logits, float32), cast(labels, float32)
        logits.shape.assert_is_compatible_with(labels.shape)
        ones = ones_like(labels)
        signs = subtract(2 * labels, ones)
        losses = relu(subtract(ones, multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean of `tf.nn.sigmoid_cross_entropy_with_logits`: independent classes.

    Args:
      multi_class_labels: Tensor [batch, classes] of zeros and ones.
      logits: float Tensor of the same shape.
      weights, scope, loss_collection, reduction: see
        `tf.losses.compute_weighted_loss`.
      label_smoothing: s > 0 uses the labels `labels * (1 - s) + s / 2`.

    Returns:
      A scalar Tensor of `logits`' type.

    Raises:
      ValueError: labels or logits are None, or shapes do not match.
    """
    require(multi_class_labels=multi_class_labels, logits=logits)
    values = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", values) as scope:
        logits = convert(logits)
        labels = cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.softmax_cross_entropy")
def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean of `tf.nn.softmax_cross_entropy_with_logits_v2`: one class of several.

    No gradient flows into the labels.

    Args:
      onehot_labels: numeric Tensor [batch, classes], a distribution per example.
      logits: float Tensor of the same shape.
      weights: a scalar, or a Tensor [batch].
      label_smoothing: s > 0 uses the labels `labels * (1 - s) + s / classes`.
      scope, loss_collection, reduction: see `tf.losses.compute_weighted_loss`.

    Returns:
      A scalar Tensor of `logits`' type.

    Raises:
      ValueError: labels or logits are None, or shapes do not match.

    Example:
      >>> tf.losses.softmax_cross_entropy([[0, 1]], [[0.0, 0.0]])  # log(2)
    """
    require(onehot_labels=onehot_labels, logits=logits)
    values = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", values) as scope:
        logits = convert(logits)
        labels = cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = cast(shape(labels)[-1], logits.dtype)
            positives = 1.0 - label_smoothing
            negatives = label_smoothing / classes
            labels = labels * positives + negatives
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The mean of `tf.nn.sparse_softmax_cross_entropy_with_logits`.

    Args:
      labels: int Tensor [batch] or [batch, 1], each in [0, classes).
      logits: float Tensor [batch, classes].
      weights: a scalar, or a Tensor [batch] or [batch, 1].
      scope, loss_collection, reduction: see `tf.losses.compute_weighted_loss`.

    Returns:
      A scalar Tensor of `logits`' type.

    Raises:
      ValueError: an argument is None, or shapes do not match.

    Example:
      >>> tf.losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]])  # log(2)
    """
    require(labels=labels, logits=logits)
    values = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, 1)
        if weights is not None:
            weights = _squeezed_weights(convert(weights), labels)
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _squeezed_weights(weights: Tensor, labels: Tensor) -> Any:
    """The weights without a last dimension of size 1 that the labels lack."""
    ranks = weights.shape.ndims, labels.shape.ndims
    if ranks[0] is not None and ranks[1] is not None:
        return squeeze(weights, [-1]) if ranks[0] - ranks[1] == 1 else weights
    difference = rank(weights) - rank(labels)
    if ranks[0] != 0 and may_end_in_one(weights):
        return squeeze_if(1, difference, weights)
    return weights
