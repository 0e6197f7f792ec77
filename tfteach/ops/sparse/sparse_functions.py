"""Sparse functions composed of other sparse ops.

Source: python/ops/sparse_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.unique import setdiff1d
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import fill, ones_like
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    SparseTensorLike,
    SparseTensorValue,
)
from tfteach.ops.math.binary import add, maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_max
from tfteach.ops.sparse.sparse_dense_math import as_sparse, with_parts
from tfteach.ops.sparse.sparse_shape import SparseReorder, sparse_reorder
from tfteach.ops.sparse.sparse_to_dense import sparse_to_dense


@export("sparse_retain", "sparse.retain")
def sparse_retain(sp_input: SparseTensorLike, to_retain: TensorLike) -> SparseTensor:
    """The entries of a SparseTensor for which `to_retain` is true.

    Args:
      sp_input: a SparseTensor with n entries.
      to_retain: bool Tensor [n].

    Source: python/ops/sparse_ops.py.
    """
    sp_input = as_sparse(sp_input)
    to_retain = convert(to_retain)
    (count,) = shapes.with_rank(to_retain.static_shape, 1)
    shapes.merge((count,), shapes.with_rank(sp_input.values.static_shape, 1))
    kept = reshape(where(to_retain), [-1])
    indices, values = gather(sp_input.indices, kept), gather(sp_input.values, kept)
    return SparseTensor(indices, values, identity(sp_input.dense_shape))


@export("sparse_transpose", "sparse.transpose")
def sparse_transpose(
    sp_input: SparseTensorLike, perm: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """A SparseTensor with its axes in the order `perm` (reversed if None).

    Source: python/ops/sparse_ops.py.
    """
    with name_scope(name, "SparseTranspose"):
        sp_input = with_parts(sp_input)
        if perm is None:
            count = rank(sp_input)
            perm = (count - 1) - range_of(0, count, 1)
        indices = transpose(gather(transpose(sp_input.indices), perm))
        sizes = gather(sp_input.dense_shape, perm)
        # As in TensorFlow, the static shape is unknown here even if it could be
        # inferred.
        indices, values = SparseReorder()(indices, sp_input.values, sizes)
        return SparseTensor(indices, values, identity(sizes))


@export("sparse_merge", "sparse.merge")
def sparse_merge(
    sp_ids: Any,
    sp_values: SparseTensorLike,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Feature ids and their values merged into one SparseTensor [batch, vocab_size].

    Several `sp_ids` become several axes of the result, [batch, *vocab_size].

    Args:
      sp_ids: a SparseTensor of integer ids, [batch, most ids]; or a list of them, with
        equal indices.
      sp_values: a SparseTensor with the same indices.
      vocab_size: the number of ids, an int or a Tensor; for a list, a list of them.
      name: the op's name.
      already_sorted: whether ids ascend in each row, so that sorting is skipped.

    Raises:
      TypeError: an argument has an unsupported type.
      ValueError: the two lists differ in length.

    Source: python/ops/sparse_ops.py.
    """
    if isinstance(sp_ids, SparseTensor | SparseTensorValue):
        if not isinstance(vocab_size, Tensor | Integral):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}"
            )
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    elif not isinstance(sp_ids, Iterable):
        raise TypeError(
            f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}"
        )
    is_list = isinstance(vocab_size, Iterable)
    for size in vocab_size if is_list else [vocab_size]:
        if not is_list or not isinstance(size, Tensor | Integral):
            raise TypeError(
                "vocab_size has to be a list of Tensors or Python ints. Found "
                f"{type(size)}"
            )
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge"):
        all_ids = [as_sparse(ids) for ids in sp_ids]
        sp_values = as_sparse(sp_values)
        columns = []
        for ids in all_ids:
            column = ids.values
            column = column if column.dtype == int64 else cast(column, int64)
            columns.append(expand_dims(column, axis=1))
        vocabulary = [cast(size, int64) for size in vocab_size]
        indices = concat([all_ids[0].indices[:, :-1], *columns], 1)
        sizes = concat([all_ids[0].dense_shape[:-1], vocabulary], 0)
        merged = SparseTensor(indices, sp_values.values, sizes)
        if already_sorted:
            return merged
        ordered = sparse_reorder(merged)
        return SparseTensor(ordered.indices, ordered.values, sizes)


@export("sparse_to_indicator", "sparse.to_indicator")
def sparse_to_indicator(
    sp_input: SparseTensorLike, vocab_size: Any, name: str | None = None
) -> Tensor:
    """Membership of ids in each row of a SparseTensor: bool [batch, vocab_size].

    Args:
      sp_input: a SparseTensor of int32 or int64 ids.
      vocab_size: the number of ids.
      name: the op's name.

    Source: python/ops/sparse_ops.py.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator") as scope:
        count = shape(sp_input.indices)[0]
        present = fill(expand_dims(count, 0), True)
        values = SparseTensor(sp_input.indices, present, sp_input.dense_shape)
        merged = sparse_merge(sp_input, values, vocab_size, name=scope)
        return sparse_to_dense(
            merged.indices,
            merged.dense_shape,
            merged.values,
            default_value=False,
            validate_indices=False,
            name=scope,
        )


@export("sparse_reset_shape", "sparse.reset_shape")
def sparse_reset_shape(
    sp_input: SparseTensorLike, new_shape: TensorLike | None = None
) -> SparseTensor:
    """A SparseTensor with the same indices and another dense shape.

    Args:
      sp_input: a SparseTensor.
      new_shape: int64 [rank], with no smaller size; None for the tightest shape.

    Raises:
      ValueError: `new_shape` is smaller, and that is known statically.

    Source: python/ops/sparse_ops.py.
    """
    sp_input = as_sparse(sp_input)
    indices, values = identity(sp_input.indices), identity(sp_input.values)
    old = identity(sp_input.dense_shape)
    if new_shape is None:
        largest = reduce_max(indices, axis=0)
        least = constant(0, int64)
        tightest = add(largest, ones_like(old))
        return SparseTensor(indices, values, maximum(least, tightest))
    sizes = cast(convert(new_shape), int64)
    (count,) = shapes.with_rank(sizes.static_shape, 1)
    shapes.merge((count,), old.static_shape)
    known = constant_value(sizes)
    if known is not None and sp_input.shape.is_fully_defined():
        if (known < np.array(sp_input.shape.as_list())).any():
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  "
                f"Found new_shape ({np.array(sp_input.shape.as_list())}), "
                f"sp_input.shape ({known})."  # swapped, as in TensorFlow
            )
        return SparseTensor(indices, values, known)
    return SparseTensor(indices, values, sizes)


@export("sparse_mask")
def sparse_mask(
    a: IndexedSlices, mask_indices: TensorLike, name: str | None = None
) -> IndexedSlices:
    """An IndexedSlices without the slices at `mask_indices`.

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        out_indices, to_gather = setdiff1d(a.indices, mask_indices)
        out_values = gather(a.values, to_gather, name=scope)
        return IndexedSlices(out_values, out_indices, a.dense_shape)
