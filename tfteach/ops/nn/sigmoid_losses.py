"""Losses of independent binary labels and of counts.

Source: python/ops/nn_impl.py.
"""

from __future__ import annotations

from math import pi
from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.where_select import where
from tfteach.ops.core import fill
from tfteach.ops.core.constant import constant
from tfteach.ops.math.binary import add
from tfteach.ops.math.compare import logical_and
from tfteach.ops.math.complex import abs as abs_
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.cross_entropy import check_named


def _check_shapes(logits: Tensor, labels: Tensor, names: str) -> None:
    try:
        shapes.merge(labels._shape, logits._shape)
    except ValueError:
        raise ValueError(
            f"{names} must have the same shape ({logits.shape} vs {labels.shape})"
        ) from None


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    _sentinel: object | None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The cross entropy of `sigmoid(logits)`, for independent binary labels.

    `max(x, 0) - x z + log(1 + exp(-|x|))` for logits x and labels z

    Args:
      labels: float Tensor of values in [0, 1].
      logits: Tensor of the same type and shape.
      name: the last op's name.

    Returns:
      A Tensor of that type and shape.

    Raises:
      ValueError: the shapes differ, or arguments are not passed by name.

    Example:
      >>> tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0])  # [0.693]

    Source: python/ops/nn_impl.py.
    """
    check_named(_sentinel, labels, logits, "sigmoid_cross_entropy_with_logits")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert(logits, name="logits")
        labels = convert(labels, name="labels")
        _check_shapes(logits, labels, "logits and labels")
        # Selections instead of max and abs: their gradient at 0 is correct.
        zeros = fill.zeros_like(logits, dtype=logits.dtype.base_dtype)
        positive = logits >= zeros
        relu_logits = where(positive, logits, zeros)
        neg_abs_logits = where(positive, -logits, logits)
        return add(
            relu_logits - logits * labels,
            log1p(exp(neg_abs_logits)),
            name=scope,
        )


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """Sigmoid cross entropy with weight `pos_weight` on positive examples.

    `-q z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x))`

    Args:
      labels: float Tensor of values in [0, 1].
      logits: Tensor of the same type and shape.
      pos_weight: a number or Tensor, q.
      name: the last op's name.
      targets: deprecated name of `labels`.

    Returns:
      A Tensor of that type and shape.

    Raises:
      ValueError: the shapes differ.

    Source: python/ops/nn_impl.py.
    """
    labels = deprecated_argument_lookup("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert(logits, name="logits")
        labels = convert(labels, name="labels")
        _check_shapes(logits, labels, "logits and labels")
        log_weight = 1 + (pos_weight - 1) * labels
        return add(
            (1 - labels) * logits,
            log_weight * (log1p(exp(-abs_(logits))) + relu(-logits)),
            name=scope,
        )


@export("nn.log_poisson_loss")
def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """The negative log likelihood of counts under a Poisson distribution.

    `exp(x) - x z`, plus Stirling's `z log z - z + log(2 pi z) / 2` for the full loss

    Args:
      targets: float Tensor of counts, z.
      log_input: Tensor of the same type and shape, the log of the rate, x.
      compute_full_loss: whether to add Stirling's approximation of log z!.
      name: the name scope of the ops.

    Returns:
      A Tensor of that type and shape.

    Raises:
      ValueError: the shapes differ.

    Source: python/ops/nn_impl.py.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert(log_input, name="log_input")
        targets = convert(targets, name="targets")
        _check_shapes(log_input, targets, "log_input and targets")
        result = exp(log_input) - log_input * targets
        if compute_full_loss:
            dtype = targets.dtype.base_dtype
            half = constant(0.5, dtype=dtype)
            two_pi = constant(2 * pi, dtype=dtype)
            stirling = (
                (targets * log(targets)) - targets + (half * log(two_pi * targets))
            )
            zeros = fill.zeros_like(targets, dtype=dtype)
            ones = fill.ones_like(targets, dtype=dtype)
            small = logical_and(targets >= zeros, targets <= ones)
            result += where(small, zeros, stirling)
        return result
