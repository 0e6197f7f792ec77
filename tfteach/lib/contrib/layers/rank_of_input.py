"""Features brought to the rank that a model needs, and dense ones made sparse.

Source: contrib/layers/python/layers/feature_column.py, ops/sparse_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.framework.dimension import dimension_value
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
            known = dimension_value(tensor.dense_shape.get_shape()[0])
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
            flat = reshape(tensor, concat((outer, [-1]), 0))
        known = tensor.get_shape()
        if known.ndims is not None:
            last = known[rank - 1 :].num_elements()
            flat.set_shape(known[: rank - 1].concatenate(last))
        return flat


def reshaped_to_rank(tensor: Any, rank: int, column_name: str) -> Any:
    """A Tensor or SparseTensor of the given rank: last axes flattened, or one added.

    Raises:
      ValueError: its rank is unknown, or more than one too low.
    """
    known = tensor.get_shape().ndims
    if known is None:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor can "
            "not be None."
        )
    if known > rank:
        return inner_flatten(tensor, rank)
    if known == rank:
        return tensor
    if known < rank - 1:
        raise ValueError(
            f"Error while processing column {column_name}. {_too_low(known, rank)}"
        )
    if isinstance(tensor, SparseTensor):
        return sparse_reshape(tensor, concat((tensor.dense_shape, [1]), 0))
    return expand_dims(tensor, -1)


def at_rank(tensor: Any, rank: int, column_name: str) -> Tensor:
    """A dense feature of the given rank: the last axes flattened, or one added.

    Raises:
      ValueError: its rank is more than one too low.
    """
    known = tensor.get_shape().ndims
    if known is None or known > rank:
        flattened: Tensor = inner_flatten(tensor, rank)
        return flattened
    if known < rank - 1:
        # No space, as in TensorFlow.
        raise ValueError(
            f"Error while processing column {column_name}.{_too_low(known, rank)}"
        )
    if known < rank:
        get_logger().warning(
            "Rank of input Tensor (%d) should be the same as output_rank (%d) for "
            "column. Will attempt to expand dims. It is highly recommended that you "
            "resize your input, as this behavior may change.",
            known,
            rank,
        )
        return expand_dims(tensor, -1, name="expand_dims")
    result: Tensor = tensor
    return result


def _too_low(known: int, rank: int) -> str:
    return (
        f"Rank of input Tensor ({known}) should be the same as output_rank ({rank}). "
        "For example, sequence data should typically be 3 dimensional (rank 3) while "
        "non-sequence data is typically 2 dimensional (rank 2)."
    )


def sparse_input(tensor: Any, column_name: str) -> SparseTensor:
    """A feature of words or ids as a SparseTensor, without "" and -1 if it is dense."""
    missing: Any = "" if tensor.dtype == string else -1
    return _without(missing, tensor, column_name)


def sparse_weights(tensor: Any, column_name: str) -> SparseTensor:
    """A feature of weights as a SparseTensor, without 0 if it is dense."""
    missing: Any = 0.0 if tensor.dtype.is_floating else 0
    return _without(missing, tensor, column_name)


def _without(missing: Any, tensor: Any, column_name: str) -> SparseTensor:
    if isinstance(tensor, SparseTensor):
        return tensor
    tensor = at_rank(tensor, 2, column_name)
    return as_sparse_input(tensor, missing, scope="DenseToSparseTensor")
