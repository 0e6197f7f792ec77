"""`tf.compat.v2.sparse`.

Source: python/ops/sparse_ops.py, math_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.sparse.sparse_add import sparse_add
from tfteach.ops.sparse.sparse_concat_split import sparse_concat, sparse_split
from tfteach.ops.sparse.sparse_reduce import (
    SparseReduceMax,
    SparseReduceMaxSparse,
    SparseReduceSum,
    SparseReduceSumSparse,
    reduce_sparse,
)
from tfteach.ops.sparse.sparse_segment import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)


@export(v2="sparse.add")
def sparse_add_v2(
    a: SparseTensorLike | TensorLike,
    b: SparseTensorLike | TensorLike,
    threshold: TensorLike = 0,
) -> Tensor | SparseTensor:
    """`tf.sparse.add` without `thresh`."""
    found: Tensor | SparseTensor = sparse_add(a, b, threshold)
    return found


@export(v2="sparse.concat")
def sparse_concat_v2(
    axis: int,
    sp_inputs: Sequence[SparseTensorLike],
    expand_nonconcat_dims: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """`tf.sparse.concat` without `expand_nonconcat_dim`, `concat_dim`."""
    return sparse_concat(
        axis, sp_inputs, expand_nonconcat_dims=expand_nonconcat_dims, name=name
    )


@export(v2="sparse.reduce_max")
def sparse_reduce_max_v2(
    sp_input: SparseTensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:
    """`tf.sparse.reduce_max` without `reduction_axes`, `keep_dims`."""
    kind = SparseReduceMaxSparse if output_is_sparse else SparseReduceMax
    found: Tensor | SparseTensor
    found = reduce_sparse(kind, sp_input, axis, keepdims, name=name)
    return found


@export(v2="sparse.reduce_sum")
def sparse_reduce_sum_v2(
    sp_input: SparseTensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:
    """`tf.sparse.reduce_sum` without `reduction_axes`, `keep_dims`."""
    kind = SparseReduceSumSparse if output_is_sparse else SparseReduceSum
    found: Tensor | SparseTensor
    found = reduce_sparse(kind, sp_input, axis, keepdims, name=name)
    return found


@export(v2="sparse.segment_mean")
def sparse_segment_mean_v2(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.sparse.segment_mean`, its arguments in TensorFlow 2's order."""
    return sparse_segment_mean(
        data, indices, segment_ids, num_segments=num_segments, name=name
    )


@export(v2="sparse.segment_sqrt_n")
def sparse_segment_sqrt_n_v2(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.sparse.segment_sqrt_n`, its arguments in TensorFlow 2's order."""
    return sparse_segment_sqrt_n(
        data, indices, segment_ids, num_segments=num_segments, name=name
    )


@export(v2="sparse.segment_sum")
def sparse_segment_sum_v2(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.sparse.segment_sum`, its arguments in TensorFlow 2's order."""
    return sparse_segment_sum(
        data, indices, segment_ids, num_segments=num_segments, name=name
    )


@export(v2="sparse.split")
def sparse_split_v2(
    sp_input: SparseTensorLike | None = None,
    num_split: int | None = None,
    axis: TensorLike | None = None,
    name: str | None = None,
) -> list[SparseTensor]:
    """`tf.sparse.split` without `keyword_required`, `split_dim`."""
    return sparse_split(sp_input=sp_input, num_split=num_split, axis=axis, name=name)
