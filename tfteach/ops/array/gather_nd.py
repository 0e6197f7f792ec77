"""`tf.gather_nd`, which builds indices of batches from grids and tiles.

Source: python/ops/array_ops.py (gather_nd, batch_gather_nd).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.broadcast_to import meshgrid
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import GatherNd
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.range import Range
from tfteach.ops.math.reduce_ops import Prod


@export("gather_nd", "manip.gather_nd")
def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = None,
    batch_dims: Any = 0,
) -> Tensor:
    """Elements or slices of a tensor, selected by their coordinates.

    `result[i, ...] = params[tuple(indices[i]), ...]`

    Args:
      params: a Tensor.
      indices: int Tensor [..., depth] with depth <= params.rank.
      name: the op's name.
      batch_dims: the number of leading axes that `params` and `indices` share.

    Returns:
      A Tensor of shape indices.shape[:-1] + params.shape[batch_dims + depth:].

    Raises:
      InvalidArgumentError: coordinates lie outside `params`.
      ValueError: `batch_dims` is not below both ranks.

    Example:
      >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])  # [2, 3]

    Source: GatherNd in core/ops/array_ops.cc.
    """
    if isinstance(batch_dims, Tensor):
        known = constant_value(batch_dims)
        batch_dims = batch_dims if known is None else int(known)
    if isinstance(batch_dims, int | np.integer) and batch_dims == 0:
        read = getattr(params, "gather_nd", None)
        if read is not None:
            result: Tensor = read(indices, name=name)
            return result
        return GatherNd()(params, indices, name=name)
    if not isinstance(batch_dims, int):
        raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert(indices, None, "indices")
        params = convert(params, None, "params")
        _check(params, indices, batch_dims)
        return _gather_batches(params, indices, batch_dims)


def _check(params: Tensor, indices: Tensor, batch: int) -> None:
    if batch < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    for what, tensor in (("indices", indices), ("params", params)):
        known = tensor.shape.rank
        if known is not None and batch >= known:
            raise ValueError(
                f"batch_dims = {batch} must be less than rank({what}) = {known}"
            )


def _gather_batches(params: Tensor, indices: Tensor, batch: int) -> Tensor:
    """Each index prefixed with its batch coordinates, for a single GatherNd."""
    whole, index_shape = shape(params), shape(indices)
    outer = whole[:batch]
    count = Prod()(outer, [0])
    inner_rank = rank(indices) - batch - 1
    inner = index_shape[batch:-1]
    cast = Cast(DstT=indices.dtype.base_dtype)
    places = [cast(Range()(0, n, 1)) for n in unstack(outer, axis=0)]
    flat = [reshape(grid, (-1,)) for grid in meshgrid(*places, indexing="ij")]
    grid = transpose(stack(flat, axis=0))
    grid_shape = shape(grid)
    parts = [grid_shape[:1], ones(inner_rank, dtype=int32), grid_shape[1:]]
    grid = reshape(grid, concat(parts, axis=0))
    grid = tile(grid, multiples=concat(((1,), inner, (1,)), axis=0))
    flat_shape = concat(([count], index_shape[batch:]), axis=0)
    points = concat((grid, reshape(indices, flat_shape)), axis=-1)
    found = GatherNd()(params, points)
    return reshape(found, concat((outer, shape(found)[1:]), axis=0))
