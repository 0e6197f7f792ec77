"""The losses of the heads: means over a batch, with and without weights.

Source: contrib/learn/python/learn/estimators/head.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.case import Assert
from tfteach.control.checks.weights import broadcast_weights
from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.losses.classification import hinge_loss as unweighted_hinge_loss
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.core.identity_reshape import expand_dims, reshape, squeeze
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.math.binary import squared_difference
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import less_equal
from tfteach.ops.math.division import truediv
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum
from tfteach.ops.nn.sigmoid_losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
)

# The mean over the batch, which is trained, and the weighted average, which is shown.
Losses = tuple[Tensor, Tensor]


def mean_loss(loss: Tensor, weights: Any) -> Losses:
    """The mean of `loss * weights` over the batch, and the weighted average."""
    with name_scope(None, "loss", (loss, weights)) as name:
        if weights is None:
            mean: Tensor = reduce_mean(loss, name=name)
            return mean, mean
        weights = broadcast_weights(weights, loss)
        weighted = multiply(loss, weights, name="weighted_loss")
        mean = reduce_mean(weighted, name=name)
        average = truediv(
            reduce_sum(weighted), reduce_sum(weights), name="weighted_average_loss"
        )
        return mean, average


def _as_column(labels: Any) -> Any:
    """Labels [batch] as a column."""
    return expand_dims(labels, 1) if labels.get_shape().ndims == 1 else labels


def mean_squared_loss(labels: Any, logits: Tensor, weights: Any) -> Losses:
    """The squared error."""
    with name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels = cast(_as_column(convert(labels)), float32)
        return mean_loss(squared_difference(logits, labels, name=name), weights)


def poisson_loss(labels: Any, logits: Tensor, weights: Any) -> Losses:
    """The negative logarithm of the Poisson likelihood."""
    with name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels = cast(_as_column(convert(labels)), float32)
        loss = log_poisson_loss(labels, logits, compute_full_loss=True, name=name)
        return mean_loss(loss, weights)


def log_loss_with_two_classes(labels: Any, logits: Tensor, weights: Any) -> Losses:
    """The cross entropy of a sigmoid, with labels 0 and 1."""
    with name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        labels = _as_column(cast(labels, float32))
        loss = sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name
        )
        return mean_loss(loss, weights)


def sigmoid_cross_entropy_loss(labels: Any, logits: Tensor, weights: Any) -> Losses:
    """The cross entropy of one sigmoid for each class."""
    with name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        loss = sigmoid_cross_entropy_with_logits(
            labels=cast(labels, float32), logits=logits, name=name
        )
        return mean_loss(loss, weights)


def softmax_cross_entropy_loss(labels: Any, logits: Tensor, weights: Any) -> Losses:
    """The cross entropy of a softmax, with labels of class ids.

    Raises:
      ValueError: the labels are no integers.
    """
    with name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = convert(labels)
        if not labels.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {labels.dtype}."
            )
        is_column = labels.get_shape().ndims == 2
        if is_column:
            labels = squeeze(labels, axis=(1,))
        loss = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name
        )
        if is_column:
            # The weights are a column, too.
            loss = expand_dims(loss, 1)
        return mean_loss(loss, weights)


def hinge_loss(labels: Any, logits: Tensor, weights: Any) -> Losses:
    """`max(0, 1 - y * logits)`, in which y is 1 or -1, the label 1 or 0."""
    with name_scope(None, "hinge_loss", (logits, labels)) as name:
        with control_dependencies((_at_most_a_column(labels),)):
            labels = reshape(labels, (-1, 1))
        loss: Any = unweighted_hinge_loss(
            labels, logits, scope=name, reduction=Reduction.NONE
        )
        return mean_loss(loss, weights)


def _at_most_a_column(labels: Any) -> Any:
    message = "labels shape should be either [batch_size, 1] or [batch_size]"
    return Assert(less_equal(rank(labels), 2), (message,))
