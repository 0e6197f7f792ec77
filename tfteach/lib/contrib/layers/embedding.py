"""Embedding layers.

Source: contrib/layers/python/layers/encoders.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.framework.convert import convert
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Initializer, Regularizer, TensorLike
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.utils import public
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.unique import unique as unique_values
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_prod
from tfteach.ops.nn.embedding_lookup import embedding_lookup, tables_of
from tfteach.ops.nn.safe_embedding_lookup import lookup_valid
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@public("embed_sequence")
def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """Rows of an embedding table, selected by ids.

    Args:
      ids: int Tensor [batch, length].
      vocab_size, embed_dim: the table's sizes; optional with `reuse`.
      unique: whether to look up each distinct id only once.
      initializer, regularizer, trainable: of the table; see `tf.get_variable`.
      scope: the variable scope; "EmbedSequence" if None.
      reuse: whether to reuse the table of `scope`.

    Returns:
      A float Tensor [batch, length, embed_dim].

    Raises:
      ValueError: a size is missing.

    Example:
      >>> words = tf.contrib.layers.embed_sequence(tf.constant([[3, 1, 2]]), 10, 4)
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        is_known = vocab_size is not None and embed_dim is not None
        table = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim] if is_known else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        lookup = embedding_lookup_unique if unique else embedding_lookup
        return lookup(table, ids)


@public("embedding_lookup_unique")
def embedding_lookup_unique(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
) -> Tensor:
    """`tf.nn.embedding_lookup` that looks up each distinct id only once.

    Args:
      params: the table, or its partitions.
      ids: int Tensor of any shape.
      partition_strategy: the distribution of ids; see `tf.nn.embedding_lookup`.
      name: the name scope.

    Returns:
      A Tensor [*ids.shape, *params.shape[1:]].
    """
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert(ids)
        sizes = shape(ids)
        flat = reshape(ids, reduce_prod(sizes, keepdims=True))
        different, places = unique_values(flat)
        rows = embedding_lookup(params, different, partition_strategy)
        found = gather(rows, places)
        found = reshape(found, concat([sizes, shape(rows)[1:]], 0))
        found.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return found


@public("safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensorLike,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """`tf.nn.safe_embedding_lookup_sparse`, which has the same arguments.

    The combiner is "mean" if None, with a warning; tables are read outside the scope.

    Raises:
      ValueError: there is no table; tables and weights differ in type.

    Source: contrib/layers/python/layers/embedding_ops.py.
    """
    if combiner is None:
        get_logger().warning(
            'The default value of combiner will change from "mean" to "sqrtn" after '
            "2016/11/01."
        )
        combiner = "mean"
    tables = tables_of(embedding_weights)
    if not tables or tables[0] is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = [convert(table, dtype) for table in tables]
    assert_same_float_dtype([*tables, sparse_weights])
    return lookup_valid(
        tables, sparse_ids, sparse_weights, combiner, default_id, name,
        partition_strategy, max_norm,
    )  # fmt: skip


@public("bow_encoder")
def bow_encoder(
    ids: TensorLike,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """A bag of words: the mean of the embeddings of each row of ids.

    Args:
      ids: int Tensor [batch, length].
      vocab_size, embed_dim: the table's sizes.
      sparse_lookup: must be False; lookup of sparse ids is not implemented.
      initializer, regularizer, trainable, scope, reuse: as for `embed_sequence`.

    Returns:
      A float Tensor [batch, embed_dim].

    Raises:
      ValueError: a size is missing.
      TypeError: the ids are sparse.
      NotImplementedError: `sparse_lookup` is true.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    if sparse_lookup:
        raise NotImplementedError("bow_encoder: sparse_lookup=True")
    if isinstance(ids, SparseTensor):
        raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        return reduce_mean(embedding_lookup(table, ids), axis=1)
