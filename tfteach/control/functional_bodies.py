"""What steps have in place of If, Case, While and For nodes.

Each body is a graph of calls inside the branches and loops of `tf.cond` and
`tf.while_loop`, as TensorFlow lowers these nodes.
Source: core/common_runtime/lower_if_op.cc, lower_case_op.cc, lower_while_op.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.loop import while_loop
from tfteach.framework import dtypes
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, body_of, body_rule
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import TensorShape
from tfteach.ops.core.identity_reshape import reshape
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
    inputs = [
        graph.add_input(t.dtype.base_dtype, t.static_shape, "input") for t in op.inputs
    ]
    return graph, inputs


def _finished(op: Operation, graph: FuncGraph, outputs: Any) -> Body:
    found = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    graph.outputs = [t for t in found if isinstance(t, Tensor)]
    for tensor, out in zip(graph.outputs, op.outputs, strict=True):
        tensor.set_shape(out.shape)
    # Each node has a body of its own, so that calls that lead back to it are found by
    # the functions that it calls.
    return graph.as_body()._replace(name="")


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
    graph, inputs = _body_graph(op)
    with graph.as_default():
        outputs = _branches(
            op, _truth(inputs[0]), ("then_branch", "else_branch"), inputs[1:]
        )
    return _finished(op, graph, outputs)


def _branches(
    op: Operation, truth: Tensor, names: Sequence[str], inputs: list[Tensor]
) -> Any:
    def branch(name: str) -> Callable[[], Any]:
        function: Function = getattr(op.spec, name)
        return lambda: _with_effect(_call(op, function, inputs, name))

    return _results(cond(truth, branch(names[0]), branch(names[1]), name="cond"))


def _with_effect(made: list[Any]) -> Any:
    """The results of a branch; for none, the call itself."""
    return made if isinstance(made[0], Tensor) else made[0]


def _results(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


@body_rule(Case)
def case_body(op: Operation) -> Body:
    """One call of several: a chain of branches."""
    spec: Any = op.spec
    graph, (index, *inputs) = _body_graph(op)

    def call(number: int) -> Any:
        return _with_effect(
            _call(op, spec.branches[number], inputs, f"branches_{number}")
        )

    def chosen(number: int) -> Any:
        if number == len(spec.branches) - 1:
            return call(number)
        is_this = Equal()(index, number)
        found = cond(is_this, lambda: call(number), lambda: chosen(number + 1))
        return found if isinstance(found, list) or not op.outputs else [found]

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
    return _finished(op, graph, outputs)


@body_rule(For)
def for_body(op: Operation) -> Body:
    """A loop over the numbers of a range."""
    spec: Any = op.spec
    graph, (start, limit, delta, *inputs) = _body_graph(op)
    with graph.as_default():
        found: Any = while_loop(
            lambda i, *_: (limit - i) * delta > 0,
            lambda i, *values: [i + delta, *_call(op, spec.body, [i, *values], "body")],
            [start, *inputs],
            shape_invariants=[TensorShape([])] + [TensorShape(None)] * len(inputs),
        )
    return _finished(op, graph, list(found)[1:])
