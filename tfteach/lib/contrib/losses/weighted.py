"""Losses with weights of the leading axes; the collection of losses.

Source: contrib/losses/python/losses/loss_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import T, TensorLike
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.losses import weighted as losses_
from tfteach.ops.array.slicing import slice as slice_
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape, squeeze
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, not_equal
from tfteach.ops.math.division import div, div_no_nan
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_prod, reduce_sum


def public(name: str) -> Callable[[T], T]:
    """Decorator: exports to contrib.losses and contrib.slim.losses."""
    return export(f"contrib.losses.{name}", f"contrib.slim.losses.{name}")


def scaled(losses: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of the losses."""
    axes = list(range(len(weights.shape), len(losses.shape)))
    return reduce_sum(multiply(reduce_sum(losses, axis=axes), weights))


def present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """The number of losses with a nonzero weight, optionally per example."""
    rank = len(weights.shape)
    if rank == 0:
        batch = reshape(slice_(shape(losses), [0], [1]), [])
        each = div(cast(size(losses), float32), cast(batch, float32))
        each = where(equal(weights, 0), 0.0, each)
        each = multiply(ones(reshape(batch, [1])), each)
        return each if per_batch else reduce_sum(each)
    nonzero = cast(not_equal(weights, 0), float32)
    counts = reduce_sum(nonzero, axis=list(range(1, rank)))
    others = slice_(shape(losses), [rank], [-1])
    each = multiply(counts, cast(reduce_prod(others), float32))
    return each if per_batch else reduce_sum(each)


@public("compute_weighted_loss")
def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The mean of the weighted losses over those with a nonzero weight.

    Args:
      losses: float Tensor [batch, ...] of known rank.
      weights: a scalar, or a Tensor with the losses' leading axes.
      scope: the name scope of the ops.

    Returns:
      A scalar Tensor, also added to `tf.GraphKeys.LOSSES`.

    Raises:
      ValueError: a rank is unknown.
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert(losses)
        dtype = losses.dtype
        losses = cast(losses, float32)
        weights = cast(convert(weights), float32)
        for name, tensor in (("losses", losses), ("weights", weights)):
            if tensor.shape.ndims is None:
                raise ValueError(f"{name}.get_shape().ndims cannot be None")
        dims = weights.shape.dims
        if len(dims) > 1 and dims[-1].is_compatible_with(1):
            weights = squeeze(weights, [-1])
        total = scaled(losses, weights)
        count = present(losses, weights)
        mean = cast(div_no_nan(reduce_sum(total), count, name="value"), dtype)
        add_loss(mean)
        return mean


@public("add_loss")
@add_arg_scope
def add_loss(loss: TensorLike, loss_collection: str = GraphKeys.LOSSES) -> None:
    """`tf.losses.add_loss`"""
    losses_.add_loss(loss, loss_collection)


@public("get_losses")
def get_losses(
    scope: str | None = None, loss_collection: str = GraphKeys.LOSSES
) -> list[Any]:
    """`tf.losses.get_losses`"""
    return losses_.get_losses(scope, loss_collection)


@public("get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """`tf.losses.get_regularization_losses`"""
    return losses_.get_regularization_losses(scope)


@public("get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss"
) -> Tensor:
    """`tf.losses.get_total_loss`"""
    return losses_.get_total_loss(add_regularization_losses, name)
