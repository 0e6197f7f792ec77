"""How gradients pass a cond: through a Switch where values merged, and back.

Source: python/ops/control_flow_grad.py, control_flow_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import dtypes
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import OPS
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.ops.adjoint import upward


def merge_gradient(op: Operation, grad: Any) -> list[Any]:
    """The gradient of a Merge: alive only at the input that was."""
    source = op.inputs[0].op
    context = source.control_flow_context
    if context is not None and source.type in ("Exit", "RefExit"):
        context = context.outer_context
    if context is not None and context.is_cond:
        return list(_switched(grad, context.pred, "cond_grad"))
    is_input = [upward("equal")(op.outputs[1], i) for i in range(len(op.inputs))]
    return [_switched(grad, chosen)[1] for chosen in is_input]


def switch_gradient(op: Operation, grads: tuple[Any, ...]) -> list[Any]:
    """The gradient of a Switch: that of the output which was alive."""
    context = op.control_flow_context
    if context is None or not context.is_cond:
        false = _pair(grads[0], op.inputs[1])[0]
        true = _pair(grads[1], op.inputs[1])[1]
        return [_merged([false, true], "Merge"), None]
    if grads[1 - context.branch] is None:
        if op.inputs[0].dtype.base_dtype is not dtypes.resource:
            return [None, None]
        return [_merged([grads[context.branch]] * 2, "cond_resource_grad"), None]
    return [_merged(list(grads), "cond_grad"), None]


def _switched(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    with colocate_with(data, ignore_existing=True):
        return _pair(data, pred, name)


def _pair(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """`data` for the case that `pred` is false, and for the case that it is true."""
    switch = OPS["Switch"]()
    if not isinstance(data, IndexedSlices):
        false, true = switch(data, pred, name=name)
        return false, true
    with name_scope(name):
        shape = data.dense_shape
        parts = [data.values, data.indices, *([] if shape is None else [shape])]
        pairs = [switch(part, pred) for part in parts]
        return tuple(IndexedSlices(*[p[i] for p in pairs]) for i in (0, 1))  # type: ignore[return-value]


def _merged(grads: list[Any], name: str) -> Any:
    """The gradient that is alive."""
    merge = OPS["Merge"]()
    if not any(isinstance(g, IndexedSlices) for g in grads):
        return merge(grads, name=name)[0]
    with name_scope(name):
        slices = _same_indices([_as_slices(g) for g in grads])
        values = merge([s.values for s in slices])[0]
        indices = merge([s.indices for s in slices])[0]
        shapes = [s.dense_shape for s in slices]
        if any(shape is None for shape in shapes):
            return IndexedSlices(values, indices)
        return IndexedSlices(values, indices, merge(shapes)[0])


def _as_slices(grad: Any) -> IndexedSlices:
    if isinstance(grad, IndexedSlices):
        return grad
    sizes = OPS["Shape"](dtypes.int32)(grad, name="Shape")
    rows = upward("range")(0, sizes[0])
    return IndexedSlices(grad, rows, sizes)


def _same_indices(slices: list[IndexedSlices]) -> list[IndexedSlices]:
    if len({s.indices.dtype.base_dtype for s in slices}) == 1:
        return slices
    cast = upward("cast")
    return [
        IndexedSlices(s.values, cast(s.indices, dtypes.int64), s.dense_shape)
        for s in slices
    ]
