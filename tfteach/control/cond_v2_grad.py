"""Gradients of If and Case nodes: nodes of the same kind.

The gradient of a branch needs values that the branch computed: these become further
outputs of the node, as optionals, since only one branch has them.
Source: python/ops/cond_v2.py (_IfGrad).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.autodiff.backward_traversal import TRAINABLE
from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.autodiff.gradients import gradients
from tfteach.control.automatic_control import returned
from tfteach.control.control_flow_v2 import (
    added,
    function_name,
    is_stateful,
    lowered,
    match_inputs,
    shapes_of,
    types_of,
)
from tfteach.control.gradient_graph import (
    GradientGraph,
    dense,
    forward_graph,
    replace_op,
    rewritten,
)
from tfteach.framework import dtypes
from tfteach.framework.constant_values import handle_dtype
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Gradient
from tfteach.ops.core.fill import zeros, zeros_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.data.optionals import (
    OptionalFromValue,
    OptionalGetValue,
    OptionalNone,
)
from tfteach.ops.functions.control_flow import Case, If, StatelessIf
from tfteach.ops.state.resource_variables import VariableShape


class BranchGradientGraph(GradientGraph):
    """The graph of the gradient of one branch.

    Args:
      name: the function's name.
      forward: the graph of the branch.
      op: the node that it is a branch of.

    Attributes:
      ends: tensor of the branch -> what it is, or has the value of, around the node.
      optionals: the values that the node has to output, by the tensor.
    """

    def __init__(self, name: str, forward: FuncGraph, op: Operation) -> None:
        super().__init__(name, forward)
        self.optionals: dict[Tensor, Tensor] = {}
        self.ends = dict(zip(forward.inputs, op.inputs[1:], strict=True))
        self._known: dict[Tensor, Tensor] = {}  # of earlier gradients
        for y, output in zip(forward.outputs, op.outputs, strict=True):
            self.ends.setdefault(y, output)
            if isinstance(y.op.spec, OptionalFromValue):
                self._known.setdefault(y.op.inputs[0], output)

    def is_intermediate(self, tensor: Tensor) -> bool:
        return tensor not in self.ends

    def value_of(self, tensor: Tensor) -> Tensor:
        if tensor in self._known:
            self.ends[tensor] = self._known[tensor]
        else:
            with self.forward.as_default():
                self.optionals[tensor] = OptionalFromValue()([tensor])
        holder = self.variant_capture(tensor)
        kinds = (tensor.dtype.base_dtype,), (tensor.static_shape,)
        with self.as_default():
            found: Tensor = OptionalGetValue(*kinds)(holder)[0]
        return found


@gradient_of(If, StatelessIf)
def if_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """A node whose branches compute the gradients of the branches."""
    spec: Any = op.spec
    functions = [spec.then_branch, spec.else_branch]

    def make(names: Sequence[Function], **types: Any) -> Any:
        return {"then_branch": names[0], "else_branch": names[1], **types}

    return _branch_gradient(op, functions, grads, make, (If, StatelessIf), None)


@gradient_of(Case)
def case_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """A node whose branches compute the gradients of the branches."""
    spec: Any = op.spec

    def make(names: Sequence[Function], **types: Any) -> Any:
        return {"branches": tuple(names), **types}

    kinds = Case, Case
    return _branch_gradient(op, list(spec.branches), grads, make, kinds, "gradient")


def _branch_gradient(
    op: Operation,
    functions: Sequence[Function],
    grads: Sequence[Tensor],
    make: Any,
    kinds: tuple[Any, Any],
    name: str | None,
) -> list[Gradient]:
    shapes = [tensor.static_shape for tensor in op.inputs[1:]]
    forwards = [forward_graph(op, function, shapes) for function in functions]
    graphs = []
    found: list[list[Tensor | None]] = []
    for forward, function in zip(forwards, functions, strict=True):
        name_of_graph = function_name(function.name, "_grad")
        graph = BranchGradientGraph(name_of_graph, forward, op)
        pairs = [
            (y, grad)
            for y, grad in zip(forward.outputs, grads, strict=False)
            if grad is not None and y.dtype.base_dtype in TRAINABLE
        ]
        with graph.as_default():
            ys, weights = [y for y, _ in pairs], [grad for _, grad in pairs]
            made = gradients(ys, forward.inputs, weights)
            found.append([dense(grad) for grad in made])
        graphs.append(graph)
    wanted = [
        i
        for i, x in enumerate(forwards[0].inputs)
        if x.dtype.is_floating
        or x.dtype.is_complex
        or any(row[i] is not None for row in found)
    ]
    for graph, forward, row in zip(graphs, forwards, found, strict=True):
        for x, tensor in zip(forward.inputs, op.inputs[1:], strict=True):
            forward.stands_for(x, tensor)
        with graph.as_default():
            values = [
                _zeros_like(forward.inputs[i]) if row[i] is None else row[i]
                for i in wanted
            ]
        graph.outputs = returned(graph, [v for v in values if v is not None])
    _add_optionals(op, forwards, graphs, functions, make)
    inputs = match_inputs(graphs)
    kind = kinds[0] if any(map(is_stateful, graphs)) else kinds[1]
    types = {
        "Tin": types_of(inputs),
        "Tout": types_of(graphs[0].outputs),
        "output_shapes": shapes_of(graphs),
    }
    made_op = kind(**make([added(graph) for graph in graphs], **types))
    results = made_op(op.inputs[0], inputs, name=name)
    results = results if isinstance(results, list) else [results]
    lowered(results[0].op)
    by_input: list[Gradient] = [None] * len(op.inputs)
    for i, tensor in zip(wanted, results, strict=True):
        by_input[i + 1] = identity(tensor)
    return by_input


def _zeros_like(x: Tensor) -> Tensor:
    """The gradient of an input on which nothing depends."""
    if x.dtype.base_dtype is not dtypes.resource:
        return zeros_like(x)
    return zeros(VariableShape()(x), handle_dtype(x))


def _add_optionals(
    op: Operation,
    forwards: Sequence[FuncGraph],
    graphs: Sequence[BranchGradientGraph],
    functions: Sequence[Function],
    make: Any,
) -> None:
    """Let the node output the intermediate values; reported to the captures.

    Each output has the values of all branches, since only one of them runs.
    """
    more = max(len(graph.optionals) for graph in graphs)
    first = len(op.outputs)
    if more:
        for forward, graph in zip(forwards, graphs, strict=True):
            with forward.as_default():
                missing = [OptionalNone()() for _ in range(more - len(graph.optionals))]
            forward.outputs += [*graph.optionals.values(), *missing]
        spec: Any = op.spec
        changes = make(
            [rewritten(op, f, n) for f, n in zip(forwards, functions, strict=True)],
            Tout=(*spec.Tout, *[dtypes.variant] * more),
            output_shapes=shapes_of(forwards),
        )
        replace_op(op, spec.replace(**changes), more)
    for graph in graphs:
        outputs = dict(zip(graph.optionals, op.outputs[first:], strict=False))
        outer = {**graph.ends, **outputs}
        graph.captures = {outer.get(t, t): p for t, p in graph.captures.items()}
