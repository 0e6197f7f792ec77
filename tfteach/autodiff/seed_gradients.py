"""Nodes added by the backward traversal: ones, zeros, sums of rows.

Source: python/ops/gradients_util.py, control_flow_state.py, eager/backprop.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import handle_dtype
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.array.concat_split import ConcatV2
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import Switch
from tfteach.ops.core.fill import Fill, ZerosLike, zeros
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.core.shape_ops import Shape_
from tfteach.ops.math.add_n import AddN
from tfteach.ops.math.cast import Cast
from tfteach.ops.state.resource_gather import variable_shape
from tfteach.ops.state.resource_variables import VariableShape

Gradient = Any  # Tensor | IndexedSlices | None


def tensor_of(value: Any) -> Tensor:
    return value.values if isinstance(value, IndexedSlices) else value


def ones_like(y: Any, number: int) -> Tensor:
    if y.dtype.is_complex:
        raise TypeError(
            f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})"
        )
    if not (y.dtype.is_floating or y.dtype.is_integer):
        raise TypeError(
            f"Tensor {y} with type {y.dtype.name} must be numeric to obtain a default "
            "gradient"
        )
    sizes = _shape_of(y)
    one = constant(1, dtype=y.dtype.base_dtype, name=f"grad_ys_{number}")
    return Fill()(sizes, one)


def _shape_of(tensor: Tensor) -> Tensor:
    """The shape, a constant if it is known, created as by `tf.shape`."""
    if shapes.is_full(tensor._shape):
        return constant(tensor._shape, dtype=dtypes.int32, name="Shape")
    return Shape_(dtypes.int32)(tensor)


def check_weight(y: Any, weight: Any) -> None:
    """Reject a gradient whose type is incompatible with `y`."""
    kind, other = y.dtype, weight.dtype
    if kind.is_floating or kind.is_integer:
        if not (other.is_floating or other.is_integer):
            raise TypeError(
                f"Gradient type {other.name} generated for real or integer-valued "
                f"tensor {y} with type {kind.name} must be real or integer"
            )
    elif kind.is_complex:
        if not other.is_complex:
            raise TypeError(
                f"Gradient type {other.name} generated for complex-valued tensor {y} "
                f"with type {kind.name} must be real"
            )
    elif kind.base_dtype is dtypes.resource:
        if other.base_dtype is dtypes.resource:
            raise TypeError(
                f"Input gradient {weight} for resource tensor {y} should not be a "
                "resource"
            )
    elif kind.base_dtype is not dtypes.variant:
        raise TypeError(
            f"Tensor {y} with type {kind.name} must be numeric to obtain a default "
            "gradient"
        )


def named(weight: Any, name: str) -> Gradient:
    """The given gradient with a name inside the gradients' scope."""
    identity = Identity()
    if not isinstance(weight, IndexedSlices):
        return identity(weight, name=name)
    # TF creates the indices first, then values, then shape.
    indices = identity(weight.indices, name=name + "_indices")
    values = identity(weight.values, name=name + "_values")
    shape = weight.dense_shape
    if shape is not None:
        shape = identity(shape, name=name + "_shape")
    return IndexedSlices(values, indices, shape)


def zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of the tensor's shape, for an x that no y depends on."""
    if tensor.dtype.base_dtype is dtypes.resource:
        return zeros(variable_shape(tensor), dtype=handle_dtype(tensor))
    if shapes.is_full(tensor._shape):
        return zeros(tensor._shape, tensor.dtype.base_dtype, name="zeros_like")
    return ZerosLike()(tensor, name="zeros_like")


def zeros_outside_loop(op: Operation, index: int) -> Gradient:
    """Zeros for an output without differentiable consumers."""
    value = op.outputs[index]
    is_handle = value.dtype.base_dtype is dtypes.resource
    context = op.control_flow_context
    is_switch = op.spec.flow is Flow.SWITCH
    if is_handle and not is_switch:
        sizes = VariableShape(dtypes.int32)(value)
        return zeros(sizes, dtype=handle_dtype(value))
    if not is_switch or context is None:
        return ZerosLike()(value, name="zeros_like")
    # In the branch of a cond that did not run, zeros must be dead as well.
    graph = op.graph
    switched = Switch()(op.inputs[0], context.pred)[1 - context.branch]
    pivot = Identity()(switched)
    if is_handle:
        with graph.control_dependencies([pivot]):
            sizes = VariableShape(dtypes.int32)(switched)
            return zeros(sizes, dtype=handle_dtype(value))
    sizes = Shape_(dtypes.int32)(switched)
    with graph.control_dependencies([pivot]):
        return zeros(sizes, dtype=value.dtype.base_dtype)


def sum_slices(grads: list[Gradient]) -> Gradient:
    """Row gradients concatenated; dense as soon as one of them is."""
    if any(isinstance(g, Tensor) for g in grads):
        return AddN()(grads)
    if len({g.indices.dtype.base_dtype for g in grads}) > 1:
        grads = [
            IndexedSlices(
                g.values,
                g.indices
                if g.indices.dtype.base_dtype is dtypes.int64
                else (Cast(DstT=dtypes.int64)(g.indices)),
                g.dense_shape,
            )
            for g in grads
        ]
    concat = ConcatV2()
    values = concat([g.values for g in grads], 0, name="concat")
    indices = concat([g.indices for g in grads], 0, name="concat")
    return IndexedSlices(values, indices, grads[0].dense_shape)
