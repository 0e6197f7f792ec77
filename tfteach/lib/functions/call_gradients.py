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
from tfteach.framework import nest
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import resource
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import effects_of
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.recording import record_more_outputs, tapes
from tfteach.framework.type_aliases import Gradient
from tfteach.lib.functions.trace import numbered
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall


class Backward:
    """The gradient function of some tensors of a function's graph.

    Args:
      forward: the function's graph.
      targets: the tensors whose gradients are given.

    Attributes:
      graph: takes the gradients of the targets, and then the values that it reads.
      reads: those values, tensors of the forward graph.
      grads: for each input of the function its gradient in that graph, or None.
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
            self.grads = gradients(list(targets), inputs, grad_ys=given)
            flat = nest.flatten(self.grads, expand_composites=True)
            parts = [self.graph.capture(t) for t in flat if t is not None]
        self.graph.outputs = parts
        self.reads = self.graph.external_captures
        forward.read_by_gradients.update(self.reads)
        self.calls = CallGradients(self.graph, effects_of(self.graph))

    def nested(self, results: Sequence[Tensor]) -> list[Gradient]:
        """The gradients of the inputs, from the tensors that a call returned."""
        left = iter(results)
        flat = [
            None if t is None else next(left)
            for t in nest.flatten(self.grads, expand_composites=True)
        ]
        found: list[Gradient] = nest.pack_sequence_as(self.grads, flat, True)
        return found


class CallGradients:
    """How calls of a function are recorded and differentiated.

    Args:
      graph: the function's body.
      effects: the ops that a call runs in any case.
    """

    def __init__(self, graph: FuncGraph, effects: Sequence[Operation]) -> None:
        self._graph, self._effects = graph, effects
        self._pair: list[DefinedFunction] = []  # of `forward_and_backward`
        self._backwards: dict[tuple[Tensor, ...], Backward] = {}
        self._programs: dict[int, tuple[FunctionProgram, list[Tensor]]] = {}

    def backward(self, targets: Sequence[Tensor]) -> Backward:
        """The gradient function of some tensors of the body."""
        key = tuple(targets)
        found = self._backwards.get(key)
        if found is None:
            found = self._backwards[key] = Backward(self._graph, key)
        return found

    def forward_and_backward(self) -> list[DefinedFunction]:
        """The function that also returns what its gradient reads, and its gradient."""
        if self._pair:
            return self._pair
        backward = self.backward(_trainable(self._graph.outputs))
        more = [t for t in backward.reads if t not in self._graph.outputs]
        gradient = DefinedFunction(
            numbered(f"__inference_{backward.graph.name}"), backward.graph
        )
        forward = self._with_outputs([*self._graph.outputs, *more])
        forward.attrs["backward_function_name"] = _text(gradient.name)
        gradient.attrs["forward_function_name"] = _text(forward.name)
        self._pair = [forward, gradient]
        return self._pair

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
        return backward.nested(backward.calls.call(arguments))

    # ---- nodes of graphs

    def of_node(self, op: Operation, *grads: Tensor) -> list[Gradient]:
        """The gradients of the inputs of a node that calls the function.

        The node gets what the gradient function reads as further outputs.
        """
        outputs: list[Tensor] = op.__dict__.get("returned", self._graph.outputs)
        pairs = zip(outputs, grads, strict=True)
        given = [(t, g) for t, g in pairs if _is_trainable(t)]
        backward = self.backward([t for t, _ in given])
        known = dict(zip(self._graph.inputs, op.inputs, strict=True))
        known.update(zip(outputs, op.outputs, strict=False))
        more = [t for t in backward.reads if t not in known]
        known.update(zip(more, self._add_outputs(op, more), strict=True))
        arguments = [g for _, g in given] + [known[t] for t in backward.reads]
        name = numbered(f"__inference_{backward.graph.name}")
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
        return backward.nested(made if isinstance(made, list) else [])

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
            defined = self._with_outputs(known)
            defined.add_to_graph(graph)
            if graph.known is not None:
                graph.known.forget(op)
            op.spec = spec.replace(
                Tout=tuple(t.dtype.base_dtype for t in known), f=Function(defined.name)
            )
            for tensor in new:
                kind, shape = tensor.dtype.base_dtype, tensor.static_shape
                op.outputs.append(Tensor(op, len(op.outputs), kind, shape))
            record_more_outputs(op, op.outputs[-len(new) :])
            graph.record_mutation()
        return [op.outputs[known.index(t)] for t in more]

    def _with_outputs(self, outputs: Sequence[Tensor]) -> DefinedFunction:
        """The function that returns other tensors of the body."""
        forward = FuncGraph.__new__(FuncGraph)
        forward.__dict__.update(self._graph.__dict__)
        forward.outputs = list(outputs)
        name = numbered(f"__forward_{self._graph.name}")
        defined = DefinedFunction(name, forward)
        defined.python_gradient = self.of_node
        return defined


def _trainable(tensors: Sequence[Tensor]) -> list[Tensor]:
    return list(filter(_is_trainable, tensors))


def _is_trainable(tensor: Tensor) -> bool:
    dtype = tensor.dtype.base_dtype
    return dtype in TRAINABLE and dtype is not resource


def _text(value: str) -> Any:
    return pool.message("AttrValue")(s=value.encode())
