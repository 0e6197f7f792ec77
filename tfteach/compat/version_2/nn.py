"""`tf.compat.v2.nn`: losses, embeddings, statistics and dropout.

Source: python/ops/nn_impl.py, nn_ops.py, embedding_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.sparse_tensor import SparseTensorLike
from tfteach.ops.nn import cross_entropy
from tfteach.ops.nn.batch_norm import batch_norm_with_global_normalization
from tfteach.ops.nn.dropout import dropout
from tfteach.ops.nn.embedding_lookup import embedding_lookup, embedding_lookup_sparse
from tfteach.ops.nn.moments import moments, sufficient_statistics, weighted_moments
from tfteach.ops.nn.safe_embedding_lookup import safe_embedding_lookup_sparse
from tfteach.ops.nn.sampled_loss import nce_loss, sampled_softmax_loss
from tfteach.ops.nn.sigmoid_losses import (
    sigmoid_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)


@export(v2="nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization_v2(
    input: Tensor,
    mean: Tensor,
    variance: Tensor,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: TensorLike,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.batch_norm_with_global_normalization` without `t`, `m`, `v`."""
    return batch_norm_with_global_normalization(
        input=input,
        mean=mean,
        variance=variance,
        beta=beta,
        gamma=gamma,
        variance_epsilon=variance_epsilon,
        scale_after_normalization=scale_after_normalization,
        name=name,
    )


@export(v2="nn.dropout")
def dropout_v2(
    x: TensorLike,
    rate: TensorLike,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.dropout` without `keep_prob`."""
    return dropout(x, rate=rate, noise_shape=noise_shape, seed=seed, name=name)


@export(v2="nn.embedding_lookup")
def embedding_lookup_v2(
    params: TensorLike,
    ids: TensorLike,
    max_norm: float | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.embedding_lookup` without `partition_strategy`, `validate_indices`."""
    return embedding_lookup(
        params, ids, max_norm=max_norm, partition_strategy="div", name=name
    )


@export(v2="nn.embedding_lookup_sparse")
def embedding_lookup_sparse_v2(
    params: TensorLike,
    sp_ids: SparseTensorLike,
    sp_weights: SparseTensorLike,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.embedding_lookup_sparse` without `partition_strategy`."""
    return embedding_lookup_sparse(
        params,
        sp_ids,
        sp_weights,
        combiner=combiner,
        max_norm=max_norm,
        partition_strategy="div",
        name=name,
    )


@export(v2="nn.moments")
def moments_v2(
    x: Tensor,
    axes: TensorLike,
    shift: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.nn.moments` without `keep_dims`."""
    return moments(x, axes, shift, keepdims=keepdims, name=name)


@export(v2="nn.nce_loss")
def nce_loss_v2(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """`tf.nn.nce_loss` without `partition_strategy`."""
    return nce_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy="div",
        name=name,
    )


@export(v2="nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse_v2(
    embedding_weights: TensorLike,
    sparse_ids: SparseTensorLike,
    sparse_weights: SparseTensorLike | None = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.safe_embedding_lookup_sparse` without `partition_strategy`."""
    return safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner,
        default_id,
        max_norm=max_norm,
        partition_strategy="div",
        name=name,
    )


@export(v2="nn.sampled_softmax_loss")
def sampled_softmax_loss_v2(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """`tf.nn.sampled_softmax_loss` without `partition_strategy`."""
    return sampled_softmax_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed=seed,
        partition_strategy="div",
        name=name,
    )


@export(v2="nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits_v2(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits` without `_sentinel`."""
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@export(v2="nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits` without `_sentinel`, `dim`."""
    return cross_entropy.softmax_cross_entropy_with_logits_v2(
        labels=labels, logits=logits, axis=axis, name=name
    )


@export(v2="nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits` without `_sentinel`."""
    return sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name
    )


@export(v2="nn.sufficient_statistics")
def sufficient_statistics_v2(
    x: TensorLike,
    axes: Iterable[int],
    shift: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """`tf.nn.sufficient_statistics` without `keep_dims`."""
    return sufficient_statistics(x, axes, shift, keepdims=keepdims, name=name)


@export(v2="nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    pos_weight: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.weighted_cross_entropy_with_logits` without `targets`."""
    return weighted_cross_entropy_with_logits(labels, logits, pos_weight, name)


@export(v2="nn.weighted_moments")
def weighted_moments_v2(
    x: TensorLike,
    axes: TensorLike,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.nn.weighted_moments` without `keep_dims`."""
    return weighted_moments(x, axes, frequency_weights, keepdims=keepdims, name=name)
