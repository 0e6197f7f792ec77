"""Sparse tensors on their way through the queues of batches.

A map of the session stores them; their numbers, vectors of one element, go through the
queue, and the batch takes them from the map as one sparse tensor.

Source: python/training/input.py (nodes, messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfteach.control.branch import cond
from tfteach.framework import dtypes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with
from tfteach.ops.array.gather import gather
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.sparse.sparse_functions import sparse_retain
from tfteach.ops.sparse.sparse_tensors_map import (
    AddManySparseToTensorsMap,
    AddSparseToTensorsMap,
    TakeManySparseFromTensorsMap,
)


class Stored(NamedTuple):
    """How the sparse tensors of a component are stored.

    Attributes:
      map_op: the op that makes the map, whose name the map has.
      dtype: of the values.
      rank: of the batch, or None.
    """

    map_op: Operation
    dtype: DType
    rank: int | None


def store_sparse(
    elements: Sequence[Sequence[Any]], enqueue_many: bool, keep: Tensor
) -> tuple[list[list[Tensor]], list[Stored | None]]:
    """Replace the sparse tensors of elements by what goes through a queue.

    Args:
      elements: the components of each input's element.
      enqueue_many: whether each row is an element.
      keep: the condition under which elements are enqueued.

    Returns:
      The elements; and how each component is stored, None for a dense one.

    Raises:
      ValueError: the inputs differ in which components are sparse, or in their ranks.
      TypeError: no element is ever kept.
    """
    dense: list[list[Tensor]] = []
    kinds: list[list[Stored | None]] = []
    for element in elements:
        first = kinds[0] if kinds else [None] * len(element)
        pairs = [
            _stored(value, enqueue_many, keep, known and known.map_op)
            for value, known in zip(element, first, strict=True)
        ]
        dense.append(
            [
                value if kind is None else expand_dims(value, [-1])
                for value, kind in pairs
            ]
        )
        kinds.append([kind for _, kind in pairs])
        ranks = [
            [(kind is not None, kind and kind.rank) for kind in some]
            for some in (kinds[0], kinds[-1])
        ]
        if ranks[0] != ranks[1]:
            raise ValueError(
                f"Inconsistent SparseTensors list: {list(elements[0])} vs. "
                f"{list(element)}"
            )
    return dense, kinds[0]


def _stored(
    value: Any, enqueue_many: bool, keep: Tensor, map_op: Operation | None
) -> tuple[Tensor, Stored | None]:
    if not isinstance(value, SparseTensor):
        return value, None
    rank = value.dense_shape.get_shape().with_rank(1).as_list()[0]
    adding: list[Tensor] = []

    def add(sparse: SparseTensor) -> Tensor:
        kind = AddManySparseToTensorsMap if enqueue_many else AddSparseToTensorsMap
        op = kind(shared_name="" if map_op is None else map_op.name)
        adding.append(op(sparse.indices, sparse.values, sparse.dense_shape))
        return adding[0]

    def nothing() -> Tensor:
        if not enqueue_many:
            return constant(-1, dtypes.int64)
        return -1 * ones(shape(value)[0:1], dtypes.int64)

    if keep.get_shape().ndims == 1:
        handles = add(sparse_retain(value, gather(keep, value.indices[:, 0])))
    elif constant_value(keep) is None:
        handles = cond(keep, lambda: add(value), nothing)
    elif constant_value(keep):
        handles = add(value)
    else:
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or "
            "AddManySparseToTensorsMap, found `Const`: keep_input is False, so that no "
            "sparse tensor is ever stored. Leave the batch out."
        )
    batch_rank = None if rank is None else rank + (not enqueue_many)
    return handles, Stored(map_op or adding[0].op, value.values.dtype, batch_rank)


def restore_sparse(rows: Any, kinds: Sequence[Stored | None]) -> Any:
    """A batch with the sparse tensors whose numbers were dequeued.

    Args:
      rows: the dequeued tensor, or a list of them.
      kinds: how each component was stored.
    """
    if not any(kinds):
        return rows
    listed = list(rows) if isinstance(rows, list | tuple) else [rows]
    parts = [
        [tensor] if kind is None else _taken(tensor, kind)
        for tensor, kind in zip(listed, kinds, strict=True)
    ]
    # All are there before one is used: what was dequeued must be taken.
    every = [part for some in parts for part in some]
    parts = [[with_dependencies(every, part) for part in some] for some in parts]
    found = [
        some[0] if kind is None else SparseTensor(*some)
        for some, kind in zip(parts, kinds, strict=True)
    ]
    return found if isinstance(rows, list | tuple) else found[0]


def _taken(handles: Tensor, kind: Stored) -> list[Tensor]:
    numbers = squeeze(handles, [1])
    op = TakeManySparseFromTensorsMap(dtype=kind.dtype, shared_name=kind.map_op.name)
    with colocate_with(kind.map_op):
        indices, values, size = op(numbers)
    indices.set_shape([None, kind.rank])
    size.set_shape([kind.rank])
    return [indices, values, size]
