"""Weighted element-wise losses, reduced to a scalar; the collection of losses.

Source: python/ops/losses/losses_impl.py, python/ops/losses/util.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.weights import assert_broadcastable, broadcast_weights
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import float32
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.replicas import record_loss_reduction
from tfteach.framework.scope import (
    add_to_collection,
    control_dependencies,
    get_collection,
    name_scope,
)
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.shape_ops import rank, size
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.division import div_no_nan
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.range import range as range_
from tfteach.ops.math.reduce_functions import reduce_sum


@export("losses.Reduction")
class Reduction:
    """Reduction of a loss over its elements.

    Attributes:
      NONE: no reduction: the element-wise weighted losses.
      SUM: their sum.
      SUM_OVER_BATCH_SIZE: their sum divided by their number.
      SUM_BY_NONZERO_WEIGHTS, SUM_OVER_NONZERO_WEIGHTS: their sum divided by the number
        of nonzero weights; the default.
      MEAN: their sum divided by the sum of the weights.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raise ValueError if `key` is not a reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


@export("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The losses times their weights, reduced to a scalar.

    `sum(losses * weights) / count(weights != 0)` with the default reduction.

    Args:
      losses: float Tensor of any shape.
      weights: a scalar, or a Tensor of `losses`' rank with each size 1 or the same.
      scope: the name scope of the ops.
      loss_collection: the collection that the loss is added to, or None.
      reduction: one of `tf.losses.Reduction`.

    Returns:
      A scalar Tensor of `losses`' type, or one like `losses` for Reduction.NONE.

    Raises:
      ValueError: `weights` do not match, or `reduction` is unknown.

    Example:
      >>> tf.losses.compute_weighted_loss([1.0, 2.0, 6.0], [1.0, 1.0, 0.0])  # 1.5

    Source: python/ops/losses/losses_impl.py.
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = convert(losses)
        dtype = losses.dtype
        losses, weights = cast(losses, float32), cast(weights, float32)
        loss = multiply(losses, weights)
        if reduction != Reduction.NONE:
            loss = reduce_sum(loss)
        if reduction == Reduction.MEAN:
            loss = _safe_mean(loss, reduce_sum(ones_like(losses) * weights))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            loss = _safe_mean(loss, present_count(losses, weights))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = _safe_mean(loss, element_count(losses))
        loss = cast(loss, dtype)
        record_loss_reduction(reduction)
        add_loss(loss, loss_collection)
        return loss


def _safe_mean(total: Tensor, count: Tensor) -> Tensor:
    # TensorFlow has this sum of a sum, too.
    return div_no_nan(reduce_sum(total), count, name="value")


def element_count(losses: Tensor) -> Tensor:
    """The number of elements, in the losses' type."""
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def present_count(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """The number of losses with a nonzero weight, optionally per example.

    As in TF, in an eager program a scalar weight counts all losses in either case.
    """
    is_number = isinstance(weights, float)
    is_number |= isinstance(weights, EagerTensor) and not weights.ndim
    if is_number and weights:
        return element_count(losses)
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = cast(weights, float32)
        present = where(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            axes = range_(1, rank(present))
            return reduce_sum(present, axes, keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


# ---- the collection


@export("losses.add_loss")
def add_loss(loss: TensorLike, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to the collection of losses (to none if `loss_collection` is None).

    In an eager program losses are not collected: they would never be released.
    """
    if loss_collection and not get_default_graph().is_eager:
        add_to_collection(loss_collection, loss)


@export("losses.get_losses")
def get_losses(
    scope: str | None = None, loss_collection: str = GraphKeys.LOSSES
) -> list[Any]:
    """The losses of a collection whose names match `scope`."""
    return get_collection(loss_collection, scope)


@export("losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses of variables and layers, as a list of Tensors."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("losses.get_regularization_loss")
def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of the regularization losses, a scalar Tensor (0 if there are none)."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


@export("losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True,
    name: str = "total_loss",
    scope: str | None = None,
) -> Tensor:
    """The sum of all losses built so far, a scalar Tensor.

    Args:
      add_regularization_losses: whether to include regularization losses.
      name: the name of the sum.
      scope: include only losses whose names match.

    Returns:
      A scalar Tensor.

    Raises:
      ValueError: there is no loss.

    Example:
      >>> tf.losses.mean_squared_error([1.0], [3.0])
      >>> total = tf.losses.get_total_loss()  # 4.
    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return add_n(losses, name=name)
