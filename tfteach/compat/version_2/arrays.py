"""Functions of arrays as TensorFlow 2 calls them: shapes, slices, padding, blocks.

Source: python/ops/array_ops.py.
"""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.gather import boolean_mask, gather
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.padding import pad
from tfteach.ops.array.space_to_batch import batch_to_space_nd, space_to_batch_nd
from tfteach.ops.array.space_to_depth import depth_to_space, space_to_depth
from tfteach.ops.array.transpose_reverse import reverse_sequence, transpose
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import shape, size

shape_v2 = with_parameters(shape, "input | out_type name", v2="shape")
size_v2 = with_parameters(size, "input | out_type name", v2="size")
expand_dims_v2 = with_parameters(expand_dims, "input axis | name", v2="expand_dims")
squeeze_v2 = with_parameters(squeeze, "input | axis name", v2="squeeze")
transpose_v2 = with_parameters(transpose, "a | perm conjugate name", v2="transpose")
ones_like_v2 = with_parameters(ones_like, "input:tensor | dtype name", v2="ones_like")
zeros_like_v2 = with_parameters(
    zeros_like, "input:tensor | dtype name", v2="zeros_like"
)
pad_v2 = with_parameters(pad, "tensor paddings | mode constant_values name", v2="pad")
reverse_sequence_v2 = with_parameters(
    reverse_sequence,
    "input seq_lengths | seq_axis batch_axis name",
    v2="reverse_sequence",
)
boolean_mask_v2 = with_parameters(
    boolean_mask, "tensor mask | axis name", v2="boolean_mask"
)
gather_v2 = with_parameters(
    gather, "params indices | validate_indices axis batch_dims name", v2="gather"
)
gather_nd_v2 = with_parameters(
    gather_nd, "params indices | batch_dims name", v2="gather_nd"
)
depth_to_space_v2 = with_parameters(
    depth_to_space, "input block_size | data_format name", v2="nn.depth_to_space"
)
space_to_depth_v2 = with_parameters(
    space_to_depth, "input block_size | data_format name", v2="nn.space_to_depth"
)


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


@export(v2="nn.space_to_batch space_to_batch")
def space_to_batch_v2(
    input: TensorLike,
    block_shape: TensorLike,
    paddings: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`tf.space_to_batch_nd`: the blocks' sizes are `block_shape`."""
    return space_to_batch_nd(input, block_shape, paddings, name)
