"""Gather by index, and boolean masks.

Source: core/ops/array_ops.cc, python/ops/array_ops.py, python/ops/array_grad.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.constant_values import constant_value, python_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices, quietly
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.identity_reshape import INDICES, expand_dims, reshape, squeeze
from tfteach.ops.core.shape_ops import cast, shape, size
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import Cast
from tfteach.ops.math.range import Range
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_ops import Prod


def position(indices: Any, bad: Any) -> str:
    """Position of the first invalid index in `indices`: "[1,0]", "" for a scalar."""
    if not indices.ndim:
        return ""
    first = np.argwhere(np.asarray(bad))[0]
    return "[" + ",".join(str(i) for i in first) + "]"


_UNSIGNED = {4: np.uint32, 8: np.uint64}


def are_inside(indices: Any, limit: int) -> Any:
    """Whether each index is in [0, limit): unsigned, negative numbers are large."""
    return indices.view(_UNSIGNED[indices.dtype.itemsize]) < limit


def _check_nothing(xp: ArrayModule, indices: Any, limit: int) -> None:
    """TensorFlow's GPU kernels do not check: the host would wait for the answer."""


@with_card_kernel(_check_nothing)
def check_indices(xp: ArrayModule, indices: Any, limit: int) -> None:
    """Raise unless each index is in [0, limit).

    On cards nothing is checked: gathers return 0 there for an index that is outside,
    and scatters ignore it.
    """
    if not indices.size:
        return
    wide = indices.view(_UNSIGNED[indices.dtype.itemsize])
    if wide.item(wide.argmax()) < limit:  # in half the time of max
        return
    bad = (indices < 0) | (indices >= limit)
    at = position(indices, bad)
    value = indices.reshape(-1)[int(xp.argmax(bad))]
    raise invalid_argument(f"indices{at} = {value} is not in [0, {limit})")


def _take_on_card(xp: ArrayModule, params: Any, indices: Any, axis: int) -> Any:
    size = params.shape[axis]
    rest = (1,) * (params.ndim - axis - 1)
    if not size:
        shape = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
        return xp.zeros(shape, params.dtype)
    taken = xp.take(params, indices, axis)  # CuPy takes an index modulo the size
    inside = are_inside(indices, size).reshape((*indices.shape, *rest))
    return xp.where(inside, taken, params.dtype.type(0))


@with_card_kernel(_take_on_card)
def _take(xp: ArrayModule, params: Any, indices: Any, axis: int) -> Any:
    if indices.size:
        wide = indices.view(_UNSIGNED[indices.dtype.itemsize])
        if wide.item(wide.argmax()) >= params.shape[axis]:
            check_indices(xp, indices, params.shape[axis])
    # The indices are already checked; unlike "raise", "clip" makes no second copy.
    return params.take(indices, axis, None, "clip" if params.size else "raise")


class Gather(Op):
    """Rows selected by index.  Source: core/ops/array_ops.cc, Gather."""

    signature = "params: Tparams, indices: Tindices -> output: Tparams"
    Tindices = INDICES
    validate_indices: bool = True
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, params: Shape, indices: Shape) -> Shape:
        params = shapes.with_rank_at_least(params, 1)
        if params is None or indices is None:
            return None
        return indices + params[1:]

    def check_shapes(self, params: tuple[int, ...]) -> None:
        require(params, "params must be at least 1 dimensional")

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        return 0, 2 * math.prod(outputs[0])  # not the whole table

    def compute(self, xp: ArrayModule, params: Array, indices: Array) -> Any:
        return _take(xp, params, indices, 0)

    def rows_read(self, params: Any, indices: Any) -> Any:
        return indices

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        params, indices = op.inputs
        params_shape = _params_shape(params)
        return [_row_gradient(grad, indices, params_shape), None]


def _params_shape(params: Tensor) -> Tensor:
    # Colocated with `params`: it may be remote, and larger than int32 can index.
    with colocate_with(params):
        return cast(shape(params, out_type=int64), int32)


def _row_gradient(grad: Any, indices: Tensor, params_shape: Tensor) -> IndexedSlices:
    count = expand_dims(size(indices), 0)
    values_shape = concat([count, params_shape[1:]], 0)
    with quietly():
        values = reshape(grad, values_shape)
    return IndexedSlices(values, reshape(indices, count), params_shape)


class GatherV2(Op):
    """Slices along an axis, selected by index.  Source: array_ops.cc, GatherV2."""

    signature = "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams"
    ranks: ClassVar[dict[str, int | tuple[int, ...]]] = {"axis": 0}
    Tindices = INDICES
    Taxis = INDICES
    batch_dims: int = 0
    by_value: ClassVar[tuple[str, ...]] = ("axis",)
    host_inputs: ClassVar[tuple[str, ...]] = ("axis",)
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def infer_shape(self, params: Shape, indices: Shape, axis: Any) -> Shape:
        if axis is None:
            if params is None or indices is None:
                return None
            return (None,) * (len(params) + len(indices) - 1 - self._batch(indices))
        at = int(np.reshape(axis, ()))
        params = shapes.with_rank_at_least(params, at + 1 if at >= 0 else -at)
        if params is None or indices is None:
            return None
        at %= len(params)
        batch = self._batch(indices)
        shared = shapes.merge(params[:batch], indices[:batch])
        assert shared is not None
        return shared + params[batch:at] + indices[batch:] + params[at + 1 :]

    def _batch(self, indices: Any) -> int:
        return self.batch_dims + (len(indices) if self.batch_dims < 0 else 0)

    def check_shapes(self, params: tuple[int, ...], axis: tuple[int, ...]) -> None:
        require(params, "params must be at least 1 dimensional")
        require_scalar(axis, "axis must be scalar")

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        return 0, 2 * math.prod(outputs[0])  # not the whole table

    def compute(self, xp: ArrayModule, params: Array, indices: Array, axis: Any) -> Any:
        at, rank = axis.item(), params.ndim
        if not -rank <= at < rank:
            raise invalid_argument(
                f"Expected axis in the range [{-rank}, {rank}), but got {at}"
            )
        at %= rank
        batch = self._batch(indices.shape)
        if not 0 <= batch <= indices.ndim:
            raise invalid_argument(
                f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}), "
                f"but got {min(batch, self.batch_dims)}"
            )
        if batch > at:
            raise invalid_argument(
                f"batch_dims ({batch}) must be less than or equal to axis ({at})."
            )
        if not batch:
            return _take(xp, params, indices, at)
        if params.shape[:batch] != indices.shape[:batch]:
            raise invalid_argument(
                f"params.shape[:{batch}] = {list(params.shape[:batch])} must equal "
                f"indices.shape[:{batch}] = {list(indices.shape[:batch])}"
            )
        check_indices(xp, indices, params.shape[at])
        rows = xp.moveaxis(params, at, batch)
        inner = indices.ndim - batch
        lead = tuple(
            xp.arange(n).reshape((n,) + (1,) * (batch - 1 - i + inner))
            for i, n in enumerate(params.shape[:batch])
        )
        found = rows[(*lead, indices)]
        # the axes of `found`: batch, indices, params before the axis, params after it
        source = range(batch, batch + inner)
        target = range(at, at + inner)
        return xp.moveaxis(found, tuple(source), tuple(target))

    def rows_read(self, params: Any, indices: Any, axis: Any) -> Any:
        return indices if int(axis) == 0 else None

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        params, indices, axis = op.inputs
        params_shape = _params_shape(params)
        if python_constant_value(axis) == 0:
            return [_row_gradient(grad, indices, params_shape), None, None]
        count = expand_dims(size(indices), 0)
        batch = self.batch_dims
        if batch < 0:
            batch += len(indices.static_shape or ())
        return [
            _axis_gradient(grad, params_shape, indices, axis, batch, count),
            None,
            None,
        ]


def _axis_gradient(
    grad: Any, params_shape: Tensor, indices: Tensor, axis: Any, batch: int, count: Any
) -> Tensor:
    """Move the gathered axis behind the batch axes, sum the rows, and move it back."""
    outer = params_shape[:axis]
    inner = params_shape[axis:][1:]
    values_shape = concat([outer, [-1], inner], 0)
    rank, axis_count = size(values_shape), size(outer)
    batches = range_of(0, batch)
    between = range_of(batch, axis_count)
    after = range_of(axis_count + 1, rank)
    values = reshape(grad, values_shape)
    order = concat([batches, [axis_count], between, after], 0)
    values = transpose(values, order)
    # TF assumes that the gathered axis follows the batch axes, which yields a wrong
    # gradient if it is a later one; in that case the graphs differ.
    is_next = bool(constant_value(axis) == batch)
    rows = params_shape[axis]
    summed = _sum_rows(params_shape, values, indices, batch, rows, is_next)
    back = concat([batches, between + 1, [batch], after], 0)
    return transpose(summed, back)


def _sum_rows(
    params_shape: Tensor,
    values: Tensor,
    indices: Tensor,
    batch: int,
    rows: Tensor,
    is_next: bool,
) -> Tensor:
    from tfteach.ops.array.segment_ops import UnsortedSegmentSum

    count = expand_dims(size(indices), 0)
    if batch:
        values_shape = shape(values)
        outer = values_shape[:batch]
        inner = values_shape[batch:][1:]
        batch_size = Prod()(outer, [0])
        flat = concat([[-1], inner], 0)
        dtype = indices.dtype.base_dtype
        gathered = None if is_next else cast(rows, dtype)
        rows = rows * batch_size
        sizes = cast(params_shape, dtype)
        indices = _batch_indices(sizes, indices, batch, gathered=gathered)
        values = reshape(values, flat)
    indices = reshape(indices, count)
    summed: Tensor = UnsortedSegmentSum()(values, indices, rows)
    if batch:
        summed = reshape(summed, concat([outer, flat], 0))
    return summed


def _batch_indices(
    sizes: Tensor,
    indices: Tensor,
    batch: int,
    name: str = "range",
    gathered: Tensor | None = None,
    width: Tensor | None = None,
) -> Tensor:
    """The indices into the table with its batch axes flattened; sizes of its type."""
    result, dtype = indices, indices.dtype.base_dtype
    rank = len(indices.static_shape or ())
    width = ones((), dtype=dtype) if width is None else width
    for axis in range(batch, 0, -1):
        here = sizes[axis - 1]
        inner = sizes[axis] if axis < batch or gathered is None else gathered
        width = width * inner
        start = zeros((), dtype=dtype)
        step = ones((), dtype=dtype)
        numbers = Range()(start, here, step, name=name) * width
        at = stack([1] * (axis - 1) + [here] + [1] * (rank - axis), axis=0)
        result = result + reshape(numbers, at)
    return result


# ---- public functions


@export("gather")
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: Any = None,
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of a tensor along an axis, selected by index.

    `result[i, ...] = params[indices[i], ...]` for axis 0.

    Args:
      params: Tensor of rank at least axis + 1.
      indices: int Tensor of any shape, values in [0, params.shape[axis]).
      validate_indices: ignored, as in TF.
      name: the op's name.
      axis: the axis to gather along; `batch_dims` if None.
      batch_dims: the number of leading axes that `params` and `indices` share.

    Returns:
      A Tensor of shape params.shape[:axis] + indices.shape[batch_dims:]
      + params.shape[axis + 1:].

    Raises:
      InvalidArgumentError: an index is out of range.

    Example:
      >>> tf.gather([[1, 2], [3, 4], [5, 6]], [2, 0])  # [[5, 6], [1, 2]]

    Source: GatherV2 in core/ops/array_ops.cc.
    """
    axis = batch_dims if axis is None else axis
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is not None and not isinstance(known, Tensor) and known == 0:
        read = getattr(params, "sparse_read", None)
        if read is not None:
            result: Tensor = read(indices, name=name)
            return result
        batch_dims = 0
    return GatherV2(batch_dims)(params, indices, axis, name=name)


@export("batch_gather")
def batch_gather(
    params: TensorLike, indices: TensorLike, name: str | None = None
) -> Tensor:
    """Rows selected by index in each batch member (deprecated; see `gather`).

    Args:
      params: Tensor [..., n, ...].
      indices: int Tensor [..., m], with the same leading axes.
      name: the name of the scope.

    Returns:
      A Tensor [..., m, ...].

    Raises:
      ValueError: the rank of `indices` is not known.

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert(indices, None, "indices")
        params = convert(params, None, "params")
        if indices.static_shape is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch = len(indices.static_shape) - 1
        indices_shape, params_shape = shape(indices), shape(params)
        # The order of TF's nodes: ones, then the sizes, cast even if the type is the
        # same.
        width = ones((), dtype=indices.dtype.base_dtype)
        sizes = Cast(DstT=indices.dtype.base_dtype)(params_shape)
        flat_indices = _batch_indices(sizes, indices, batch, "Range", width=width)
        flat_indices = reshape(flat_indices, [-1])
        inner = params_shape[batch + 1 :]
        rows = Prod()(params_shape[: batch + 1], [0])
        flat = reshape(params, concat([[rows], inner], axis=0))
        found = gather(flat, flat_indices)
        result = reshape(found, concat([indices_shape, inner], axis=0))
        known = params.static_shape
        if known is not None:
            shared = shapes.merge(indices.static_shape[:batch], known[:batch])
            assert shared is not None
            result.set_shape(shared + indices.static_shape[batch:] + known[batch + 1 :])
        return result


@export("boolean_mask")
def boolean_mask(
    tensor: TensorLike,
    mask: TensorLike,
    name: str | None = "boolean_mask",
    axis: int | None = None,
) -> Tensor:
    """The slices where a mask is true.

    Args:
      tensor: a Tensor.
      mask: bool Tensor of known rank, the shape of `tensor` from `axis` on.
      name: the name of the scope.
      axis: the first masked axis; 0 if None.

    Returns:
      A Tensor in which the masked axes are merged into one.

    Raises:
      ValueError: the mask is a scalar, of unknown rank, or of an incompatible shape.

    Source: python/ops/array_ops.py.
    """
    with name_scope(name, "boolean_mask", values=[tensor, mask]):
        tensor = convert(tensor, None, "tensor")
        mask = convert(mask, None, "mask")
        rank, whole = mask.shape.rank, tensor.shape
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if rank is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions "
                "are None.  E.g. shape=[None] is ok, but shape=None is not."
            )
        axis = 0 if axis is None else axis
        whole[axis : axis + rank].assert_is_compatible_with(mask.shape)
        leading = Prod()(shape(tensor)[axis : axis + rank], [0])
        flat = concat(
            [shape(tensor)[:axis], [leading], shape(tensor)[axis + rank :]], 0
        )
        tensor = reshape(tensor, flat)
        count = whole[axis : axis + rank].num_elements()
        tensor.set_shape(
            whole[:axis].concatenate([count]).concatenate(whole[axis + rank :])
        )
        mask = reshape(mask, [-1])
        return gather(tensor, squeeze(where(mask), axis=[1]), axis=axis)
