"""Gradients of calls of traced functions: a second function, which runs backwards.

It reads values that the function computed on the way.  A call that a tape records
returns these, too, so that nothing is computed twice; a node in a graph gets them as
further outputs when its gradient is built.
Source: python/eager/function.py (names).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.autodiff.backward_traversal import TRAINABLE
from tfteach.autodiff.gradients import gradients
from tfteach.autodiff.tape_gradients import RecordedTape, zeros
from tfteach.engine.eager.function_program import FunctionProgram
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import resource
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import effects_of
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.indexed_slices import IndexedSlices, quietly
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import tapes
from tfteach.framework.type_aliases import Gradient
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall


class Backward:
    """The gradient function of some tensors of a function's graph.

    Args:
      forward: the function's graph.
      targets: the tensors whose gradients are given.

    Attributes:
      graph: takes the gradients of the targets, and then the values that it reads.
      reads: those values, tensors of the forward graph.
      is_known: for each input of the function whether it has a gradient.
    """

    def __init__(self, forward: FuncGraph, targets: Sequence[Tensor]) -> None:
        self.graph = FuncGraph(f"__backward_{forward.name}", forward)
        self.graph.functional_flow = True
        inputs = list(forward.inputs)
        with self.graph.as_default():
            given = [
                self.graph.add_input(t.dtype.base_dtype, t.static_shape, "grad_ys")
                for t in targets
            ]
            found = gradients(list(targets), inputs, grad_ys=given)
            with quietly():
                kept = [g if g is None else _dense(g, x) for g, x in
                        zip(found, inputs, strict=True)]  # fmt: skip
        self.is_known = [g is not None for g in kept]
        self.graph.outputs = [self.graph.capture(g) for g in kept if g is not None]
        self.reads = self.graph.external_captures
        self.calls = CallGradients(self.graph, effects_of(self.graph))


def _dense(grad: Gradient, source: Tensor) -> Tensor:
    """The gradient as one tensor; slices of rows as a dense one."""
    return convert(grad) if isinstance(grad, IndexedSlices) else grad  # type: ignore[return-value]


class CallGradients:
    """How calls of a function are recorded and differentiated.

    Args:
      graph: the function's body.
      effects: the ops that a call runs in any case.
    """

    def __init__(self, graph: FuncGraph, effects: Sequence[Operation]) -> None:
        self._graph, self._effects = graph, effects
        self._backwards: dict[tuple[Tensor, ...], Backward] = {}
        self._programs: dict[int, tuple[FunctionProgram, list[Tensor]]] = {}

    def backward(self, targets: Sequence[Tensor]) -> Backward:
        """The gradient function of some tensors of the body."""
        key = tuple(targets)
        found = self._backwards.get(key)
        if found is None:
            found = self._backwards[key] = Backward(self._graph, key)
        return found

    # ---- eager calls

    def call(self, arguments: Sequence[Tensor]) -> list[EagerTensor]:
        """Call the function, recorded by the tapes of this thread.

        Args:
          arguments: for the inputs of the body that are no captured tensors with
            values.
        """
        graph = self._graph
        captured = graph.captures
        by_input = dict(zip(graph.inputs, arguments, strict=False))
        for outer, inner in captured.items():
            if isinstance(outer, EagerTensor):
                by_input[inner] = outer
        inputs = [by_input[t] for t in graph.inputs]
        recording = [t for t in tapes.active if isinstance(t, RecordedTape)]
        order = len(recording) if any(t.depends(inputs) for t in recording) else 0
        program, values = self._program(order)
        found = program(arguments)
        for tape in recording:
            tape.record_function(
                found,
                inputs,
                lambda *grads: self._eager_gradients(grads, values, found, by_input),
                takes_none=True,
            )
        return found[: len(graph.outputs)]

    def _program(self, order: int) -> tuple[FunctionProgram, list[Tensor]]:
        """The program that also returns what gradients up to an order read."""
        made = self._programs.get(order)
        if made is None:
            values = list(self._graph.outputs)
            for _ in range(order):
                for tensor in self.backward(_trainable(values)).reads:
                    if tensor not in self._graph.inputs and tensor not in values:
                        values.append(tensor)
            program = FunctionProgram(self._graph, values, self._effects)
            made = self._programs[order] = program, values
        return made

    def _eager_gradients(
        self,
        grads: Sequence[Gradient],
        values: Sequence[Tensor],
        found: Sequence[EagerTensor],
        by_input: dict[Tensor, Tensor],
    ) -> list[Gradient]:
        """The gradients of the inputs, given those of the values of a call."""
        outputs = len(self._graph.outputs)
        pairs = zip(values, grads, found, strict=True)
        given = [
            (t, zeros(v) if g is None else g)
            for i, (t, g, v) in enumerate(pairs)
            if _is_trainable(t) and (i < outputs or g is not None)
        ]
        backward = self.backward([t for t, _ in given])
        known = {**by_input, **dict(zip(values, found, strict=True))}
        arguments: list[Any] = [g for _, g in given]
        arguments += [known[t] for t in backward.reads]
        results = iter(backward.calls.call(arguments))
        return [next(results) if is_known else None for is_known in backward.is_known]

    # ---- nodes of graphs

    def of_node(self, op: Operation, *grads: Tensor) -> list[Gradient]:
        """The gradients of the inputs of a node that calls the function.

        The node gets what the gradient function reads as further outputs.
        """
        outputs = self._graph.outputs
        pairs = zip(outputs, grads, strict=False)
        given = [(t, g) for t, g in pairs if _is_trainable(t)]
        backward = self.backward([t for t, _ in given])
        known = dict(zip(self._graph.inputs, op.inputs, strict=True))
        known.update(zip(outputs, op.outputs, strict=False))
        more = [t for t in backward.reads if t not in known]
        known.update(zip(more, self._add_outputs(op, more), strict=True))
        arguments = [g for _, g in given] + [known[t] for t in backward.reads]
        name = f"__inference_{backward.graph.name}_{id(backward)}"
        defined = DefinedFunction(name, backward.graph)
        defined.python_gradient = backward.calls.of_node
        defined.add_to_graph(get_default_graph())
        kind: Any = StatefulPartitionedCall
        if not any(o.op_def.is_stateful for o in backward.graph.operations):
            kind = PartitionedCall
        made: Any = kind(
            Tin=tuple(t.dtype.base_dtype for t in arguments),
            Tout=tuple(t.dtype.base_dtype for t in backward.graph.outputs),
            f=Function(name),
        )(arguments)
        results = iter(made if isinstance(made, list) else [])
        return [next(results) if is_known else None for is_known in backward.is_known]

    def _add_outputs(self, op: Operation, more: Sequence[Tensor]) -> list[Tensor]:
        """Let a node return further tensors of the body."""
        if not more:
            return []
        graph, spec = op.graph, op.spec
        known: list[Tensor] = op.__dict__.setdefault(
            "returned", list(self._graph.outputs)
        )
        new = [t for t in more if t not in known]
        if new:
            known += new
            forward = FuncGraph.__new__(FuncGraph)
            forward.__dict__.update(self._graph.__dict__)
            forward.outputs = list(known)
            name = f"__forward_{self._graph.name}_{id(forward)}"
            defined = DefinedFunction(name, forward)
            defined.python_gradient = self.of_node
            defined.add_to_graph(graph)
            if graph.known is not None:
                graph.known.forget(op)
            op.spec = spec.replace(
                Tout=tuple(t.dtype.base_dtype for t in known), f=Function(name)
            )
            for tensor in new:
                kind, shape = tensor.dtype.base_dtype, tensor.static_shape
                op.outputs.append(Tensor(op, len(op.outputs), kind, shape))
            graph.record_mutation()
        return [op.outputs[known.index(t)] for t in more]


def _trainable(tensors: Sequence[Tensor]) -> list[Tensor]:
    return list(filter(_is_trainable, tensors))


def _is_trainable(tensor: Tensor) -> bool:
    dtype = tensor.dtype.base_dtype
    return dtype in TRAINABLE and dtype is not resource
