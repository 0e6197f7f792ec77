"""The graphs of branches and loops whose bodies are functions.

Source: python/ops/control_flow_util_v2.py, python/framework/func_graph.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.automatic_control import returned as results
from tfteach.control.tensor_array import TensorArray, arrays_again, flow_of
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, common
from tfteach.ops.core.identity_reshape import identity

_numbers = itertools.count()
# What a branch shares with the graph around it: variables and their scopes.
_SHARED = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    ("__variable_store",),
    ("__varscope",),
)


class FlowGraph(FuncGraph):
    """The graph of a branch, or of a loop's condition or body."""

    functional_flow = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        outer = self.outer_graph
        self.orders_effects = getattr(outer, "orders_effects", False)
        for key in _SHARED:
            self._collections[key] = outer.collection_list(key)


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
                return identity(convert(returned))
        return graph.capture(convert(flow_of(value)))

    with graph.as_default():
        found = function()
        flat = nest.flatten(found, expand_composites=True)
        tensors = [tensor(value) for value in flat]
    graph.outputs = [t for t in tensors if t is not None]
    if graph.orders_effects:
        graph.outputs = results(graph, graph.outputs)
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
    op.extra_attrs = {**(op.extra_attrs or {}), "_lower_using_switch_merge": True}


def types_of(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple(tensor.dtype.base_dtype for tensor in tensors)


def packed(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """Tensors in the structure that a function returned; None stays None."""
    flat = nest.flatten(structure, expand_composites=True)
    left = iter(tensors)
    values = [None if value is None else next(left) for value in flat]
    values = arrays_again(flat, values)
    return nest.pack_sequence_as(structure, values, expand_composites=True)
