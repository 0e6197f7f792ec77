"""An update of a WALSModel: the factors of some rows, given those of the columns.

Source: contrib/factorization/python/ops/factorization_ops.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.control.branch import cond
from tfteach.control.checks.values import assert_less_equal
from tfteach.framework.dtypes import float32, int32, int64
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.dynamic_partition import dynamic_partition
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.unique import unique
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.linalg.factorization_ops import (
    MaskedMatmul,
    WALSComputePartialLhsAndRhs,
)
from tfteach.ops.linalg.matmul import matmul, trace
from tfteach.ops.linalg.solve import matrix_solve
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less
from tfteach.ops.math.unary import square
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.ops.sparse.sparse_add import sparse_add
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_dense_matmul
from tfteach.ops.sparse.sparse_functions import sparse_transpose
from tfteach.ops.sparse.sparse_reduce import sparse_reduce_sum
from tfteach.ops.state.scatter_functions import scatter_update


class Side(NamedTuple):
    """The rows or the columns of the matrix.

    Attributes:
      size: their number.
      factors: the variables of their factors.
      cached: what updates read of these.
      weights: what updates read of their weights, or None.
      gramian: what updates read of their Gramian.
      sizes: (rows of the smaller shards, the number of shards that have one more).
      name: "row" or "col".
    """

    size: int
    factors: list[Any]
    cached: list[Any]
    weights: list[Any] | None
    gramian: Any
    sizes: tuple[int, int]
    name: str


class WalsUpdate(NamedTuple):
    """What an update reads.

    Attributes:
      left: whose factors are computed.
      right: the other side.
      unobserved_weight: the weight of entries that are not observed.
      regularization: of the factors' squares, or None.
      penalty: the same times the unit matrix, or None.
    """

    left: Side
    right: Side
    unobserved_weight: float
    regularization: float | None
    penalty: Tensor | None


def _sharded(indices: Any, side: Side) -> tuple[Any, Any]:
    """The shard of each row, and its index there."""
    size, larger = side.sizes
    shard = maximum(indices // (size + 1), (indices - larger) // size)
    row = where_v2(less(shard, larger), indices % (size + 1), (indices - larger) % size)
    return row, cast(shard, int32)


def _scatter(side: Side, indices: Any, values: Tensor) -> Operation:
    """Assigns the factors of some rows."""
    name = f"{side.name}_update"
    if len(side.factors) == 1:
        assigned: Tensor = scatter_update(side.factors[0], indices, values, name=name)
        return assigned.op
    rows, shards = _sharded(indices, side)
    count = len(side.factors)
    parts = dynamic_partition(rows, shards, count)
    news = dynamic_partition(values, shards, count)
    updates = [
        scatter_update(variable, part, new)
        for variable, part, new in zip(side.factors, parts, news, strict=True)
    ]
    return group(*updates, name=name)


def _weights_of_projection(given: Any, count: Any) -> Tensor:
    """The weights of the projected rows, [rows]."""
    with control_dependencies([assert_less_equal(rank(given), 1)]):
        found: Tensor = cond(
            equal(rank(given), 0),
            lambda: ones([count]) * given,
            lambda: cast(given, float32),
        )
        return found


def updated(
    update: WalsUpdate, sp_input: Any, is_transposed: bool, row_weights: Any = None
) -> tuple[Tensor, Operation, Tensor, Tensor, Tensor]:
    """See `WALSModel.update_row_factors`.

    Args:
      update: what is computed from what.
      sp_input: some rows of the matrix.
      is_transposed: whether they are columns of `sp_input`.
      row_weights: the rows' weights, where these are none of the model's.
    """
    assert isinstance(sp_input, SparseTensor)
    left, right = update.left, update.right
    unobserved = update.unobserved_weight
    # Rows of the matrix, wherever they are in the model.
    is_first = (left.name == "row") != is_transposed
    columns = split(sp_input.indices, 2, axis=1)
    first_unique, first_places = unique(columns[0][:, 0])
    second_unique, second_places = unique(columns[1][:, 0])
    second_column = expand_dims(cast(second_places, int64), 1)
    first_column = expand_dims(cast(first_places, int64), 1)
    if is_first:
        update_ids, gather_ids = first_unique, second_unique
    else:
        update_ids, gather_ids = second_unique, first_unique
    gather_count = cast(shape(gather_ids)[0], int64)
    count = cast(shape(update_ids)[0], int64)
    sizes = (count, gather_count) if is_first else (gather_count, count)
    others = embedding_lookup(right.cached, gather_ids, partition_strategy="div")
    entries = SparseTensor(
        concat([first_column, second_column], 1),
        sp_input.values,
        concat([[sizes[0]], [sizes[1]]], 0),
    )
    lhs: Any = unobserved * right.gramian
    if update.penalty is not None:
        lhs += update.penalty
    weights: tuple[Any, Any] | None = None
    if left.weights is None:
        products = unobserved * sparse_tensor_dense_matmul(
            entries, others, adjoint_a=not is_first
        )
        new = transpose(matrix_solve(lhs, transpose(products)))
    else:
        assert right.weights is not None
        mine: Any
        if row_weights is None:
            mine = embedding_lookup(left.weights, update_ids, partition_strategy="div")
        else:
            mine = _weights_of_projection(row_weights, shape(update_ids)[0])
        theirs = embedding_lookup(right.weights, gather_ids, partition_strategy="div")
        weights = mine, theirs
        more, rhs = WALSComputePartialLhsAndRhs()(
            others, theirs, unobserved, mine, entries.indices, entries.values, [],
            count, not is_first, name="wals_compute_partial_lhs_rhs",
        )  # fmt: skip
        solved = matrix_solve(expand_dims(lhs, 0) + more, expand_dims(rhs, -1))
        new = squeeze(solved, [2])
    update_op = _scatter(left, update_ids, new)
    if not is_first:
        entries = sparse_transpose(entries)
    return new, update_op, *_losses(update, entries, count, new, others, weights)


def _losses(
    update: WalsUpdate,
    entries: SparseTensor,
    count: Any,
    new: Any,
    others: Any,
    weights: tuple[Any, Any] | None,
) -> tuple[Any, Any, Any]:
    """The loss, that of the regularization, and the sum of the weights."""
    left, unobserved = update.left, update.unobserved_weight
    values = MaskedMatmul()(new, others, entries.indices, False, True)
    approximation = SparseTensor(entries.indices, values, entries.dense_shape)
    squares = square(approximation)
    errors = square(sparse_add(entries, approximation * (-1)))
    if weights is None:
        mine, theirs = constant(0.0), constant(0.0)
    else:
        mine, theirs = expand_dims(weights[0], 1), expand_dims(weights[1], 0)
    gramian = matmul(new, new, transpose_a=True)
    scale = left.size / cast(count, float32)
    loss: Any = unobserved * (
        sparse_reduce_sum(errors)
        - sparse_reduce_sum(squares)
        + trace(matmul(gramian, update.right.gramian))
    )
    loss += sparse_reduce_sum(errors * theirs * mine)
    loss *= scale
    if update.regularization is None:
        penalty: Any = constant(0.0)
    else:
        penalty = update.regularization * (
            trace(gramian) * scale + trace(update.right.gramian)
        )
    total: Any = unobserved * cast(update.left.size * update.right.size, float32)
    if weights is not None:
        present = SparseTensor(
            entries.indices, ones(shape(entries.values)), entries.dense_shape
        )
        total += sparse_reduce_sum(present * theirs * mine) * scale
    return loss, penalty, total
