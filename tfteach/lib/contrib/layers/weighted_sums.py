"""Linear models of the older columns: weighted sums of their values.

Source: contrib/layers/python/layers/feature_column_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.column_embeddings import load_checkpoint
from tfteach.lib.contrib.layers.embedding import safe_embedding_lookup_sparse
from tfteach.lib.contrib.layers.feature_column import _LinearEmbeddingLookupArguments
from tfteach.lib.contrib.layers.feature_column_ops import (
    Columns,
    Features,
    Transformer,
    check_feature_columns,
    in_order,
)
from tfteach.lib.contrib.layers.rank_of_input import reshaped_to_rank
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.add_n import add_n
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.nn.embedding_lookup import tables_of
from tfteach.ops.sparse.sparse_concat_split import sparse_concat
from tfteach.variables.initializers import Zeros
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.scope import variable_scope


@export("contrib.layers.weighted_sum_from_feature_columns")
def weighted_sum_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Columns,
    num_outputs: int,
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    scope: str | None = None,
) -> tuple[Tensor, dict[Any, Any], Any]:
    """A linear function of columns: weights that start at 0, and a bias.

    Args:
      columns_to_tensors: a dictionary from keys to features of a batch.
      feature_columns: columns of numbers, buckets, ids and crosses.
      num_outputs: the number of outputs.
      weight_collections: further collections that variables are added to.
      trainable: whether variables may be trained.
      scope: the variable scope; "weighted_sum_from_feature_columns" if None.

    Returns:
      (a float Tensor [batch, num_outputs], a dictionary from columns to lists of
      variables, the bias).

    Raises:
      ValueError: a column occurs twice, or is an embedding.

    Source: contrib/layers/python/layers/feature_column_ops.py.
    """
    check_feature_columns(feature_columns)
    with variable_scope(
        scope,
        default_name="weighted_sum_from_feature_columns",
        values=columns_to_tensors.values(),
    ):
        transformer = Transformer(dict(columns_to_tensors))
        sums, variables = [], {}
        for column in in_order(feature_columns):
            tensor = transformer.transform(column)
            weights, part = _weighted(
                column, tensor, num_outputs, trainable, weight_collections
            )
            sums.append(reshape(part, (-1, num_outputs)))
            variables[column] = weights
            load_checkpoint(column, weights)
        total = add_n(sums)
        bias = _bias(num_outputs, trainable, weight_collections)
        return bias_add(total, bias), variables, bias


def _weighted(
    column: Any, tensor: Any, units: int, trainable: bool, collections: Any
) -> tuple[list[Any], Tensor]:
    """A column's weights, and its part of the sum."""
    try:
        lookup = _lookup_of(column, tensor)
        if lookup is not None:
            return _looked_up(column, lookup, units, trainable, collections)
    except ValueError as error:
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}.\n{error}"
        ) from None
    with variable_scope(None, default_name=column.name):
        dense = column._to_dense_tensor(tensor)
        dense = reshaped_to_rank(dense, 2, column.name)
        weight = model_variable(
            "weight", [dense.get_shape()[1], units], initializer=Zeros(),
            trainable=trainable, collections=collections,
        )  # fmt: skip
        return [weight], matmul(dense, weight, name="matmul")


def _lookup_of(column: Any, tensor: Any) -> _LinearEmbeddingLookupArguments | None:
    """The lookup of a column of ids; None for one of numbers."""
    try:
        lookup: _LinearEmbeddingLookupArguments
        lookup = column._wide_embedding_lookup_arguments(tensor)
    except NotImplementedError:
        return None
    return lookup


def _looked_up(
    column: Any,
    lookup: _LinearEmbeddingLookupArguments,
    units: int,
    trainable: bool,
    collections: Any,
) -> tuple[list[Any], Tensor]:
    """The weights of a column of ids, and the sum of those of each example."""
    with variable_scope(None, default_name=column.name):
        weights = model_variable(
            "weights", [lookup.vocab_size, units], float32, lookup.initializer,
            trainable=trainable, collections=collections,
        )  # fmt: skip
        tables = tables_of(weights)
        return tables, safe_embedding_lookup_sparse(
            tables, lookup.input_tensor, lookup.weight_tensor, lookup.combiner,
            name=f"{column.name}_weights",
        )  # fmt: skip


def _bias(units: int, trainable: bool, collections: Any) -> Any:
    bias = model_variable(
        "bias_weight", [units], initializer=Zeros(), trainable=trainable,
        collections=collections,
    )  # fmt: skip
    if not isinstance(bias, PartitionedVariable):
        get_logger().info("Created variable %s, with device=%s", bias.name, bias.device)
    return bias


@export("contrib.layers.joint_weighted_sum_from_feature_columns")
def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Columns,
    num_outputs: int,
    weight_collections: list[str] | None = None,
    trainable: bool = True,
    scope: str | None = None,
) -> tuple[Tensor, Any, Any]:
    """`weighted_sum_from_feature_columns` with one variable for all columns.

    Args:
      feature_columns: columns of ids, buckets and crosses, without weights.
      columns_to_tensors, num_outputs, weight_collections, trainable, scope: as in
        `weighted_sum_from_feature_columns`.

    Returns:
      (a float Tensor [batch, num_outputs], the weights, the bias).

    Raises:
      NotImplementedError: a column of numbers.
      AssertionError: a column with weights, or a combiner other than "sum".

    Source: contrib/layers/python/layers/feature_column_ops.py.
    """
    check_feature_columns(feature_columns)
    name = "joint_weighted_sum_from_feature_columns"
    with variable_scope(scope, default_name=name, values=columns_to_tensors.values()):
        transformer = Transformer(dict(columns_to_tensors))
        lookups = []
        for column in in_order(feature_columns):
            tensor = transformer.transform(column)
            lookup = _lookup_of(column, tensor)
            if lookup is None:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use "
                    "weighted_sum_from_feature_columns instead, or bucketize these "
                    "columns."
                )
            lookups.append(lookup)
        weights, total = _joint(lookups, num_outputs, trainable, weight_collections)
        bias = _bias(num_outputs, trainable, weight_collections)
        return bias_add(total, bias), weights, bias


def _joint(
    lookups: list[_LinearEmbeddingLookupArguments],
    units: int,
    trainable: bool,
    collections: Any,
) -> tuple[Any, Tensor]:
    """The columns' ids one after the other, and the sum of their weights."""
    advice = " Please use weighted_sum_from_feature_columns instead."
    first, ids = 0, []
    for lookup in lookups:
        if lookup.weight_tensor is not None:
            raise AssertionError(
                "Joint sums for weighted sparse columns are not supported." + advice
            )
        if lookup.combiner != "sum":
            raise AssertionError(
                "Combiners other than sum are not supported for joint sums." + advice
            )
        own = lookup.input_tensor
        ids.append(SparseTensor(own.indices, own.values + first, own.dense_shape))
        first += lookup.vocab_size
    if not ids:
        raise AssertionError("At least one column must be in the model.")
    joined = sparse_concat(1, ids)
    with variable_scope(None, default_name="linear_weights"):
        weights = model_variable(
            "weights", [first, units], float32, Zeros(), trainable=trainable,
            collections=collections,
        )  # fmt: skip
        tables = tables_of(weights)
        total = safe_embedding_lookup_sparse(
            tables, joined, None, "sum", name="_weights"
        )
        return tables, total
