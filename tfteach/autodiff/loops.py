"""Gradients through while loops: for each loop a second one that runs backwards.

The gradient's loop has as many iterations as the forward loop.  Forward values that it
requires are pushed on a stack in each forward iteration, and popped in the
corresponding backward one.
Source: python/ops/control_flow_state.py; Yu et al., Dynamic Control Flow in Large-Scale
Machine Learning, 2018.
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.control_flow_grad import switch_colocated
from tfteach.autodiff.loop_counters import (
    add_accumulator,
    add_backward_counter,
    add_forward_counter,
    inside,
    shape_node,
)
from tfteach.autodiff.seed_gradients import Gradient, zeros_outside_loop
from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value, handle_dtype
from tfteach.framework.control_flow_context import (
    is_constant_enter,
    is_loop_exit,
    is_loop_switch,
    output_context,
)
from tfteach.framework.convert import convert
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import (
    ControlTrigger,
    NextIteration,
    RefIdentity,
    Switch,
)
from tfteach.ops.core.fill import ZerosLike, zeros
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.core.loop_stacks import StackPopV2, StackPushV2, StackV2
from tfteach.ops.state.resource_variables import VariableShape


class LoopGradient:
    """A loop and its gradient's loop, while the latter is built.

    Attributes:
      forward_context, grad_context: the two loops.
      forward_index, grad_index: their counters, inside the loops.
      outer: the state of the enclosing loop, or None.
      histories: by tensor, the forward values available in the gradient's loop.
      switches: by Switch of the loop, the Merge that is its gradient.
      pending_exits: the number of the loop's exits without a gradient so far.
      unused_exits, deferred_exits: the exits that wait for the others: those without
        consumers, and those with.
    """

    def __init__(self, forward: Any, outer: LoopGradient | None) -> None:
        self.forward_context = forward
        self.outer = outer
        self.histories: dict[Tensor, Tensor] = {}
        self.switches: dict[Operation, Any] = {}
        self.unused_exits: list[Tensor] = []
        self.deferred_exits: list[Tensor] = []
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(self.forward_exits)
        self._forward_sync: Operation | None = None
        self._grad_sync: Operation | None = None
        around = forward.outer_context if outer is None else outer.forward_context
        with inside(around):
            count, self.forward_index = add_forward_counter(forward, outer)
        if outer is None:
            with inside(around):
                self.grad_context = self._new_context()
                self.grad_index = add_backward_counter(self.grad_context, count, None)
            return
        around.values.add(count)
        history = outer.add_history(count)
        with outer.grad_context:
            self.grad_context = self._new_context()
            iterations = outer.from_history(history, count)
            self.grad_index = add_backward_counter(self.grad_context, iterations, outer)

    def _new_context(self) -> Any:
        forward = self.forward_context
        return type(forward)(
            maximum_iterations=forward.maximum_iterations,
            parallel_iterations=forward.parallel_iterations,
            back_prop=forward.back_prop,
            swap_memory=forward.swap_memory,
            name=forward.name,
            grad_state=self,
        )

    # ---- order: iterations of both loops push and pop in sequence

    @property
    def forward_sync(self) -> Operation:
        """Control inputs of the loop's next iteration."""
        if self._forward_sync is None:
            with get_default_graph().control_dependencies(None):
                made: Operation = ControlTrigger()(name="f_sync")
            made.control_flow_context = self.forward_context
            self.forward_index.op._add_control_input(made)
            self._forward_sync = made
        return self._forward_sync

    @property
    def grad_sync(self) -> Operation:
        """Control inputs of the next iteration of the gradient's loop."""
        if self._grad_sync is None:
            with get_default_graph().control_dependencies(None):
                made: Operation = ControlTrigger()(name="b_sync")
            made.control_flow_context = self.grad_context
            self.grad_index.op._add_control_input(made)
            if self.grad_context.outer_context is not None:
                self.grad_context.outer_context.add_inner_op(made)
            self._grad_sync = made
        return self._grad_sync

    # ---- histories

    def add_history(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Record `value` of each iteration on a stack.

        Called in the context where the gradients are built.

        Args:
          value: a tensor inside the loop.
          dead_branch: whether the value is alive when its branch is not taken.

        Returns:
          The stack that receives it.
        """
        graph = get_default_graph()
        current, forward = graph.control_flow_context, self.forward_context
        with graph.control_dependencies(None):
            with inside(current), graph.colocate_with(value):
                stack = StackV2(elem_type=value.dtype.base_dtype)
                history: Tensor = stack(constant(-1), name="f_acc")
            entered = forward.add_value(history)
            push_op = StackPushV2(swap_memory=forward.swap_memory)
            context: Any = output_context(value.op)
            if context is forward:
                with forward:
                    push = push_op(entered, value).op
                self.forward_index.op._add_control_input(push)
            else:
                if context is None or not context.is_cond:
                    raise TypeError(f"value_ctxt is not a CondContext: {context}")
                with context.outer_context if dead_branch else context:
                    push = push_op(entered, value).op
                if dead_branch:
                    push.control_flow_context = context
                self.forward_sync._add_control_input(push)
            push._add_control_input(self.forward_index.op.inputs[0].op)
        return history

    def from_history(
        self, history: Tensor, value: Tensor, dead_branch: bool = False
    ) -> Tensor:
        """The forward value of the gradient loop's current iteration.

        Called inside the gradient's loop, or where it is built.
        """
        branch = self._branch_of(history, value)
        with get_default_graph().control_dependencies(None), self.grad_context:
            if branch is not None:
                # It was pushed only if the branch was taken.
                state: LoopGradient | None = self
                pred = None
                while pred is None and state is not None:
                    pred = state.histories.get(branch.pred)
                    state = state.outer
                pred = branch.pred if pred is None else pred
                side = 1 - branch.branch if dead_branch else branch.branch
                history = switch_colocated(history, pred)[side]
            op = StackPopV2(elem_type=value.dtype.base_dtype)
            popped: Tensor = op(history)
            popped.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped

    def _branch_of(self, history: Tensor, value: Tensor) -> Any:
        """The branch inside the loop that contains `value`, or None."""
        context = value.op.control_flow_context
        while context is not None and context is not history.op.control_flow_context:
            if context.is_cond:
                return context
            context = context.outer_context
        return None

    def real_value(self, value: Tensor) -> Tensor:
        """The counterpart of a forward value in the gradient's loop, which is open."""
        found = self.histories.get(value)
        if found is None:
            found = self.histories[value] = self._real_value(value)
        return found

    def _real_value(self, value: Tensor) -> Tensor:
        state: LoopGradient = self
        while (entered := _constant_enter(value)) is not None:
            value = entered.inputs[0]
            if state.outer is None:
                # It comes from outside all loops, so it has no history.
                found: Tensor = self.grad_context.add_value(value)
                return found
            state = state.outer
        if value.op.spec.holds_value:
            return constant(constant_value(value), dtype=value.dtype)
        with self.grad_context.left():
            history = state.add_history(value)
        found = state.from_history(history, value)
        return found if state is self else self.grad_context.add_value(found)

    def real_predicate(self, pred: Tensor) -> Tensor:
        """The history of a cond's predicate, used only by the cond's gradient."""
        found = self.histories.get(pred)
        if found is None:
            with self.grad_context.left():
                history = self.add_history(pred)
            found = self.histories[pred] = self.from_history(history, pred)
        return found

    def sum_over_iterations(self, op: Operation, grad: Gradient) -> Gradient:
        """The gradient of a loop invariant."""
        return add_accumulator(self.grad_context, op, grad)


def _constant_enter(value: Tensor) -> Operation | None:
    """The Enter of a loop invariant that `value` merely forwards."""
    op = value.op
    while isinstance(op.spec, Switch | Identity | RefIdentity):
        op = op.inputs[0].op
    return op if is_constant_enter(op) else None


def _around(context: Any) -> Any:
    """The loop that encloses a loop, or None."""
    outer = context.outer_context
    return None if outer is None else outer.while_context


class LoopGradients:
    """The loops between ys and xs, in one call of `tf.gradients`."""

    def __init__(self) -> None:
        self.states: dict[Any, LoopGradient] = {}

    def state_of(self, op: Operation, before: bool = False) -> LoopGradient | None:
        """The state of the loop that contains `op` (`before`: its output)."""
        context = output_context(op) if before else op.control_flow_context
        loop = None if context is None else context.while_context
        return None if loop is None else self.states.get(loop)

    def context_of(self, op: Operation, before: bool = False) -> Any:
        """A context manager: build in the gradient's loop of `op`, if there is one."""
        state = self.state_of(op, before)
        return inside(None if state is None else state.grad_context)

    def add(self, op: Operation) -> list[Operation]:
        """Register the loop of an Exit; returns the loop's exits if it is new."""
        context = op.control_flow_context
        loop = None if context is None else context.while_context
        if loop is None:
            raise ValueError(
                "Failed to call gradients on a while loop without properly serializing "
                f"graph via MetaGraphDef: the loop of '{op.name}' has no context, "
                "as after import_graph_def."
            )
        if loop in self.states:
            return []
        around = _around(loop)
        outer = None if around is None else self.states.get(around)
        state = self.states[loop] = LoopGradient(loop, outer)
        return [exit.op for exit in state.forward_exits]

    def unused_exits(
        self, pending: dict[Operation, int], to_ops: set[Operation]
    ) -> list[Tensor]:
        """The exits without consumers, of loops that have no other exits left."""
        found: list[Tensor] = []
        for state in self.states.values():
            for exit in state.forward_exits:
                if pending.get(exit.op, 0) == 0:
                    state.pending_exits -= 1
                    if exit.op not in to_ops:
                        state.unused_exits.append(exit)
                    if state.pending_exits == 0:
                        found += state.unused_exits
            for entered in state.forward_context.loop_enters:
                if pending.get(entered.op, 0) == 0:
                    pending[entered.op] = 1
        return found

    # ---- zeros

    def zeros_for_exit(self, value: Tensor) -> Tensor:
        """Zeros as the gradient of an unused result of a loop."""
        forward = value.op.control_flow_context
        around = _around(forward)
        state = None if around is None else self.states.get(around)
        if state is None:
            if shapes.is_full(value._shape):
                return zeros(value._shape, value.dtype)
            made: Tensor = ZerosLike()(value, name="zeros_like")
            return made
        if shapes.is_full(value._shape):
            with state.grad_context:
                return zeros(value._shape, value.dtype)
        with forward.outer_context:
            sizes = shape_node(value)
        history = state.add_history(sizes)
        with state.grad_context:
            return zeros(state.from_history(history, sizes), value.dtype)

    def zeros_like(self, op: Operation, index: int) -> Gradient:
        """Zeros as the gradient of an unused output.

        Called inside the gradient's loop, if `op` is in a loop.
        """
        if is_loop_switch(op):
            return None
        is_switch = op.spec.flow is Flow.SWITCH
        state = self.state_of(op)
        if state is None:
            return zeros_outside_loop(op, index)
        context = op.control_flow_context
        if is_switch and op.outputs[index].dtype.base_dtype is dtypes.resource:
            # A variable read by only one branch; TensorFlow fails here.
            pred = state.real_predicate(context.pred)
            handle = switch_colocated(op.inputs[0], pred)[1 - context.branch]
            sizes = VariableShape(dtypes.int32)(handle)
            return zeros(sizes, dtype=handle_dtype(op.inputs[0]))
        value = convert(op.outputs[index], name="tensor")
        if shapes.is_full(value._shape):
            result = constant(0, value.dtype, value._shape)
            if is_switch:
                pred = state.histories[context.pred]
                result = switch_colocated(result, pred)[1 - context.branch]
            return result
        if is_switch:
            # The value that enters is alive on the other side.
            with context.outer_context:
                side = 1 - context.branch
                value = switch_colocated(op.inputs[0], context.pred)[side]
                sizes = shape_node(value)
            value.op.control_flow_context = context
            sizes.op.control_flow_context = context
        else:
            with context:
                sizes = shape_node(value)
        with state.grad_context.left():
            history = state.add_history(sizes, dead_branch=is_switch)
        return zeros(state.from_history(history, sizes, is_switch), value.dtype)

    def finish(self) -> None:
        """Zeros for all but the last iteration, for variables overwritten in each."""
        for state in self.states.values():
            for merged in state.switches.values():
                first, second = merged.op.inputs
                if first is second:
                    merged.op._update_input(1, _next_zeros(state, first))


def _next_zeros(state: LoopGradient, start: Tensor) -> Tensor:
    context = state.grad_context
    if shapes.is_full(start._shape):
        with context:
            value = constant(0, start.dtype, start._shape)
            after: Tensor = NextIteration()(value)
            return after
    with inside(context.outer_context):
        value = zeros(shape_node(start.op.inputs[0]))  # float32, as in TF
    with context:
        after = NextIteration()(value)
        return after


def loops_between(between: list[Operation], colocate: bool) -> LoopGradients | None:
    """The loops that `between` passes through; their exits are added to it."""
    loops = None
    graph = get_default_graph()
    known = set(between)
    for op in between:  # the loop body extends it
        if not is_loop_exit(op):
            continue
        loops = loops or LoopGradients()
        if colocate:
            with graph.colocate_with(op):
                found = loops.add(op)
        else:
            found = loops.add(op)
        for other in found:
            if other not in known:
                known.add(other)
                between.append(other)
    return loops
