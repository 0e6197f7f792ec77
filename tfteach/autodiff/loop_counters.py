"""Counters and accumulators that a gradient adds to a loop and to the gradient's loop.

Source: python/ops/control_flow_ops.py (WhileContext: AddForwardLoopCounter,
AddBackpropLoopCounter, AddBackpropAccumulator, AddBackpropIndexedSlicesAccumulator).
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import handle_shape
from tfteach.framework.dtypes import DType
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.array.concat_split import ConcatV2
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import (
    Exit,
    LoopCond,
    Merge,
    NextIteration,
    Switch,
    enter,
)
from tfteach.ops.core.fill import ZerosLike, zeros
from tfteach.ops.core.shape_ops import Shape_
from tfteach.ops.math.binary import Add, Maximum, Sub
from tfteach.ops.math.compare import GreaterEqual


def inside(context: Any) -> AbstractContextManager[Any]:
    """Build in the given context; None leaves the open one unchanged."""
    return nullcontext() if context is None else context


def shape_node(tensor: Tensor, dtype: DType = dtypes.int32) -> Tensor:
    """The run-time shape, as a node even if it is known."""
    sizes: Tensor = Shape_(dtype)(tensor)
    return sizes


def _loop_enter(context: Any, value: Tensor, name: str, keep_shape: bool) -> Tensor:
    context.values.add(value)
    entered = enter(
        value,
        context.name,
        parallel_iterations=context.parallel_iterations,
        keep_shape=keep_shape,
        name=name,
    )
    context.loop_enters.append(entered)
    return entered


def _loop_exit(context: Any, value: Tensor, name: str) -> Tensor:
    left: Tensor = Exit()(value, name=name)
    context.loop_exits.append(left)
    context.exit_result([left])
    return left


def _merge(value: Tensor, name: str = "Merge") -> Tensor:
    merged: Tensor = Merge()([value, value], name=name)[0]
    return merged


def add_forward_counter(context: Any, outer: Any) -> tuple[Tensor, Tensor]:
    """Count the iterations of a loop.

    Args:
      context: the loop.
      outer: the gradient state of the enclosing loop, or None.

    Returns:
      The number of iterations, and inside the loop the index of the next one.
    """
    start = constant(0, name="f_count")
    if outer is not None:
        # The pushes of one run of an inner loop precede those of its next run.
        start.op._add_control_input(outer.forward_index.op.inputs[0].op)
    with context:
        merged = _merge(_loop_enter(context, start, "f_count", True))
        ends, goes_on = Switch()(merged, context.pivot)
        index = Add()(goes_on, 1)
        after = NextIteration()(index)
        merged.op._update_input(1, after)
        total = _loop_exit(context, ends, "f_count")
    return total, after


def add_backward_counter(context: Any, count: Tensor, outer: Any) -> Tensor:
    """Make a gradient's loop run `count` iterations.

    Returns:
      Inside the loop, the number of remaining iterations.
    """
    one = constant(1, name="b_count")
    with context:
        merged = _merge(_loop_enter(context, count, "b_count", True))
        context.pivot_for_pred = merged
        goes_on = GreaterEqual()(merged, one)
        context.pivot = LoopCond()(goes_on, name="b_count")
        ends, left = Switch()(merged, context.pivot)
        index = Sub()(left, one)
        context.pivot_for_body = index
        after: Tensor = NextIteration()(index)
        merged.op._update_input(1, after)
        final = Exit()(ends, name="b_count")
        context.loop_exits.append(final)
        if outer is not None:
            # The pops of one run of an inner loop precede those of its next run.
            outer.grad_sync._add_control_input(final.op)
        context.exit_result([final])
    return after


# ---- sums over iterations, for loop invariants of the forward loop


def add_accumulator(context: Any, op: Operation, grad: Any) -> Any:
    """The gradient of a loop invariant, summed over all iterations.

    Args:
      context: the gradient's loop, which is open.
      op: the Enter of the forward loop.
      grad: the gradient in one iteration.

    Returns:
      A Tensor or IndexedSlices outside the loop.
    """
    if isinstance(grad, IndexedSlices):
        return _add_slices_accumulator(context, op, grad)
    with context.left():
        start = _zero_sum(context, op, grad)
    # The traversal keeps the loop open; values are passed in explicitly here.
    entered = _loop_enter(context, start, "b_acc", True)
    merged = _merge(entered, "b_acc")
    ends, so_far = Switch()(merged, context.pivot)
    after = NextIteration()(Add()(so_far, grad))
    merged.op._update_input(1, after)
    return _loop_exit(context, ends, "b_acc")


def _zero_sum(context: Any, op: Operation, grad: Tensor) -> Tensor:
    """Zeros shaped like the gradient, for a loop without iterations."""
    outer = context.outer_context
    if shapes.is_full(grad._shape):
        with inside(outer):
            return constant(0, grad.dtype, grad._shape, name="b_acc")
    value = op.inputs[0]
    if outer is not None and outer.is_while and outer.grad_state is not None:
        forward = context.grad_state.forward_context
        with forward.outer_context:
            sizes = shape_node(value)
        state = context.grad_state.outer
        history = state.add_history(sizes)
        with outer:
            return zeros(state.from_history(history, sizes), grad.dtype)
    with inside(outer):
        return zeros(shape_node(value), grad.dtype)


def _add_slices_accumulator(
    context: Any, op: Operation, grad: IndexedSlices
) -> IndexedSlices:
    """The rows of all iterations, concatenated."""
    indices, values, dense_shape = grad.indices, grad.values, grad.dense_shape
    with context.left(), inside(context.outer_context):
        starts = _empty_slices(op, grad)
    context.values.update(starts)
    entered = [_loop_enter(context, start, "b_acc", False) for start in starts]
    entered[0].set_shape([None])
    rows = starts[1]._shape
    if rows is not None:
        entered[1].set_shape([None, *rows[1:]])
    merged = [_merge(value, "b_acc") for value in entered]
    switches = [Switch()(value, context.pivot) for value in merged]
    sums = [
        ConcatV2()([so_far[1], new], 0, name="concat")
        for so_far, new in zip(switches[:2], [indices, values], strict=True)
    ]
    if dense_shape is not None:
        sums.append(Maximum()(dense_shape, switches[2][1]))
    nexts = [NextIteration()(value) for value in sums]
    for start, after in zip(merged, nexts, strict=True):
        start.op._update_input(1, after)
    exits = [Exit()(pair[0], name="b_acc") for pair in switches]
    context.loop_exits.extend(exits)
    context.exit_result(exits)
    return IndexedSlices(
        indices=exits[0],
        values=exits[1],
        dense_shape=None if dense_shape is None else exits[2],
    )


def _empty_slices(op: Operation, grad: IndexedSlices) -> list[Tensor]:
    """Indices, values (and shape) of one row of zeros, as the initial value."""
    values, dense_shape = grad.values, grad.dense_shape
    if shapes.is_full(values._shape):
        rows = constant(0, values.dtype, (1, *values._shape[1:]), name="b_acc")
    else:
        sizes = _safe_shape(op.inputs[0])[1:]
        sizes = ConcatV2()([[1], sizes], 0, name="concat")
        rows = zeros(sizes, dtype=values.dtype)
    starts = [constant([0], grad.indices.dtype), rows]
    if dense_shape is not None:
        if shapes.is_full(dense_shape._shape):
            start = constant(0, dense_shape.dtype, dense_shape._shape)
        else:
            sizes = shape_node(op.inputs[0], dense_shape.dtype)
            start = ZerosLike()(sizes, name="zeros_like")
        starts.append(start)
    return starts


def _safe_shape(value: Tensor) -> Any:
    """The shape of a tensor, or of a handle's variable."""
    if value.dtype.base_dtype is not dtypes.resource:
        return shape_node(value)
    sizes = handle_shape(value)
    if not shapes.is_full(sizes):
        raise ValueError(
            f"The shape of the variable of {value.name} must be known for row "
            f"gradients through a loop, got {shapes.text(sizes)}"
        )
    return list(sizes or ())
