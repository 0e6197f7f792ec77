"""Regularizers: functions from a variable to a loss.

Source: contrib/layers/python/layers/regularizers.py.
"""

from __future__ import annotations

import numbers
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import add_to_collection, get_collection, name_scope
from tfteach.framework.type_aliases import Regularizer, TensorLike
from tfteach.lib.contrib.layers.utils import public
from tfteach.ops.core.constant import constant
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.complex import abs as abs_
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.nn.l2_loss import l2_loss


def _is_off(scale: Any, end: str, name: str = "scale") -> bool:
    """Whether a scale is 0; raises unless it is a non-negative float or a Tensor."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{name} cannot be an integer: {scale}")
    if not isinstance(scale, numbers.Real):
        return False
    if scale < 0.0:
        raise ValueError(
            f"Setting a scale less than 0 on a regularizer: {float(scale):g}{end}"
        )
    return scale == 0.0


def _scaled(scope: Any, default: str, scale: Any, weights: Any, norm: Any) -> Tensor:
    with name_scope(scope, default, [weights]) as name:
        factor = convert(scale, dtype=weights.dtype.base_dtype, name="scale")
        return multiply(factor, norm(weights), name=name)


@public("l1_regularizer")
def l1_regularizer(scale: TensorLike, scope: str | None = None) -> Any:
    """A function from a variable to `scale * sum(|w|)`.

    Args:
      scale: a float; for 0.0 the result is a function that returns None.
      scope: the name scope of the loss.

    Raises:
      ValueError: `scale` is negative or an integer.
    """
    if _is_off(scale, ""):
        return lambda _: None

    def l1(weights: Any, name: str | None = None) -> Tensor:
        def norm(w: Any) -> Tensor:
            return reduce_sum(abs_(w))

        return _scaled(scope, "l1_regularizer", scale, weights, norm)

    return l1


@public("l2_regularizer")
def l2_regularizer(scale: TensorLike, scope: str | None = None) -> Any:
    """A function from a variable to `scale * sum(w ** 2) / 2`.

    For arguments and errors see `tf.contrib.layers.l1_regularizer`.

    Example:
      >>> loss = tf.contrib.layers.l2_regularizer(0.1)(tf.constant([3.0, 4.0]))  # 1.25
    """
    if _is_off(scale, "."):
        return lambda _: None
    return lambda weights: _scaled(scope, "l2_regularizer", scale, weights, l2_loss)


@public("l1_l2_regularizer")
def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Any:
    """A function from a variable to the sum of both losses."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    both = [l1_regularizer(scale_l1), l2_regularizer(scale_l2)]
    return sum_regularizer(both, scope=scope)


@public("sum_regularizer")
def sum_regularizer(regularizer_list: Any, scope: str | None = None) -> Any:
    """A function from a variable to the sum of several losses, or None."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def total(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [regularizer(weights) for regularizer in regularizers]
            losses = [loss for loss in losses if loss is not None]
            return add_n(losses, name=name) if losses else None

    return total


@public("apply_regularization")
def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Tensor:
    """The sum of a regularizer's losses over several variables.

    Args:
      regularizer: a function from a variable to a scalar loss or None.
      weights_list: Variables; those in `tf.GraphKeys.WEIGHTS` if None.

    Returns:
      A scalar Tensor, also added to `tf.GraphKeys.REGULARIZATION_LOSSES`.

    Raises:
      ValueError: there are no variables, or a loss is not a scalar.
    """
    weights = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights) as scope:
        found = [regularizer(w) for w in weights]
        losses = [constant(0.0) if loss is None else loss for loss in found]
        for loss in losses:
            if loss.shape.ndims != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with "
                    f"rank {loss.shape.ndims}."
                )
        total = add_n(losses, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
