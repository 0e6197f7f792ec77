"""Control flow contexts: the loops and branches that ops are built in.

`Graph.control_flow_context` is the innermost context open in the thread.  Each new op
is passed to it (`add_op`); values from outside are replaced by values carried in
(`add_value`), through a Switch for a branch, through an Enter for a loop.  The contexts
themselves are in `control/`.
Source: python/ops/control_flow_ops.py, control_flow_util.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfteach.framework import nest
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph


class ControlFlowContext:
    """A branch of a cond or a loop, while it is built and afterwards.

    Attributes:
      name: unique in the graph; a loop's name is its frame's.
      outer_context: the enclosing context, or None.
      values: the tensors that may be used inside without being carried in.
      external_values: outer tensors -> the tensors that carry them in.
    """

    grad_state: Any = None  # set while the gradient loop of a loop is built

    def __init__(self, name: str) -> None:
        graph = get_default_graph()
        self.name = graph.unique_name(name)
        self.graph: Graph = graph
        self.outer_context: ControlFlowContext | None = graph.control_flow_context
        self.nested_contexts: list[ControlFlowContext] = []
        if self.outer_context is not None:
            self.outer_context.nested_contexts.append(self)
        self.values: set[Tensor] = set()
        self.external_values: dict[Tensor, Tensor] = {}
        self._entered: list[Any] = []

    def __enter__(self) -> ControlFlowContext:
        graph = get_default_graph()
        graph.has_control_flow = True
        scopes = graph.scopes
        self._entered.append((scopes, scopes.enter({"context": self})))
        return self

    def __exit__(self, *_: object) -> None:
        scopes, entered = self._entered.pop()
        scopes.leave(entered, "context")

    @contextmanager
    def left(self) -> Iterator[None]:
        """Leave this context, the innermost open one, temporarily."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def add_op(self, op: Operation) -> None:
        """Add a new op to this context."""
        raise NotImplementedError

    def add_value(self, value: Tensor) -> Tensor:
        """The counterpart of `value` inside this context."""
        raise NotImplementedError

    def add_inner_op(self, op: Operation) -> None:
        """Record an op of an inner context."""
        if self.outer_context is not None:
            self.outer_context.add_inner_op(op)

    def exit_result(self, result: Any) -> None:
        """Make a result available in the enclosing context."""
        outer = self.outer_context
        if outer is not None:
            outer.values.update(nest.flatten(result, expand_composites=True))

    @property
    def control_pivot(self) -> Tensor | None:
        """Control input of ops without inputs: they run only with the context."""
        return None

    @property
    def while_context(self) -> ControlFlowContext | None:
        """The innermost loop: this context, or one that encloses it."""
        return None if self.outer_context is None else self.outer_context.while_context

    @property
    def is_while(self) -> bool:
        return False

    @property
    def is_cond(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.name

    def keep_inner_control_inputs(self, op: Operation) -> list[Operation]:
        """Drop the control inputs from outside the loop; returns those dropped."""
        loop = self.while_context
        if loop is None:
            return []
        inner: list[Operation] = []
        outer: list[Operation] = []
        for other in op.control_inputs:
            context = output_context(other)
            inside = context is not None and context.while_context is loop
            (inner if inside else outer).append(other)
        if outer:
            before = op.inputs, op.control_inputs
            op.control_inputs = inner
            self.graph.edges_changed(op, *before)
        return outer


def is_loop_enter(op: Operation) -> bool:
    return op.spec.flow is Flow.ENTER


def is_loop_exit(op: Operation) -> bool:
    return op.spec.flow is Flow.EXIT


def is_constant_enter(op: Operation) -> bool:
    """Whether `op` carries a loop invariant into a loop."""
    return is_loop_enter(op) and bool(op.get_attr("is_constant"))


def is_loop_switch(op: Operation) -> bool:
    """Whether `op` is the Switch of a loop variable, not that of a cond in a loop."""
    if op.spec.flow is not Flow.SWITCH:
        return False
    context: ControlFlowContext | None = op.control_flow_context
    if context is None or not context.is_while:
        return False
    users = [user for tensor in op.outputs for user in tensor.consumers()]
    return not all(is_in_branch(user) for user in users)


def is_in_branch(op: Operation) -> bool:
    """Whether a branch of `tf.cond` is the innermost context that reads the inputs."""
    context: ControlFlowContext | None = op.control_flow_context
    if context is not None and is_loop_enter(op):
        context = context.outer_context
    return context is not None and context.is_cond


def output_context(op: Operation) -> ControlFlowContext | None:
    """The context that the outputs of `op` belong to."""
    context: ControlFlowContext | None = op.control_flow_context
    if context is not None and is_loop_exit(op):
        return context.outer_context
    return context


def contains(
    outer: ControlFlowContext | None, inner: ControlFlowContext | None
) -> bool:
    """Whether `inner` is `outer`, or is nested in it."""
    while inner is not outer:
        if inner is None:
            return False
        inner = inner.outer_context
    return True


def check_inputs(op: Operation) -> None:
    """Raise for inputs from inside a loop that does not contain `op`.

    Raises:
      ValueError: naming both operations.
    """
    for tensor in op.inputs:
        source = output_context(tensor.op)
        if source is None or source is op.control_flow_context:
            continue
        theirs = source.while_context
        context: ControlFlowContext | None = op.control_flow_context
        mine = None if context is None else context.while_context
        if theirs is None or contains(theirs, mine):
            continue
        if mine is None and op.spec.flow in (Flow.ENTER, Flow.SWITCH):
            continue
        if mine is not None and mine.grad_state is not None:
            continue  # the builder of a gradient loop checks its own inputs
        why = (
            f"'{tensor.op.name}' is in a while loop"
            if mine is None
            else ("they are in different while loops")
        )
        raise ValueError(
            f"Cannot use '{tensor.op.name}' as input to '{op.name}' because {why}. "
            "See info log for more details. Use the loop's result, or make the value "
            "one of its loop_vars."
        )
