"""The graphs of functions that compute gradients of branches and of loops' bodies.

Source: python/ops/cond_v2.py (_CondGradFuncGraph), while_v2.py
(_WhileBodyGradFuncGraph).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.control_flow_v2 import FlowGraph
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import defined_in
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.indexed_slices import quietly
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import record_more_outputs
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient


class GradientGraph(FlowGraph):
    """The graph of a gradient function, which reads tensors of the forward one's.

    Attributes:
      forward: the graph of the function that is differentiated.
      intermediates: tensor of that graph -> its value in this one.
    """

    def __init__(self, name: str, forward: FuncGraph) -> None:
        super().__init__(name)
        self.forward = forward
        self.intermediates: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.op.graph is self:
            return tensor
        found = self.intermediates.get(tensor, self.captures.get(tensor))
        if found is not None:
            return found
        if tensor.op.graph is self.forward and self.is_intermediate(tensor):
            found = self.intermediates[tensor] = self.value_of(tensor)
            return found
        return self._add_capture(tensor, name)

    def is_intermediate(self, tensor: Tensor) -> bool:
        """Whether a tensor of the forward graph is no input or output of its node."""
        raise NotImplementedError

    def value_of(self, tensor: Tensor) -> Tensor:
        """The value of an intermediate tensor, which the node has to output."""
        raise NotImplementedError

    def variant_capture(self, key: Tensor) -> Tensor:
        """A captured variant that carries the value of a tensor, and has its name."""
        holder = self._capture_placeholder_of(dtypes.variant, (), key.op.name)
        self.captures[key] = holder
        self.inputs.append(holder)
        return holder


def forward_graph(
    op: Operation, function: Function, shapes: Sequence[Shape]
) -> FuncGraph:
    """The body of a function of a node, built anew so that it can get more outputs.

    Args:
      op: the node.
      function: one of its functions.
      shapes: the static shapes of the function's arguments.
    """
    defined = defined_in(op.graph, function, op)
    assert isinstance(defined, DefinedFunction)
    return defined.rebuilt(op.graph, function, shapes)


def rewritten(op: Operation, graph: FuncGraph, function: Function) -> Function:
    """Add the function of a graph that has got more outputs to the node's graph."""
    name = f"{function.name}_rewritten"
    while name in op.graph.functions:
        name += "_rewritten"
    graph.name = name
    DefinedFunction(name, graph).add_to_graph(op.graph)
    return Function(name)


def replace_op(op: Operation, spec: Any, more: int) -> None:
    """Replace a node's op by one with more outputs, all of them variants."""
    known = op.graph.known
    if known is not None:
        known.forget(op)
    op.spec = spec
    added = [Tensor(op, len(op.outputs) + i, dtypes.variant, ()) for i in range(more)]
    op.outputs += added
    record_more_outputs(op, added)
    op.graph.record_mutation()


def dense(grad: Gradient) -> Tensor | None:
    """A gradient as a Tensor; None stays None."""
    if grad is None or isinstance(grad, Tensor):
        return grad
    with quietly():
        return convert(grad)
