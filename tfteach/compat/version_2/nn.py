"""`tf.compat.v2.nn`: losses, embeddings, statistics and dropout.

Source: python/ops/nn_impl.py, nn_ops.py, embedding_ops.py.
"""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.control.sparse_softmax_cross_entropy import (
    sparse_softmax_cross_entropy_with_logits,
)
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

SAMPLED = (
    "weights biases labels inputs num_sampled num_classes "
    "| num_true sampled_values remove_accidental_hits"
)

sigmoid_cross_entropy_with_logits_v2 = with_parameters(
    sigmoid_cross_entropy_with_logits,
    "| labels logits name",
    v2="nn.sigmoid_cross_entropy_with_logits",
)
softmax_cross_entropy_with_logits_v2 = with_parameters(
    cross_entropy.softmax_cross_entropy_with_logits_v2,
    "labels logits | axis name",
    axis=-1,
    v2="nn.softmax_cross_entropy_with_logits",
)
sparse_softmax_cross_entropy_with_logits_v2 = with_parameters(
    sparse_softmax_cross_entropy_with_logits,
    "labels logits | name",
    v2="nn.sparse_softmax_cross_entropy_with_logits",
)
weighted_cross_entropy_with_logits_v2 = with_parameters(
    weighted_cross_entropy_with_logits,
    "labels logits pos_weight | name",
    v2="nn.weighted_cross_entropy_with_logits",
)
nce_loss_v2 = with_parameters(
    nce_loss, f"{SAMPLED} name", partition_strategy="div", v2="nn.nce_loss"
)
sampled_softmax_loss_v2 = with_parameters(
    sampled_softmax_loss,
    f"{SAMPLED} seed name",
    partition_strategy="div",
    v2="nn.sampled_softmax_loss",
)

embedding_lookup_v2 = with_parameters(
    embedding_lookup,
    "params ids | max_norm name",
    partition_strategy="div",
    v2="nn.embedding_lookup",
)
embedding_lookup_sparse_v2 = with_parameters(
    embedding_lookup_sparse,
    "params sp_ids sp_weights | combiner max_norm name",
    partition_strategy="div",
    v2="nn.embedding_lookup_sparse",
)
safe_embedding_lookup_sparse_v2 = with_parameters(
    safe_embedding_lookup_sparse,
    "embedding_weights sparse_ids | sparse_weights combiner default_id max_norm name",
    partition_strategy="div",
    v2="nn.safe_embedding_lookup_sparse",
)

moments_v2 = with_parameters(
    moments, "x axes | shift keepdims name", keepdims=False, v2="nn.moments"
)
weighted_moments_v2 = with_parameters(
    weighted_moments,
    "x axes frequency_weights | keepdims name",
    keepdims=False,
    v2="nn.weighted_moments",
)
sufficient_statistics_v2 = with_parameters(
    sufficient_statistics,
    "x axes | shift keepdims name",
    keepdims=False,
    v2="nn.sufficient_statistics",
)
batch_norm_with_global_normalization_v2 = with_parameters(
    batch_norm_with_global_normalization,
    "input mean variance beta gamma variance_epsilon scale_after_normalization | name",
    v2="nn.batch_norm_with_global_normalization",
)
dropout_v2 = with_parameters(dropout, "x rate | noise_shape seed name", v2="nn.dropout")
