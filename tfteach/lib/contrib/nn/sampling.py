"""Sampled losses.  Source: contrib/nn/python/ops/sampling_ops.py."""

from __future__ import annotations

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.nn.sampled_loss import sampled_logits


@export("contrib.nn.sampled_sparse_softmax_loss")
def sampled_sparse_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """`tf.nn.sampled_softmax_loss` for one true class per example.

    Args:
      labels: int64 Tensor [batch, 1].

    The other arguments are those of `tf.nn.nce_loss`.

    Returns:
      A Tensor [batch], the loss of each example.

    Source: contrib/nn/python/ops/sampling_ops.py.
    """
    logits, _ = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values,
        remove_accidental_hits, partition_strategy, name, None,
    )  # fmt: skip
    first = zeros([shape(logits)[0], 1], dtype=int64)  # the true class comes first
    return sparse_softmax_cross_entropy_with_logits(
        labels=squeeze(first), logits=logits
    )
