"""Cross entropies with the arguments in their original order.

Source: contrib/nn/python/ops/cross_entropy.py.
"""

from __future__ import annotations

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.nn.cross_entropy import softmax_cross_entropy_with_logits
from tfteach.ops.nn.sigmoid_losses import sigmoid_cross_entropy_with_logits


@export("contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits` with the logits first."""
    return softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=dim, name=name
    )


@export("contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits` with the logits first."""
    return sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name
    )


@export("contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits` with the logits first."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
