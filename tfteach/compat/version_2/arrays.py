"""Functions of arrays as TensorFlow 2 calls them: shapes, slices, padding, blocks.

Source: python/ops/array_ops.py.
"""

from __future__ import annotations

from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.array.gather import boolean_mask, gather
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.padding import pad
from tfteach.ops.array.space_to_batch import batch_to_space_nd, space_to_batch_nd
from tfteach.ops.array.space_to_depth import depth_to_space, space_to_depth
from tfteach.ops.array.transpose_reverse import reverse_sequence, transpose
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.core.sparse_tensor import SparseTensor


@export(v2="batch_to_space")
def batch_to_space_v2(
    input: TensorLike,
    block_shape: TensorLike,
    crops: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.batch_to_space_nd`; `block_shape` may be an int for square blocks."""
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return batch_to_space_nd(input, block_shape, crops, name)


@export(v2="boolean_mask")
def boolean_mask_v2(
    tensor: TensorLike,
    mask: TensorLike,
    axis: int | None = None,
    name: str = "boolean_mask",
) -> Tensor:
    """`tf.boolean_mask`, its arguments in TensorFlow 2's order."""
    return boolean_mask(tensor, mask, axis=axis, name=name)


@export(v2="expand_dims")
def expand_dims_v2(
    input: TensorLike,
    axis: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.expand_dims` without `dim`."""
    return expand_dims(input, axis, name)


@export(v2="gather")
def gather_v2(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """`tf.gather`, its arguments in TensorFlow 2's order."""
    return gather(
        params, indices, validate_indices, axis=axis, batch_dims=batch_dims, name=name
    )


@export(v2="gather_nd")
def gather_nd_v2(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """`tf.gather_nd`, its arguments in TensorFlow 2's order."""
    return gather_nd(params, indices, batch_dims=batch_dims, name=name)


@export(v2="ones_like")
def ones_like_v2(
    input: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.ones_like` without `tensor`, `optimize`."""
    return ones_like(input, dtype, name)


@export(v2="zeros_like")
def zeros_like_v2(
    input: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.zeros_like` without `tensor`, `optimize`."""
    return zeros_like(input, dtype, name)


@export(v2="pad")
def pad_v2(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """`tf.pad`, its arguments in TensorFlow 2's order."""
    return pad(tensor, paddings, mode, constant_values=constant_values, name=name)


@export(v2="reverse_sequence")
def reverse_sequence_v2(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.reverse_sequence` without `seq_dim`, `batch_dim`."""
    return reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


@export(v2="shape")
def shape_v2(
    input: TensorLike | SparseTensor,
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """`tf.shape`, its arguments in TensorFlow 2's order."""
    return shape(input, out_type=out_type, name=name)


@export(v2="size")
def size_v2(
    input: TensorLike | SparseTensor,
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """`tf.size`, its arguments in TensorFlow 2's order."""
    return size(input, out_type=out_type, name=name)


@export(v2="nn.space_to_batch space_to_batch")
def space_to_batch_v2(
    input: TensorLike,
    block_shape: TensorLike,
    paddings: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.space_to_batch_nd`: the blocks' sizes are `block_shape`."""
    return space_to_batch_nd(input, block_shape, paddings, name)


@export(v2="squeeze")
def squeeze_v2(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.squeeze` without `squeeze_dims`."""
    return squeeze(input, axis, name)


@export(v2="transpose")
def transpose_v2(
    a: TensorLike,
    perm: TensorLike | None = None,
    conjugate: bool = False,
    name: str = "transpose",
) -> Tensor:
    """`tf.transpose`, its arguments in TensorFlow 2's order."""
    return transpose(a, perm, conjugate=conjugate, name=name)


@export(v2="nn.depth_to_space")
def depth_to_space_v2(
    input: TensorLike,
    block_size: int,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """`tf.nn.depth_to_space`, its arguments in TensorFlow 2's order."""
    return depth_to_space(input, block_size, data_format=data_format, name=name)


@export(v2="nn.space_to_depth")
def space_to_depth_v2(
    input: TensorLike,
    block_size: int,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """`tf.nn.space_to_depth`, its arguments in TensorFlow 2's order."""
    return space_to_depth(input, block_size, data_format=data_format, name=name)
