"""Rows and elements of a resource variable, gathered without reading all of it.

Source: core/ops/resource_variable_ops.cc; python/ops/resource_variable_ops.py and
array_grad.py (gradients).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.constant_values import handle_shape
from tfteach.framework.dtypes import DType
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, is_full
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.framework.variable_cell import Cell
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import GatherV2
from tfteach.ops.array.gather_nd import GatherNd
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import INDICES, expand_dims, reshape, squeeze
from tfteach.ops.core.shape_ops import size
from tfteach.ops.state.resource_variables import (
    VarHandleOp,
    VariableShape,
    require_value,
)


def variable_shape(handle: Tensor) -> Tensor:
    """The shape of a handle's variable: a constant if it is known."""
    # For a handle captured by a loop or a branch, TF reads the shape from the variable.
    is_eager = type(handle) is EagerTensor
    is_known = is_eager or isinstance(handle.op.spec, VarHandleOp)
    known = handle_shape(handle) if is_known else None
    if is_full(known):
        return constant(list(known or ()), "int32")
    return VariableShape()(handle)


class ResourceGather(StatefulOp):
    """Rows of a variable, selected by index.  Source: resource_variable_ops.cc."""

    signature = "resource: resource, indices: Tindices -> output: dtype"
    Tindices = INDICES
    batch_dims: int = 0
    validate_indices: bool = True
    dtype: DType  # type: ignore[misc]  # the order is TensorFlow's

    by_handle: ClassVar[tuple[str, ...]] = ("resource",)

    def infer_shape(self, resource: Shape, indices: Shape) -> Shape:
        axis = np.asarray(self.batch_dims)
        return GatherV2(self.batch_dims).infer_shape(resource, indices, axis)

    def compute(self, ctx: KernelContext, resource: Cell, indices: Any) -> Any:
        require_value(resource)
        axis = np.asarray(self.batch_dims)
        rows = GatherV2(self.batch_dims)
        return rows.compute(ctx.xp, resource.value, indices, axis)

    def rows_read(self, resource: Any, indices: Any) -> Any:
        return None if self.batch_dims else indices

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        handle, indices = op.inputs
        params_shape = variable_shape(handle)
        count = expand_dims(size(indices), 0)
        values = reshape(grad, concat([count, params_shape[1:]], 0))
        return [IndexedSlices(values, reshape(indices, count), params_shape), None]


class ResourceGatherNd(StatefulOp):
    """Elements or slices of a variable, selected by coordinates.

    Source: resource_variable_ops.cc, ResourceGatherNd.
    """

    signature = "resource: resource, indices: Tindices -> output: dtype"
    Tindices = INDICES
    dtype: DType

    by_handle: ClassVar[tuple[str, ...]] = ("resource",)

    def infer_shape(self, resource: Shape, indices: Shape) -> Shape:
        return GatherNd().infer_shape(resource, indices)

    def compute(self, ctx: KernelContext, resource: Cell, indices: Any) -> Any:
        require_value(resource)
        return GatherNd().compute(ctx.xp, resource.value, indices)

    def rows_read(self, resource: Any, indices: Any) -> Any:
        return GatherNd().rows_read(resource, indices)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        handle, indices = op.inputs
        # TF reads the shape from the variable even where it is known.
        params_shape = VariableShape(indices.dtype.base_dtype)(handle)
        if len(indices.static_shape or ()) == 2 and indices.shape[-1] == 1:
            return [IndexedSlices(grad, squeeze(indices, axis=-1), params_shape), None]
        return [scatter_nd(indices, grad, params_shape), None]
