"""`Body`: what replaces a node that calls a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph
    from tfteach.framework.op import Op
    from tfteach.framework.operation import Operation, Tensor


class Body(NamedTuple):
    """The ops that a call stands for.

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

    Reads and handles of variables have no effect, and are left out.
    """
    return tuple(op for op in graph.operations if _has_effect(op))


def _has_effect(op: Operation) -> bool:
    spec = op.spec
    return (
        spec.is_stateful
        and not spec.returns_handle
        and not spec.reads_variable
        and not type(spec)._ref_inputs
    )


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
