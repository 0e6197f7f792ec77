"""The loss of sequences.  Source: contrib/seq2seq/python/ops/loss.py."""

from __future__ import annotations

from collections.abc import Callable

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.division import div_no_nan
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.statistics import count_nonzero


@export("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Tensor] | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of sequences.

    Sums of weight x cross entropy are divided by the sums of the weights (`average_`)
    or by the number of nonzero weights (`sum_`).

    Args:
      logits: float Tensor [batch, time, classes].
      targets: int Tensor [batch, time], the classes.
      weights: float Tensor [batch, time]; 0 for padding.
      average_across_timesteps, average_across_batch: average over these.
      sum_over_timesteps, sum_over_batch: sum over these.
      softmax_loss_function: a function of `labels` and `logits` instead of
        `tf.nn.sparse_softmax_cross_entropy_with_logits`.
      name: the name scope.

    Returns:
      A scalar if both axes are reduced, otherwise a Tensor of the remaining axes.

    Raises:
      ValueError: a rank is wrong, or an axis is to be both averaged and summed.

    Example:
      >>> mask = tf.sequence_mask([3, 1], dtype=tf.float32)
      >>> logits, targets = tf.zeros([2, 3, 5]), tf.zeros([2, 3], tf.int32)
      >>> tf.contrib.seq2seq.sequence_loss(logits, targets, mask)  # log(5)

    Source: contrib/seq2seq/python/ops/loss.py.
    """
    _check_ranks(logits, targets, weights)
    for what, averages, sums in (
        ("timesteps", average_across_timesteps, sum_over_timesteps),
        ("batch", average_across_batch, sum_over_batch),
    ):
        if averages and sums:
            raise ValueError(
                f"average_across_{what} and sum_over_{what} cannot be set to True at "
                "same time."
            )
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = shape(logits)[2]
        flat_logits = reshape(logits, [-1, classes])
        flat_targets = reshape(targets, [-1])
        entropy = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = entropy(labels=flat_targets, logits=flat_logits)
        losses = losses * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return div_no_nan(reduce_sum(losses), reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            total = reduce_sum(losses)
            return div_no_nan(total, cast(count_nonzero(weights), losses.dtype))
        losses = reshape(losses, shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            total = reduce_sum(losses, axis=axis)
            return div_no_nan(total, reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            total = reduce_sum(losses, axis=axis)
            count = cast(count_nonzero(weights, axis=axis), losses.dtype)
            return div_no_nan(total, count)
        return losses


def _check_ranks(logits: Tensor, targets: Tensor, weights: Tensor) -> None:
    if len(logits.shape) != 3:
        raise ValueError(
            "Logits must be a [batch_size x sequence_length x logits] tensor"
        )
    for what, tensor in (("Targets", targets), ("Weights", weights)):
        if len(tensor.shape) != 2:
            raise ValueError(f"{what} must be a [batch_size x sequence_length] tensor")
