"""Features brought to the rank that a model needs, and dense ones made sparse.

Source: contrib/layers/python/layers/feature_column.py, ops/sparse_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.framework.dtypes import string
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.feature_column.transformation_cache import as_sparse_input
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.strided_slice import strided_slice
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.reduce_functions import reduce_prod
from tfteach.ops.sparse.sparse_shape import sparse_reshape


def inner_flatten(tensor: Any, rank: int) -> Any:
    """A Tensor or SparseTensor of the given rank: the last axes become one.

    Raises:
      ValueError: it has a lower rank.
    """
    with name_scope(None, "InnerFlatten", [tensor]):
        if isinstance(tensor, SparseTensor):
            known = tensor.dense_shape.get_shape()[0].value
            if known is None or known < rank:
                raise ValueError(
                    f"Inputs has rank less than new_rank. {tensor} must have rank at "
                    f"least {rank}. Received rank {known}, shape {tensor.get_shape()}"
                )
            outer = tensor.dense_shape[: rank - 1]
            inner = tensor.dense_shape[rank - 1 :]
            return sparse_reshape(tensor, concat((outer, [reduce_prod(inner)]), 0))
        check = assert_rank_at_least(
            tensor, rank, message="inputs has rank less than new_rank"
        )
        with get_default_graph().control_dependencies([check]):
            outer = strided_slice(shape(tensor), [0], [rank - 1])
            return reshape(tensor, concat((outer, [-1]), 0))


def at_rank(tensor: Any, rank: int, column_name: str) -> Tensor:
    """A dense feature of the given rank: the last axes flattened, or one added."""
    known = tensor.get_shape().ndims
    if known is None:
        flattened: Tensor = inner_flatten(tensor, rank)
        return flattened
    if known > rank:
        get_logger().warning(
            "Rank of input Tensor (%d) should be the same as output_rank (%d) for "
            "column. Will attempt to expand dims. It is highly recommended that you "
            "resize your input, as this behavior may change.",
            known,
            rank,
        )
        flattened = inner_flatten(tensor, rank)
        return flattened
    if known == rank - 1:
        return expand_dims(tensor, -1, name="expand_dims")
    if known < rank:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor can "
            "not be more than one greater than the output_rank, but the rank of input "
            f"is {known} and output_rank is {rank}."
        )
    result: Tensor = tensor
    return result


def sparse_input(tensor: Any, column_name: str) -> SparseTensor:
    """A feature as a SparseTensor, without the values "" and -1 if it is dense."""
    if isinstance(tensor, SparseTensor):
        return tensor
    missing: Any = "" if tensor.dtype == string else -1
    return as_sparse_input(
        at_rank(tensor, 2, column_name), missing, scope="DenseToSparseTensor"
    )
