"""`Body`: what replaces a node that calls a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tfteach.framework.errors import NotFoundError

if TYPE_CHECKING:
    from tfteach.framework.function_attribute import Function
    from tfteach.framework.graph import Graph
    from tfteach.framework.graph_protocols import GraphFunction
    from tfteach.framework.op import Op
    from tfteach.framework.operation import Operation, Tensor


class Body(NamedTuple):
    """The ops that replace a call.

    Attributes:
      graph: their graph; the passes read it and never change it.
      inputs: the placeholders for the call's inputs, in order.
      outputs: the tensors that are the call's outputs, in order.
      effects: the ops that a call runs even if no output needs them.
      name: the function's name, for reports; calls inside its body that lead back to
        it are run by their kernels.
    """

    graph: Graph
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    effects: tuple[Operation, ...]
    name: str


def effects_of(graph: Graph) -> tuple[Operation, ...]:
    """The ops that every call of a body runs: those with state, as in TensorFlow.

    Reads and handles of variables have no effect, and are left out.  A body may run
    only what its results need, and the ops that it declares.
    """
    if not getattr(graph, "runs_all_effects", True):
        return tuple(graph.control_outputs)  # type: ignore[attr-defined]
    return tuple(op for op in graph.operations if _has_effect(op))


def _has_effect(op: Operation) -> bool:
    spec = op.spec
    return (
        spec.is_stateful
        and not spec.returns_handle
        and not spec.reads_variable
        and not type(spec)._ref_inputs
    )


def body_of(op: Operation, function: Function) -> Body:
    """The body of a function that an attribute of `op` names.

    Raises:
      NotFoundError: the graph's library has no such function.
    """
    return defined_in(op.graph, function, op).body(function)


def defined_in(
    graph: Graph, function: Function, op: Operation | None = None
) -> GraphFunction:
    """The function of a graph's library that `function` names.

    Raises:
      NotFoundError: there is none.
    """
    found = graph.functions.get(function.name)
    if found is None:
        error = NotFoundError(None, None, f"Function {function.name} is not defined.")
        raise error if op is None else error.at(op)
    return found


_Rule = TypeVar("_Rule", bound="Callable[[Operation], Body | None]")


def body_rule(*kinds: type[Op]) -> Callable[[_Rule], _Rule]:
    """Decorator: registers a function of the op as the `function_body` of op types.

    Only for bodies that are built by control flow or `tf.gradients`, which the modules
    of ops do not import.
    """

    def attach(rule: _Rule) -> _Rule:
        for kind in kinds:
            setattr(kind, "function_body", lambda _, op: rule(op))  # noqa: B010
        return rule

    return attach
