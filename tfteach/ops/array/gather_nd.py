"""Gather by coordinates; `tf.gather_nd` builds those of batches from grids and tiles.

Source: core/ops/array_ops.cc, python/ops/array_grad.py, python/ops/array_ops.py
(gather_nd, batch_gather_nd).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.broadcast_to import meshgrid
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import position
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import INDICES, reshape, squeeze
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.range import Range
from tfteach.ops.math.reduce_ops import Prod


def check_points(
    xp: ArrayModule, indices: Any, whole: tuple[int, ...], what: str
) -> None:
    """Raise for rows of `indices` that lie outside an array of shape `whole`."""
    depth = indices.shape[-1]
    if not indices.size:
        return
    limits = xp.asarray(whole[:depth])
    bad = ((indices < 0) | (indices >= limits)).any(-1)
    if not bool(bad.any()):
        return
    at = position(indices[..., 0], bad)
    row = indices.reshape(-1, depth)[int(xp.argmax(bad))]
    text = ", ".join(str(i) for i in row.tolist())
    size_text = ",".join(map(str, whole))
    raise invalid_argument(
        f"indices{at} = [{text}] does not index into {what} [{size_text}]"
    )


class GatherNd(Op):
    """Elements or slices selected by their coordinates.

    Source: array_ops.cc, GatherNd.
    """

    signature = "params: Tparams, indices: Tindices -> output: Tparams"
    Tindices = INDICES
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, params: Shape, indices: Shape) -> Shape:
        shapes.with_rank_at_least(indices, 1)
        if params is None or indices is None or indices[-1] is None:
            return None
        if indices[-1] > len(params):
            raise ValueError(
                "indices.shape[-1] must be <= params.rank, but saw indices shape: "
                f"{shapes.text(indices)} and params shape: {shapes.text(params)}"
            )
        return indices[:-1] + params[indices[-1] :]

    def check_shapes(self, params: tuple[int, ...], indices: tuple[int, ...]) -> None:
        require(params, "params must be at least a vector")
        require(indices, "indices must be at least a vector")

    def compute(self, xp: ArrayModule, params: Array, indices: Array) -> Any:
        depth = indices.shape[-1]
        if depth > params.ndim:
            raise invalid_argument(
                "index innermost dimension length must be <= params rank; saw: "
                f"{depth} vs. {params.ndim}"
            )
        if not params.size and indices.shape[:-1].count(0) == 0:
            raise invalid_argument(
                "Requested more than 0 entries, but params is empty.  Params shape: "
                f"{shapes.text(params.shape)}"
            )
        if not depth:
            target = indices.shape[:-1] + params.shape
            return xp.broadcast_to(params, target).copy()
        check_points(xp, indices, params.shape, "param shape")
        return params[tuple(indices[..., i] for i in range(depth))]

    def rows_read(self, params: Any, indices: Any) -> Any:
        return indices[..., 0] if indices.shape[-1] else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.array.scatter_nd import ScatterNd

        params, indices = op.inputs
        params_shape = shape(params, out_type=indices.dtype.base_dtype)
        known = indices.static_shape
        if known is not None and len(known) == 2 and known[-1] == 1:
            rows = squeeze(indices, axis=-1)
            return [IndexedSlices(grad, rows, params_shape), None]
        return [ScatterNd()(indices, grad, params_shape), None]


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
