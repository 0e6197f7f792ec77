"""The loss of sequences given as lists.

Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_sum


@export("contrib.legacy_seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits: Sequence[Tensor],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Tensor] | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of each sequence of a batch.

    Args:
      logits: a list of float Tensors [batch, classes], one per step.
      targets: a list of int Tensors [batch].
      weights: a list of float Tensors [batch].
      average_across_timesteps: divide by the sum of the weights.
      softmax_loss_function: a function of `labels` and `logits` instead of
        `tf.nn.sparse_softmax_cross_entropy_with_logits`.
      name: the name scope.

    Returns:
      A float Tensor [batch].

    Raises:
      ValueError: the lists have different lengths.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                labels = reshape(target, [-1])
                loss = sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=logit
                )
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total: Tensor = add_n(losses)
        if average_across_timesteps:
            size = add_n(weights) + 1e-12  # all weights may be 0
            total = total / size
        return total


@export("contrib.legacy_seq2seq.sequence_loss")
def sequence_loss(
    logits: Sequence[Tensor],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Tensor] | None = None,
    name: str | None = None,
) -> Tensor:
    """`sequence_loss_by_example`, summed over the batch or averaged; a scalar.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if average_across_batch:
            return cost / cast(shape(targets[0])[0], cost.dtype)
        return cost
