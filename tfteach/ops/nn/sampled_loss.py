"""Losses over very many classes, computed from the true and a few sampled ones.

Source: python/ops/nn_impl.py (nce_loss, sampled_softmax_loss).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.core.fill import ones, ones_like, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape, stop_gradient
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.cast import cast
from tfteach.ops.math.exponential import log
from tfteach.ops.math.multiply import multiply
from tfteach.ops.nn.candidate_samplers import (
    compute_accidental_hits,
    log_uniform_candidate_sampler,
)
from tfteach.ops.nn.cross_entropy import softmax_cross_entropy_with_logits_v2
from tfteach.ops.nn.embedding_lookup import embedding_lookup, tables_of
from tfteach.ops.nn.sigmoid_losses import sigmoid_cross_entropy_with_logits
from tfteach.ops.sparse.sparse_to_dense import SparseToDense


def _sum_rows(x: Tensor) -> Tensor:
    """The sums of the rows of a matrix, by a product with ones."""
    columns = shape(x)[1]
    ones_shape = stack([columns, 1])
    return reshape(matmul(x, ones(ones_shape, x.dtype)), [-1])


def sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: Any,
    num_classes: Any, num_true: int, sampled_values: Any, remove_accidental_hits: bool,
    partition_strategy: str, name: str | None, seed: int | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Logits and targets of the true and the sampled classes.

    Matrices [batch, num_true + num_sampled].
    """
    weights = tables_of(weights)
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        if labels.dtype is not int64:
            labels = cast(labels, int64)
        flat = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed
            )
        sampled, true_expected, expected = (stop_gradient(s) for s in sampled_values)
        sampled = cast(sampled, int64)
        ids = concat([flat, sampled], 0)

        rows = embedding_lookup(weights, ids, partition_strategy)
        if rows.dtype is not inputs.dtype:
            rows = cast(rows, inputs.dtype)
        true_rows = slice_of(rows, [0, 0], stack([shape(flat)[0], -1]))
        other_rows = slice_of(rows, stack([shape(flat)[0], 0]), [-1, -1])
        other_logits = matmul(inputs, other_rows, transpose_b=True)

        offsets = embedding_lookup(biases, ids, partition_strategy)
        if offsets.dtype is not inputs.dtype:
            offsets = cast(offsets, inputs.dtype)
        true_offsets = slice_of(offsets, [0], shape(flat))
        other_offsets = slice_of(offsets, shape(flat), [-1])

        width = shape(true_rows)[1:2]
        by_example = concat([[-1, num_true], width], 0)
        products = multiply(expand_dims(inputs, 1), reshape(true_rows, by_example))
        products = reshape(products, concat([[-1], width], 0))
        true_logits = reshape(_sum_rows(products), [-1, num_true])
        true_offsets = reshape(true_offsets, [-1, num_true])
        true_logits = true_logits + true_offsets
        other_logits = other_logits + other_offsets
        if remove_accidental_hits:
            other_logits = other_logits + _hits(
                labels, sampled, num_true, num_sampled, other_logits.dtype
            )
        true_logits = true_logits - log(true_expected)
        other_logits = other_logits - log(expected)
        logits = concat([true_logits, other_logits], 1)
        wanted = concat(
            [ones_like(true_logits) / num_true, zeros_like(other_logits)], 1
        )
    return logits, wanted


def _hits(
    labels: Any, sampled: Any, num_true: int, num_sampled: Any, dtype: DTypeLike
) -> Tensor:
    """The lowest number where a sampled class is a true one of the example, else 0."""
    rows, columns, lowest = compute_accidental_hits(labels, sampled, num_true)
    rows = reshape(rows, [-1, 1])
    columns = reshape(cast(columns, int32), [-1, 1])
    points = concat([rows, columns], 1, "sparse_indices")
    whole = concat([shape(labels)[:1], expand_dims(num_sampled, 0)], 0)
    if lowest.dtype is not dtype:
        lowest = cast(lowest, dtype)
    return SparseToDense(False)(points, whole, lowest, 0.0)


@export("nn.nce_loss")
def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: true classes are discriminated from sampled ones.

    The logistic loss of `inputs @ weights[class] + biases[class] - log(expected)`,
    summed over the true classes (target 1) and the sampled ones (target 0).

    Args:
      weights: a table [num_classes, width], or several that share the rows.
      biases: a table [num_classes].
      labels: int64 Tensor [batch, num_true], the true classes.
      inputs: float Tensor [batch, width].
      num_sampled: the number of classes to sample per batch.
      num_classes: the total number of classes.
      num_true: the number of true classes of each example.
      sampled_values: the result of a `tf.nn.*_candidate_sampler`; log uniform if None.
      remove_accidental_hits: whether to ignore sampled classes that are true ones.
      partition_strategy: "mod" or "div", if there are several tables.
      name: the name scope of its ops.

    Returns:
      A Tensor [batch], the loss of each example.

    Example:
      >>> loss = tf.reduce_mean(tf.nn.nce_loss(
      ...     weights, biases, labels, vectors, num_sampled=64, num_classes=50000))

    Source: Gutmann and Hyvärinen 2010; python/ops/nn_impl.py.
    """
    logits, wanted = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, partition_strategy, name, None,
    )  # fmt: skip
    losses = sigmoid_cross_entropy_with_logits(
        labels=wanted, logits=logits, name="sampled_losses"
    )
    return _sum_rows(losses)


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """Softmax cross-entropy over the true classes and a few sampled ones.

    The arguments are those of `tf.nn.nce_loss`; `seed` makes the draws the same in
    every session.

    Returns:
      A Tensor [batch], the loss of each example.

    Source: Jean et al. 2014 (arXiv:1412.2007); python/ops/nn_impl.py.
    """
    logits, wanted = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, partition_strategy, name, seed,
    )  # fmt: skip
    wanted = stop_gradient(wanted, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=wanted, logits=logits)
