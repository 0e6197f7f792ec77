"""`tf.compat.v2.sparse`.

Source: python/ops/sparse_ops.py, math_ops.py.
"""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
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

SEGMENTS = "data indices segment_ids | num_segments name"

sparse_add_v2 = with_parameters(
    sparse_add, "a b | threshold", threshold=0, v2="sparse.add"
)
sparse_concat_v2 = with_parameters(
    sparse_concat,
    "axis sp_inputs | expand_nonconcat_dims name",
    expand_nonconcat_dims=False,
    v2="sparse.concat",
)
sparse_segment_mean_v2 = with_parameters(
    sparse_segment_mean, SEGMENTS, v2="sparse.segment_mean"
)
sparse_segment_sqrt_n_v2 = with_parameters(
    sparse_segment_sqrt_n, SEGMENTS, v2="sparse.segment_sqrt_n"
)
sparse_segment_sum_v2 = with_parameters(
    sparse_segment_sum, SEGMENTS, v2="sparse.segment_sum"
)
sparse_split_v2 = with_parameters(
    sparse_split, "| sp_input num_split axis name", v2="sparse.split"
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
