"""The graphs of branches and loops whose bodies are functions.

Source: python/ops/control_flow_util_v2.py, python/framework/func_graph.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfteach.control.automatic_control import wait_for_effects
from tfteach.control.tensor_array import TensorArray, arrays_again, flow_of
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph, operation_of
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.shape import Shape, common
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.functions.control_flow import LOWERED

_numbers = itertools.count()


class FlowGraph(FuncGraph):
    """The graph of a branch, or of a loop's condition or body.

    It shares the collections of the graph around it, and its ops are colocated as if
    they were built there.

    Attributes:
      control_captures: the ops of outer graphs that ops of this one wait for.
    """

    functional_flow = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        outer = self.outer_graph
        self.orders_effects = getattr(outer, "orders_effects", False)
        self._collections = outer._collections
        self.scopes.state.colocation = outer.scopes.state.colocation
        self.control_captures: dict[Operation, None] = {}

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """As in a Graph; what waits for ops of outer graphs is the node."""
        if control_inputs is None:
            return super().control_dependencies(None)
        values = list(control_inputs)
        for op in map(operation_of, values):
            if isinstance(op, Operation) and op.graph is not self:
                self.control_captures[op] = None
        return super().control_dependencies(values)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """As in a Graph, also with ops of outer graphs."""
        return Graph.colocate_with(self, op, ignore_existing)

    def colocation_op(self, value: Any) -> Operation:
        found = operation_of(value)
        return found if isinstance(found, Operation) else super().colocation_op(value)


def after_captures(graphs: Sequence[FlowGraph]) -> Any:
    """A context manager: new ops wait for what the ops of some graphs wait for."""
    ops = [op for graph in graphs for op in graph.control_captures]
    return control_dependencies(ops)


def function_name(scope: str, suffix: str) -> str:
    """A new name of a function, such as "cond_true_7"."""
    return f"{scope.replace('/', '_')}{suffix}_{next(_numbers)}"


def built(graph: FlowGraph, function: Callable[..., Any], returned: Any = None) -> Any:
    """Build a function's ops in a graph.

    Args:
      graph: the graph, whose outputs are set.
      function: without arguments.
      returned: the tensor returned in place of an Operation.

    Returns:
      What it returned, as tensors of the graph in the same structure; TensorArrays
      stay what they are, and their flows are outputs.
    """

    def tensor(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Operation):
            with graph.control_dependencies([value]):
                value = identity(convert(returned))
        found = convert(flow_of(value))
        return identity(found) if graph.orders_effects else graph.capture(found)

    with graph.as_default():
        found = function()
        flat = nest.flatten(found, expand_composites=True)
        tensors = [tensor(value) for value in flat]
    graph.outputs = [t for t in tensors if t is not None]
    if graph.orders_effects:
        wait_for_effects(graph, graph.outputs)
    made = [
        old if isinstance(old, TensorArray) else new
        for old, new in zip(flat, tensors, strict=True)
    ]
    return nest.pack_sequence_as(found, made, expand_composites=True)


def match_inputs(graphs: Sequence[FlowGraph]) -> list[Tensor]:
    """Let all of some graphs have the same captures; returns the captured tensors."""
    every = list(dict.fromkeys(t for g in graphs for t in g.external_captures))
    for graph in graphs:
        own = graph.inputs[: len(graph.inputs) - len(graph.captures)]
        captures = {}
        for tensor in every:
            known = graph.captures.get(tensor)
            if known is None:
                known = graph.unused_input(tensor)
            captures[tensor] = known
        graph.captures = captures
        graph.inputs = [*own, *captures.values()]
    return every


def added(graph: FuncGraph) -> Function:
    """Add a finished graph as a function to the graph around it."""
    made = DefinedFunction(graph.name, graph)
    made.add_to_graph(graph.outer_graph)
    return Function(graph.name)


def is_stateful(graph: FuncGraph) -> bool:
    """Whether the function of a graph counts as one with state."""
    return any(op.op_def.is_stateful for op in graph.operations)


def shapes_of(graphs: Sequence[FuncGraph]) -> tuple[Shape, ...]:
    """The shapes that the outputs have in all of some graphs."""
    found = []
    for tensors in zip(*[graph.outputs for graph in graphs], strict=True):
        shape = tensors[0].static_shape
        for tensor in tensors[1:]:
            shape = common(shape, tensor.static_shape)
        found.append(shape)
    return tuple(found)


def lowered(op: Operation) -> None:
    """Mark a node to be lowered to Switch and Merge, as TensorFlow does."""
    op.extra_attrs = {**(op.extra_attrs or {}), LOWERED: True}


def types_of(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple(tensor.dtype.base_dtype for tensor in tensors)


def packed(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """Tensors in the structure that a function returned; None stays None."""
    flat = nest.flatten(structure, expand_composites=True)
    left = iter(tensors)
    values = [None if value is None else next(left) for value in flat]
    values = arrays_again(flat, values)
    return nest.pack_sequence_as(structure, values, expand_composites=True)
