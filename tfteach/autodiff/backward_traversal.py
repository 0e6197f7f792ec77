"""The backward traversal from ys to xs: ops between them, their order, their gradients.

Source: python/ops/gradients_util.py.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from tfteach.autodiff.function_gradients import is_call, python_gradient
from tfteach.autodiff.gradient_registry import gradient_rule
from tfteach.autodiff.loops import LoopGradients, loops_between
from tfteach.autodiff.seed_gradients import (
    Gradient,
    check_weight,
    named,
    ones_like,
    sum_slices,
    tensor_of,
    zeros_like,
    zeros_outside_loop,
)
from tfteach.framework import dtypes
from tfteach.framework import shape as shapes
from tfteach.framework.control_flow_context import is_loop_exit, is_loop_switch
from tfteach.framework.graph import Graph
from tfteach.framework.indexed_slices import IndexedSlices, convert_n
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, device, name_scope
from tfteach.ops.core.control_flow_ops import tuple_
from tfteach.ops.math.add_n import AccumulateNV2, AddN

TRAINABLE = (
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
    dtypes.complex64,
    dtypes.complex128,
    dtypes.resource,
    dtypes.variant,
)
# By enum value, including reference types: checked at every edge of the traversal.
_DIFFERENTIABLE = frozenset(
    d.as_datatype_enum
    for base in (*TRAINABLE, dtypes.bfloat16)
    for d in (base, base.as_ref)
)


# ---- the ops in between


def ops_between(
    to_ops: Sequence[Operation], from_ops: Sequence[Operation]
) -> list[Operation]:
    """The ancestors of `to_ops` (inclusive) reachable from `from_ops`, by node index.

    An op is reachable if it is one of `from_ops`, or if a reachable op produces one of
    its inputs of a differentiable type.
    """
    ancestors: set[Operation] = set()
    stack = list(to_ops)
    while stack:
        op = stack.pop()
        if op not in ancestors:
            ancestors.add(op)
            stack += [t.op for t in op.inputs]
    reached = _reached(sorted(ancestors, key=_node_id), from_ops)
    between: set[Operation] = set()
    stack = [op for op in to_ops if op in reached]
    while stack:
        op = stack.pop()
        if op not in between:
            between.add(op)
            stack += [t.op for t in op.inputs if t.op in reached]
    return sorted(between, key=_node_id)


def _reached(ordered: list[Operation], from_ops: Sequence[Operation]) -> set[Operation]:
    reached = set(from_ops)
    in_order = True
    for op in ordered:
        if op in reached:
            continue
        for t in op.inputs:
            source = t.op
            if source in reached:
                if t.dtype.as_datatype_enum in _DIFFERENTIABLE:
                    reached.add(op)
                    break
            elif source.node_id > op.node_id:
                in_order = False
    # A graph whose edges all lead to later nodes needs only one pass.
    if in_order:
        return reached
    users: dict[Operation, list[Operation]] = {}
    for op in ordered:
        for t in op.inputs:
            if t.dtype.as_datatype_enum in _DIFFERENTIABLE:
                users.setdefault(t.op, []).append(op)
    stack = list(reached)
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in reached:
                reached.add(user)
                stack.append(user)
    return reached


def _node_id(op: Operation) -> int:
    return op.node_id


def _nearest_first(
    to_ops: Sequence[Operation], between: list[Operation]
) -> list[Operation]:
    """`between`, in the order of a breadth-first search from `to_ops`.

    The gradient nodes of loops are created in this order.
    """
    left = set(between)
    found: list[Operation] = []
    queue = deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in left:
            left.remove(op)
            found.append(op)
            queue.extend(t.op for t in op.inputs)
    return found


# ---- the traversal


class BackwardWalk:
    """The state of one `gradients` call."""

    def __init__(
        self, graph: Graph, colocate: bool, gate: bool, aggregation: int | None
    ) -> None:
        if aggregation not in (None, 0, 1, 2):
            raise ValueError(f"Invalid aggregation_method specified {aggregation}.")
        self._graph, self._colocate, self._gate = graph, colocate, gate
        self._as_tree = aggregation in (1, 2)  # see AggregationMethod
        self._accumulate = aggregation == 2
        # op -> gradients received per output: a list until it is summed.
        self._arrived: dict[Operation, list[Any]] = {}
        self._loops: LoopGradients | None = None

    # -- start

    def initial_gradients(self, ys: list[Any], weights: list[Any]) -> list[Gradient]:
        """The gradients of `ys`: the given weights, or ones."""
        if len(weights) != len(ys):
            raise ValueError(f"Passed {len(weights)} grad_ys for {len(ys)} ys")
        weights = convert_n(weights, "grad_y")
        found = []
        for i, (y, weight) in enumerate(zip(ys, weights, strict=True)):
            place = self._graph.colocate_with(y.op) if self._colocate else nullcontext()
            with place:
                if weight is None:
                    found.append(ones_like(y, i))
                else:
                    check_weight(y, weight)
                    found.append(named(weight, f"grad_ys_{i}"))
        return found

    def seed(self, ys: list[Any], weights: list[Gradient]) -> None:
        """Start the traversal with these gradients of `ys`."""
        for y, weight in zip(ys, weights, strict=True):
            self._send(tensor_of(y), weight)

    def _send(self, tensor: Tensor, grad: Gradient) -> None:
        op = tensor.op
        slots = self._arrived.get(op)
        if slots is None:
            slots = self._arrived[op] = [[] for _ in op.outputs]
        arrived = slots[tensor.value_index]
        if isinstance(arrived, list):
            arrived.append(grad)
        else:  # a loop's Switch, visited before
            slots[tensor.value_index] = grad

    # -- backward traversal

    def run(
        self,
        to_ops: list[Operation],
        from_ops: list[Operation],
        stop_ops: list[Operation],
    ) -> None:
        """Traverse from `to_ops` back to `from_ops`, not through `stop_ops`."""
        between = ops_between(to_ops, from_ops)
        if any(is_loop_exit(op) for op in between):
            between = _nearest_first(to_ops, between)
            self._loops = loops_between(between, self._colocate)
        pending = dict.fromkeys(between, 0)
        for op in between:
            for t in op.inputs:
                if t.op in pending:
                    pending[t.op] += 1
        queue = deque(op for op in dict.fromkeys(to_ops) if pending.get(op) == 0)
        if self._loops is not None:
            for exit in self._loops.unused_exits(pending, set(queue)):
                if exit.dtype.base_dtype in TRAINABLE:
                    self._send(exit, self._loops.zeros_for_exit(exit))
                    queue.append(exit.op)
        stops = set(stop_ops)
        for op in from_ops:
            if not any(pending.get(t.op, 0) > 0 for t in op.inputs):
                stops.add(op)
        while queue:
            op = queue.popleft()
            self._visit(op, stops)
            for t in op.inputs:
                source = t.op
                left = pending.get(source)
                if left is None:
                    continue
                pending[source] = left = left - 1
                if self._loops is not None and is_loop_exit(source) and left == 0:
                    queue.extend(self._exits_after(t, self._loops))
                elif left == 0 or (
                    left > 0 and self._loops is not None and is_loop_switch(source)
                ):
                    queue.append(source)

    def finish(self) -> None:
        """Complete the loops, once all gradients are built."""
        if self._loops is not None:
            self._loops.finish()

    def _exits_after(self, exit: Tensor, loops: LoopGradients) -> list[Operation]:
        """The Exits of a loop, once all of them have received their gradients."""
        state = loops.state_of(exit.op)
        assert state is not None
        state.deferred_exits.append(exit)
        state.pending_exits -= 1
        if state.pending_exits > 0:
            return []
        ready: list[Operation] = []
        for other in state.deferred_exits:
            slots = self._arrived.get(other.op)
            if slots and any(not isinstance(s, list) or len(s) for s in slots):
                ready.append(other.op)
            else:
                state.unused_exits.append(other)
        # If one of them has a gradient, the others get zeros.
        for other in state.unused_exits:
            if ready and other.dtype.base_dtype in TRAINABLE:
                self._send(other, loops.zeros_for_exit(other))
        return ready + [other.op for other in state.unused_exits]

    def _visit(self, op: Operation, stops: set[Operation]) -> None:
        if self._colocate:
            with self._graph.colocate_with(op):
                self._visit_placed(op, stops)
        else:
            self._visit_placed(op, stops)

    def _visit_placed(self, op: Operation, stops: set[Operation]) -> None:
        loops = self._loops
        if loops is None:
            grads = self._sum_arrived(op)
        else:
            with loops.context_of(op, before=True):
                grads = self._sum_arrived(op)
        if op in stops or all(g is None for g in grads):
            return
        rule = gradient_rule(op)
        if rule is None:
            return
        if loops is None:
            self._differentiate(op, rule, grads, zeros_outside_loop)
        else:
            with loops.context_of(op):
                self._differentiate(op, rule, grads, loops.zeros_like)

    def _differentiate(
        self,
        op: Operation,
        rule: Callable[..., Any],
        grads: list[Gradient],
        zeros_like: Callable[[Operation, int], Gradient],
    ) -> None:
        """Apply an op's gradient rule and propagate the results."""
        # A function's gradient function needs gradients of all results.
        is_function = is_call(op) and python_gradient(op) is None
        for i, grad in enumerate(grads):
            if grad is None and (
                is_function or op.outputs[i].dtype.base_dtype in TRAINABLE
            ):
                # Recorded: the gradient of an output without consumers is then zeros.
                grads[i] = self._arrived[op][i] = zeros_like(op, i)
        scopes = self._graph.scopes
        saved, scopes.name = scopes.name, self._graph.unique_name(op.name + "_grad")
        try:
            sent = rule(op, *grads)
            sent = list(sent) if isinstance(sent, list | tuple) else [sent]
            if len(sent) != len(op.inputs):
                raise ValueError(
                    f"Num gradients {len(sent)} generated for op {op.node_def} do not "
                    f"match num inputs {len(op.inputs)}"
                )
            if self._gate and len(sent) - sent.count(None) > 1:
                with device(None), colocate_with(None, ignore_existing=True):
                    sent = tuple_(sent)
        finally:
            scopes.name = saved
        self._send_back(op, sent)

    def _send_back(self, op: Operation, sent: list[Gradient]) -> None:
        for i, (tensor, grad) in enumerate(zip(op.inputs, sent, strict=True)):
            if grad is None:
                continue
            known = tensor._shape
            if (
                known is not None
                and type(grad) is Tensor
                and grad._shape != known
                and tensor.dtype.base_dtype is not dtypes.resource
            ):
                try:
                    grad._shape = shapes.merge(grad._shape, known)
                except ValueError:
                    raise ValueError(
                        "Incompatible shapes between op input and calculated input "
                        f"gradient.  Forward operation: {op.name}.  Input index: {i}. "
                        f"Original input shape: {tensor.shape}.  Calculated input "
                        f"gradient shape: {grad.shape}"
                    ) from None
            self._send(tensor, grad)

    # -- sums

    def _sum_arrived(self, op: Operation) -> list[Gradient]:
        """One gradient per output of `op`, recorded for `result`."""
        slots = self._arrived.get(op)
        if slots is None:
            return [None] * len(op.outputs)
        for i, grads in enumerate(slots):
            if isinstance(grads, list):
                slots[i] = (
                    self._sum(op, grads)
                    if len(grads) > 1
                    else (grads[0] if grads else None)
                )
        return list(slots)

    def _sum(self, op: Operation, grads: list[Gradient]) -> Gradient:
        if not all(isinstance(g, Tensor | IndexedSlices) for g in grads):
            raise TypeError(
                "gradients have to be either all Tensors or all IndexedSlices"
            )
        if not all(isinstance(g, Tensor) for g in grads):
            return sum_slices(grads)
        if self._accumulate and len(grads) > 2:
            merged = functools.reduce(shapes.merge, [g._shape for g in grads])
            if shapes.is_full(merged):
                return AccumulateNV2(merged)(grads)
        if self._as_tree:
            with name_scope(op.name + "_gradient_sum"):
                total = grads[0]
                for grad in grads[1:]:
                    total = AddN()([total, grad])
                return total
        return self._add_n_by_device(grads)

    def _add_n_by_device(self, grads: list[Tensor]) -> Tensor:
        """One sum per device, then the sum of those."""
        by_device: dict[str, list[Tensor]] = {}
        for grad in grads:
            by_device.setdefault(grad.device, []).append(grad)
        sums = []
        for name in sorted(by_device):
            group = by_device[name]
            with self._graph.colocate_with(group[0].op, ignore_existing=True):
                sums.append(group[0] if len(group) == 1 else AddN()(group))
        return sums[0] if len(sums) == 1 else AddN()(sums)

    # -- results

    def result(self, x: Any, zero: bool) -> Gradient:
        """The gradient accumulated at `x`."""
        tensor = tensor_of(x)
        slots = self._arrived.get(tensor.op)
        if slots is None:
            return zeros_like(tensor) if zero else None
        found = slots[tensor.value_index]
        return (
            found
            if not isinstance(found, list)
            else (self._sum_arrived(tensor.op)[tensor.value_index])
        )
