"""What steps have in place of If, Case, While and For nodes.

Each body is a graph of calls inside the branches and loops of `tf.cond` and
`tf.while_loop`, as TensorFlow lowers these nodes.
Source: core/common_runtime/lower_if_op.cc, lower_case_op.cc, lower_while_op.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.loop import while_loop
from tfteach.framework import dtypes
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, body_of, body_rule
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import TensorShape
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import size
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall
from tfteach.ops.functions.control_flow import (
    Case,
    For,
    If,
    StatelessIf,
    StatelessWhile,
    While,
)
from tfteach.ops.math.compare import Equal, NotEqual


def _body_graph(op: Operation) -> tuple[FuncGraph, list[Tensor]]:
    """A graph with a placeholder for each input of the node."""
    graph = FuncGraph(op.name, op.graph, op.graph.functions)
    graph.functional_flow = False  # its branches and loops are what the node becomes
    inputs = [
        graph.add_input(t.dtype.base_dtype, t.static_shape, "input") for t in op.inputs
    ]
    return graph, inputs


def _finished(op: Operation, graph: FuncGraph, outputs: Sequence[Tensor]) -> Body:
    """The body with these outputs, and others that follow the functions' effects.

    Ops in a branch that is not taken are dead, those in a loop run once in each
    iteration: what waits for the node waits for outputs of the branch or loop instead.
    """
    count = len(op.outputs)
    graph.outputs = list(outputs[:count])
    for tensor, out in zip(graph.outputs, op.outputs, strict=True):
        tensor.set_shape(out.shape)
    # Each node has a body of its own, so that calls that lead back to it are found by
    # the functions that it calls.
    effects = tuple(tensor.op for tensor in outputs[count:])
    return graph.as_body()._replace(name="", effects=effects)


def _after(call: Operation, value: Tensor) -> Tensor:
    """The value, once a call and its effects have ended."""
    with call.graph.control_dependencies([call]):
        return identity(value)


def _call(
    op: Operation, function: Function, inputs: Sequence[Tensor], name: str
) -> list[Any]:
    """A call of one of the node's functions, named after the attribute.

    Returns:
      The results; the Operation if there are none.
    """
    body = body_of(op, function)
    kind: Any = StatefulPartitionedCall if body.effects else PartitionedCall
    made = kind(
        Tin=tuple(t.dtype.base_dtype for t in inputs),
        Tout=tuple(t.dtype.base_dtype for t in body.outputs),
        f=function,
    )(list(inputs), name=f"{name}/")
    return made if isinstance(made, list) else [made]


def _call_and(
    op: Operation, function: Function, inputs: Sequence[Tensor], name: str, done: Tensor
) -> list[Tensor]:
    """The results of a call, and the value of `done` after it."""
    made = _call(op, function, inputs, name)
    call = made[0].op if isinstance(made[0], Tensor) else made[0]
    return [*(t for t in made if isinstance(t, Tensor)), _after(call, done)]


# ---- branches


def _truth(value: Tensor) -> Tensor:
    """Whether a predicate of any type counts as true."""
    if value.static_shape not in (None, ()):
        return NotEqual()(size(value), 0)
    if value.dtype.base_dtype is dtypes.bool_:
        return value
    zero: Any = "" if value.dtype.base_dtype is dtypes.string else 0
    return NotEqual()(reshape(value, []), zero)


@body_rule(If, StatelessIf)
def if_body(op: Operation) -> Body:
    """One of two calls."""
    spec: Any = op.spec
    graph, (choice, *inputs) = _body_graph(op)
    with graph.as_default():
        truth = _truth(choice)
        outputs = cond(
            truth,
            lambda: _call_and(op, spec.then_branch, inputs, "then_branch", truth),
            lambda: _call_and(op, spec.else_branch, inputs, "else_branch", truth),
            strict=True,
            name="cond",
        )
    return _finished(op, graph, outputs)


@body_rule(Case)
def case_body(op: Operation) -> Body:
    """One call of several: a chain of branches."""
    spec: Any = op.spec
    graph, (index, *inputs) = _body_graph(op)

    def chosen(number: int) -> Any:
        name, function = f"branches_{number}", spec.branches[number]
        if number == len(spec.branches) - 1:
            return _call_and(op, function, inputs, name, index)
        return cond(
            Equal()(index, number),
            lambda: _call_and(op, function, inputs, name, index),
            lambda: chosen(number + 1),
            strict=True,
        )

    with graph.as_default():
        outputs = chosen(0)
    return _finished(op, graph, outputs)


# ---- loops


@body_rule(While, StatelessWhile)
def while_body(op: Operation) -> Body:
    """A loop of two calls.  Values that the body returns unchanged are invariants."""
    spec: Any = op.spec
    body = body_of(op, spec.body)
    graph, inputs = _body_graph(op)
    changing = [
        i
        for i, (before, after) in enumerate(zip(body.inputs, body.outputs, strict=True))
        if before is not after
    ]

    def every(changed: Sequence[Tensor]) -> list[Tensor]:
        values = list(inputs)
        for i, tensor in zip(changing, changed, strict=True):
            values[i] = tensor
        return values

    def step(*changed: Tensor) -> list[Tensor]:
        after = _call(op, spec.body, every(changed), "body")
        found = [after[i] for i in changing]
        if body.effects:
            found[0] = _after(after[0].op, found[0])
        for i, tensor in zip(changing, found, strict=True):
            tensor.set_shape(op.outputs[i].shape)
        return found

    for i in changing:
        inputs[i].set_shape(op.outputs[i].shape)
    with graph.as_default():
        found: Any = while_loop(
            lambda *changed: _truth(_call(op, spec.cond, every(changed), "cond")[0]),
            step,
            [inputs[i] for i in changing],
            shape_invariants=[
                TensorShape(op.outputs[i].static_shape) for i in changing
            ],
            parallel_iterations=spec.parallel_iterations,
        )
    outputs = every(found if isinstance(found, list | tuple) else [found])
    if body.effects:
        outputs.append(outputs[changing[0]])
    return _finished(op, graph, outputs)


@body_rule(For)
def for_body(op: Operation) -> Body:
    """A loop over the numbers of a range."""
    spec: Any = op.spec
    graph, (start, limit, delta, *inputs) = _body_graph(op)
    with graph.as_default():
        found: Any = while_loop(
            lambda *values: (limit - values[-1]) * delta > 0,
            lambda *values: _call_and(
                op,
                spec.body,
                [values[-1], *values[:-1]],
                "body",
                values[-1] + delta,
            ),
            [*inputs, start],
            shape_invariants=[TensorShape(None)] * len(inputs) + [TensorShape([])],
        )
    return _finished(op, graph, found)
