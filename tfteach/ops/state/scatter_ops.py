"""Partial updates of variables: rows, elements, slices.

Source: core/ops/state_ops.cc, resource_variable_ops.cc; core/kernels/scatter_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import UnimplementedError, invalid_argument
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.framework.variable_cell import Cell, update_in_place
from tfteach.ops.array.gather import check_indices
from tfteach.ops.array.gather_nd import check_points
from tfteach.ops.array.strided_slice import StridedSlice
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.state.resource_variables import NUMBERS, require_value
from tfteach.ops.state.row_updates import update_rows

ORDERED = dtypes_of("half bfloat16 float32 float64 int32 int64")


# ---- kernels


def scatter(
    ctx: KernelContext, how: str, cell: Cell, indices: Any, updates: Any
) -> None:
    """Update the rows `indices` of a variable."""
    xp, text = ctx.xp, shapes.text
    shape = cell.value.shape
    if not shape:
        raise invalid_argument(f"params must be at least 1-D, got shape {text(shape)}")
    wanted = (*indices.shape, *shape[1:])
    if updates.shape not in ((), wanted):
        raise invalid_argument(
            "Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = [], got updates.shape {text(updates.shape)}, "
            f"indices.shape {text(indices.shape)}, params.shape {text(shape)}"
        )
    check_indices(xp, indices, shape[0])
    _check_divisor(how, updates)
    ids = indices.reshape(-1)
    if updates.shape != wanted:
        updates = xp.broadcast_to(updates, wanted)
    rows = updates.reshape((ids.size, *shape[1:]))

    def update(arrays: list[Any]) -> None:
        update_rows(xp, how, arrays[0], ids, rows)

    update_in_place((cell,), update, ctx.may_defer, (ids, shape[1:]))


def scatter_points(
    ctx: KernelContext, how: str, cell: Cell, indices: Any, updates: Any
) -> None:
    """Update the elements (or slices) of a variable that `indices` addresses."""
    xp = ctx.xp
    shape = cell.value.shape
    if indices.shape[:1] != updates.shape[:1] or not indices.ndim:
        raise invalid_argument(
            "The outermost dimension of updates and indices must match. Got "
            f"indices.shape {shapes.text(indices.shape)}, updates.shape "
            f"{shapes.text(updates.shape)}"
        )
    if indices.ndim == 1:  # row indices, whatever the shape rule says
        indices = indices[:, None]
    depth = indices.shape[-1]
    wanted = (*indices.shape[:-1], *shape[depth:])
    if depth > len(shape) or updates.shape != wanted:
        raise invalid_argument(
            "Must have updates.shape = indices.shape[:batch_dim] + "
            f"params_shape[slice_dim:], got updates.shape: "
            f"{shapes.text(updates.shape)}, indices.shape: "
            f"{shapes.text(indices.shape)}, params_shape: {shapes.text(shape)}, "
            f"slice_dim: {depth}, and batch_dim: {indices.ndim - 1}"
        )
    check_points(xp, indices, shape, "shape")
    ids = xp.zeros(indices.shape[:-1], "int64")
    for i in range(depth):
        ids = ids * shape[i] + indices[..., i]
    rows = updates.reshape((ids.size, *shape[depth:]))
    count = int(np.prod(shape[:depth], dtype=np.int64))

    def update(arrays: list[Any]) -> None:
        flat = arrays[0].reshape((count, *shape[depth:]))
        update_rows(xp, how, flat, ids.reshape(-1), rows)

    rows_written = ids.reshape(-1), shape[depth:]
    update_in_place((cell,), update, ctx.may_defer, rows_written)


def _check_divisor(how: str, updates: Any) -> None:
    if how == "divide" and updates.dtype.kind in "iu" and bool((updates == 0).any()):
        raise invalid_argument("Integer division by zero")


# ---- base classes


class _Scatter(StatefulOp, abstract=True):
    """Updates of rows of a reference variable."""

    signature = "ref: ref T, indices: Tindices, updates: T -> output_ref: ref T"
    Tindices = INDICES
    use_locking: bool = False
    aliases: ClassVar[bool] = True
    row_ids: ClassVar[str] = "indices"
    how: ClassVar[str]

    def infer_shape(self, ref: Shape, indices: Shape, updates: Shape) -> Any:
        if ref is not None and indices is not None and updates != ():
            shapes.merge(updates, indices + shapes.with_rank_at_least(ref, 1)[1:])  # type: ignore[index]
        return ref

    def compute(self, ctx: KernelContext, ref: Cell, indices: Any, updates: Any) -> Any:
        scatter(ctx, self.how, ref, indices, updates)
        return ref


class _ResourceScatter(StatefulOp, NoOutputOp, abstract=True):
    """Updates of rows of a resource variable."""

    signature = "resource: resource, indices: Tindices, updates: dtype ->"
    Tindices = INDICES
    by_handle: ClassVar[tuple[str, ...]] = ("resource",)
    row_ids: ClassVar[str] = "indices"
    how: ClassVar[str]

    def infer_shape(self, resource: Shape, indices: Shape, updates: Shape) -> Any:
        if resource is not None and indices is not None and updates != ():
            shapes.merge(updates, indices + resource[1:])
        return []

    def compute(
        self, ctx: KernelContext, resource: Cell, indices: Any, updates: Any
    ) -> Any:
        require_value(resource)
        scatter(ctx, self.how, resource, indices, updates)
        return ()


class _ScatterNd(StatefulOp, abstract=True):
    """Updates of elements or slices of a reference variable."""

    signature = "ref: ref T, indices: Tindices, updates: T -> output_ref: ref T"
    Tindices = INDICES
    use_locking: bool = False
    aliases: ClassVar[bool] = True
    how: ClassVar[str]
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, ref: Shape, indices: Shape, updates: Shape) -> Any:
        _check_points_shape(ref, indices, updates)
        return ref

    def compute(self, ctx: KernelContext, ref: Cell, indices: Any, updates: Any) -> Any:
        scatter_points(ctx, self.how, ref, indices, updates)
        return ref


class _ResourceScatterNd(StatefulOp, NoOutputOp, abstract=True):
    """Updates of elements or slices of a resource variable."""

    signature = "ref: resource, indices: Tindices, updates: T ->"
    Tindices = INDICES
    use_locking: bool = True
    by_handle: ClassVar[tuple[str, ...]] = ("ref",)
    how: ClassVar[str]
    int32_on_gpu: ClassVar[Int32Kernel] = "device"

    def infer_shape(self, ref: Shape, indices: Shape, updates: Shape) -> Any:
        _check_points_shape(ref, indices, updates)
        return []

    def compute(self, ctx: KernelContext, ref: Cell, indices: Any, updates: Any) -> Any:
        require_value(ref)
        scatter_points(ctx, self.how, ref, indices, updates)
        return ()


def _check_points_shape(whole: Shape, indices: Shape, updates: Shape) -> None:
    if indices == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if whole is None or not indices or indices[-1] is None:
        return
    if updates is None or indices[-1] > len(whole):  # fails at run time
        return
    outer = len(indices) - 1
    sides = (
        ("outer", "indices", indices, indices[:-1], updates[:outer]),
        ("inner", "input", whole, whole[indices[-1] :], updates[outer:]),
    )
    for side, name, shape, ours, given in sides:
        try:
            shapes.merge(ours, given)
        except ValueError as error:
            raise ValueError(
                f"The {side} {len(ours)} dimensions of {name}.shape="
                f"{shapes.text(shape)} must match the {side} {len(given)} dimensions "
                f"of updates.shape={shapes.text(updates)}: {error}"
            ) from None


# ---- rows


class ScatterUpdate(_Scatter):
    """Rows set to `updates`.  Source: state_ops.cc, ScatterUpdate."""

    use_locking: bool = True
    how: ClassVar[str] = "set"


class ScatterAdd(_Scatter):
    """Rows increased by `updates`.  Source: state_ops.cc, ScatterAdd."""

    T = NUMBERS
    how: ClassVar[str] = "add"
    stops_gradients: ClassVar[bool] = True


class ScatterSub(_Scatter):
    """Rows decreased by `updates`.  Source: state_ops.cc, ScatterSub."""

    T = NUMBERS
    how: ClassVar[str] = "subtract"
    stops_gradients: ClassVar[bool] = True


class ScatterMul(_Scatter):
    """Rows multiplied by `updates`.  Source: state_ops.cc, ScatterMul."""

    T = NUMBERS
    how: ClassVar[str] = "multiply"
    stops_gradients: ClassVar[bool] = True


class ScatterDiv(_Scatter):
    """Rows divided by `updates`.  Source: state_ops.cc, ScatterDiv."""

    T = NUMBERS
    how: ClassVar[str] = "divide"
    stops_gradients: ClassVar[bool] = True


class ScatterMin(_Scatter):
    """Minimum of rows and `updates`.  Source: state_ops.cc, ScatterMin."""

    T = ORDERED
    how: ClassVar[str] = "minimum"


class ScatterMax(_Scatter):
    """Maximum of rows and `updates`.  Source: state_ops.cc, ScatterMax."""

    T = ORDERED
    how: ClassVar[str] = "maximum"


class ResourceScatterUpdate(_ResourceScatter):
    """Rows set to `updates`.  Source: resource_variable_ops.cc."""

    how: ClassVar[str] = "set"


class ResourceScatterAdd(_ResourceScatter):
    """Rows increased by `updates`.  Source: resource_variable_ops.cc."""

    dtype = NUMBERS
    how: ClassVar[str] = "add"


class ResourceScatterSub(_ResourceScatter):
    """Rows decreased by `updates`.  Source: resource_variable_ops.cc."""

    dtype = NUMBERS
    how: ClassVar[str] = "subtract"


class ResourceScatterMul(_ResourceScatter):
    """Rows multiplied by `updates`.  Source: resource_variable_ops.cc."""

    dtype = NUMBERS
    how: ClassVar[str] = "multiply"


class ResourceScatterDiv(_ResourceScatter):
    """Rows divided by `updates`.  Source: resource_variable_ops.cc."""

    dtype = NUMBERS
    how: ClassVar[str] = "divide"


class ResourceScatterMin(_ResourceScatter):
    """Minimum of rows and `updates`.  Source: resource_variable_ops.cc."""

    dtype = NUMBERS
    how: ClassVar[str] = "minimum"


class ResourceScatterMax(_ResourceScatter):
    """Maximum of rows and `updates`.  Source: resource_variable_ops.cc."""

    dtype = NUMBERS
    how: ClassVar[str] = "maximum"


# ---- elements and slices


class ScatterNdUpdate(_ScatterNd):
    """Elements set to `updates`.  Source: state_ops.cc, ScatterNdUpdate."""

    use_locking: bool = True
    how: ClassVar[str] = "set"
    stops_gradients: ClassVar[bool] = True


class ResourceScatterNdUpdate(_ResourceScatterNd):
    """Elements set to `updates`.  Source: state_ops.cc."""

    how: ClassVar[str] = "set"


class ScatterNdAdd(_ScatterNd):
    """Elements increased by `updates`.  Source: state_ops.cc, ScatterNdAdd."""

    T = NUMBERS
    how: ClassVar[str] = "add"
    stops_gradients: ClassVar[bool] = True


class ResourceScatterNdAdd(_ResourceScatterNd):
    """Elements increased by `updates`.  Source: state_ops.cc."""

    how: ClassVar[str] = "add"


class ScatterNdSub(_ScatterNd):
    """Elements decreased by `updates`.  Source: state_ops.cc, ScatterNdSub."""

    T = NUMBERS
    how: ClassVar[str] = "subtract"
    stops_gradients: ClassVar[bool] = True


class ResourceScatterNdSub(_ResourceScatterNd):
    """Elements decreased by `updates`.  Source: state_ops.cc."""

    how: ClassVar[str] = "subtract"


# ---- slices


class _SliceAssign(StatefulOp, abstract=True):
    host_inputs: ClassVar[tuple[str, ...]] = ("begin", "end", "strides")
    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0

    def _set(self, ctx: KernelContext, cell: Cell, vectors: Any, value: Any) -> None:
        index = StridedSlice(*self.attributes).index(cell.value.shape, *vectors)
        sliced = ctx.xp.asarray(cell.value)[index].shape
        if sliced != value.shape:
            raise UnimplementedError(
                None,
                None,
                f"sliced l-value shape {shapes.text(sliced)} does not match r-value "
                f"shape {shapes.text(value.shape)}. Automatic broadcasting not yet "
                "implemented.",
            )

        def update(arrays: list[Any]) -> None:
            arrays[0][index] = value

        update_in_place((cell,), update, ctx.may_defer)


class StridedSliceAssign(_SliceAssign):
    """`ref[begin:end:strides] = value`.  Source: array_ops.cc, StridedSliceAssign."""

    signature = (
        "ref: ref T, begin: Index, end: Index, strides: Index, value: T -> "
        "output_ref: ref T"
    )
    Index = INDICES
    aliases: ClassVar[bool] = True

    def infer_shape(self, ref: Shape, *_: Any) -> Any:
        return ref

    def compute(self, ctx: KernelContext, ref: Cell, *rest: Any) -> Any:
        self._set(ctx, ref, rest[:3], rest[3])
        return ref


class ResourceStridedSliceAssign(_SliceAssign, NoOutputOp):
    """StridedSliceAssign for a resource variable.  Source: array_ops.cc."""

    signature = "ref: resource, begin: Index, end: Index, strides: Index, value: T ->"
    Index = INDICES

    def infer_shape(self, ref: Shape, *_: Any) -> Any:
        return []

    def compute(self, ctx: KernelContext, ref: Cell, *rest: Any) -> Any:
        require_value(ref)
        self._set(ctx, ref, rest[:3], rest[3])
        return ()
