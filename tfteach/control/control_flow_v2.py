"""TensorFlow 2's control flow: the switch, and the graphs of branches and loops.

Source: python/ops/control_flow_v2_toggles.py, control_flow_util_v2.py, func_graph.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, common
from tfteach.ops.core.identity_reshape import identity

_numbers = itertools.count()
_enabled = False
# What a branch shares with the graph around it: variables and their scopes.
_SHARED = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    ("__variable_store",),
    ("__varscope",),
)


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Let `tf.cond`, `tf.while_loop` and `tf.case` build If, While and Case nodes.

    Their branches and bodies are functions of the graph's library, as in TensorFlow 2.

    Example:
      >>> tf.enable_control_flow_v2()

    Source: python/ops/control_flow_v2_toggles.py.
    """
    global _enabled
    _enabled = True


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Let `tf.cond` and `tf.while_loop` build Switch and Merge nodes, the default."""
    global _enabled
    _enabled = False


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether `tf.cond` and `tf.while_loop` build If and While nodes."""
    return is_functional()


def is_functional() -> bool:
    """Whether control flow is built of functions in the default graph."""
    chosen: bool | None = getattr(get_default_graph(), "functional_flow", None)
    return _enabled if chosen is None else chosen


class FlowGraph(FuncGraph):
    """The graph of a branch, or of a loop's condition or body."""

    functional_flow = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        outer = self.outer_graph
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
      returned: the tensor that stands for an Operation that the function returns.

    Returns:
      What it returned, as tensors of the graph in the same structure.
    """

    def tensor(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Operation):
            with graph.control_dependencies([value]):
                return identity(graph.capture(convert(returned)))
        if isinstance(value, TensorArray):
            value = value.flow
        return graph.capture(convert(value))

    with graph.as_default():
        found = function()
        made = nest.map_structure(tensor, found, expand_composites=True)
    flat = nest.flatten(made, expand_composites=True)
    graph.outputs = [t for t in flat if t is not None]
    return made


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
    return nest.pack_sequence_as(structure, values, expand_composites=True)


def with_wide_indices(value: Any) -> Any:
    """IndexedSlices with int64 indices; any other value unchanged."""
    from tfteach.framework.dtypes import int64
    from tfteach.ops.math.cast import cast

    if not isinstance(value, IndexedSlices):
        return value
    return IndexedSlices(value.values, cast(value.indices, int64), value.dense_shape)
