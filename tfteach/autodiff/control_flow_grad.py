"""Gradients of control flow ops.

The gradient of a Merge is a Switch, and vice versa; in loops the gradient of an Exit is
an Enter, and vice versa.
Source: python/ops/control_flow_grad.py, control_flow_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.framework import dtypes
from tfteach.framework.control_flow_context import output_context
from tfteach.framework.convert import convert
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.ops.core.control_flow_ops import Enter, Exit, Merge, NextIteration, Switch
from tfteach.ops.core.shape_ops import Shape_
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.range import range as range_of


@gradient_of(Merge)
def _merge_gradient(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    """The gradient of a Merge: alive only at the input that was alive."""
    context: Any = output_context(op.inputs[0].op)
    if context is not None and context.is_while:
        return list(switch_colocated(grad, _loop().pivot))
    if context is not None and context.is_cond:
        loop = _loop()
        pred = context.pred
        if loop is not None and loop.grad_state is not None:
            # A cond inside a loop: the branch taken differs between iterations.
            pred = loop.grad_state.real_predicate(pred)
        return list(switch_colocated(grad, pred, "cond_grad"))
    is_input = [equal(op.outputs[1], i) for i in range(len(op.inputs))]
    return [switch_colocated(grad, chosen)[1] for chosen in is_input]


def _loop() -> Any:
    """The loop that is being built, or None."""
    context = get_default_graph().control_flow_context
    return None if context is None else context.while_context


@gradient_of(Switch)
def _switch_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a Switch: the gradient of the live output.

    A loop's Switch is visited twice.  The first visit, with the gradient of the loop's
    exit value, creates the Merge that starts the gradient's loop; the second, with the
    gradient of the next iteration, closes it.
    """
    context = op.control_flow_context
    if context is not None and context.is_while:
        switches = _loop().grad_state.switches
        merged = switches.get(op)
        if merged is not None:
            if grads[1] is not None:
                _close(merged, grads[1])
        elif grads[0] is not None:
            switches[op] = _merged([grads[0], grads[0]], "b_switch")
            return [switches[op], None]
        return [None, None]
    if context is None or not context.is_cond:
        false = _pair(grads[0], op.inputs[1])[0]
        true = _pair(grads[1], op.inputs[1])[1]
        return [_merged([false, true], name="Merge"), None]
    if grads[1 - context.branch] is None:
        return [None, None]
    return [_merged(list(grads), "cond_grad"), None]


def _close(merged: Any, grad: Any) -> None:
    """Connect the gradient of an iteration's input to the preceding iteration."""
    after = NextIteration()
    if not isinstance(merged, IndexedSlices):
        merged.op._update_input(1, after(convert(grad)))
        return
    slices = _as_slices(grad)
    for part in ("values", "indices", "dense_shape"):
        start = getattr(merged, part)
        if start is not None:
            start.op._update_input(1, after(getattr(slices, part)))


@gradient_of(Exit)
def _exit_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """The gradient of an Exit: an Enter into the gradient's loop."""
    loop = _loop()
    if not loop.back_prop:
        return [None]
    if op.control_flow_context.grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    parts: list[Any] = [grad]
    if isinstance(grad, IndexedSlices):
        parts = [grad.values, grad.indices, grad.dense_shape]
    loop.values.update(part for part in parts if part is not None)
    with loop:
        entered = Enter(loop.name, False, loop.parallel_iterations)

        def carry(part: Tensor | None, name: str | None) -> Any:
            if part is None:
                return None
            inside: Tensor = entered(part, name=name)
            inside.set_shape(part.shape)
            return inside

        if isinstance(grad, IndexedSlices):
            result: Any = IndexedSlices(*[carry(part, None) for part in parts])
        else:
            result = carry(grad, "b_exit")
    loop.loop_enters.append(result)
    return [result]


@gradient_of(Enter)
def _enter_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """The gradient of an Enter: an Exit from the gradient's loop.

    For a loop invariant it is the sum over all iterations.
    """
    loop = _loop()
    if loop is None or not loop.back_prop or loop.grad_state is None:
        return [grad]
    if op.get_attr("is_constant"):
        return [loop.grad_state.sum_over_iterations(op, grad)]
    leave = Exit()
    if isinstance(grad, IndexedSlices):
        shape = None if grad.dense_shape is None else leave(grad.dense_shape)
        result: Any = IndexedSlices(leave(grad.values), leave(grad.indices), shape)
    else:
        result = leave(grad)
    loop.loop_exits.append(result)
    loop.exit_result([result])
    return [result]


def switch_colocated(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """`data` through a Switch that is colocated with `data`."""
    with colocate_with(data, ignore_existing=True):
        return _pair(data, pred, name)


def _pair(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """`data` if `pred` is false, and `data` if `pred` is true."""
    switch = Switch()
    if not isinstance(data, IndexedSlices):
        false, true = switch(data, pred, name=name)
        return false, true
    with name_scope(name):
        shape = data.dense_shape
        parts = [data.values, data.indices, *([] if shape is None else [shape])]
        pairs = [switch(part, pred) for part in parts]
        return tuple(IndexedSlices(*[p[i] for p in pairs]) for i in (0, 1))  # type: ignore[return-value]


def _merged(grads: list[Any], name: str) -> Any:
    """The live one of two gradients."""
    merge = Merge()
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
    sizes = Shape_(dtypes.int32)(grad, name="Shape")
    rows = range_of(0, sizes[0])
    return IndexedSlices(grad, rows, sizes)


def _same_indices(slices: list[IndexedSlices]) -> list[IndexedSlices]:
    if len({s.indices.dtype.base_dtype for s in slices}) == 1:
        return slices
    return [
        IndexedSlices(s.values, cast(s.indices, dtypes.int64), s.dense_shape)
        for s in slices
    ]
