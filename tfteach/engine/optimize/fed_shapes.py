"""Shape inference over a step, given the shapes of its feeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.engine.plan.step import Edge, Node, Step
from tfteach.framework import shape as shapes
from tfteach.framework.shape import Shape


class Inference:
    """Shapes by edge; a subclass says in which order nodes are visited."""

    def __init__(self, step: Step, feed_shapes: Sequence[tuple[int, ...]]) -> None:
        self.step = step
        self.fed: dict[Edge, Shape] = {
            Edge(node, 0): tuple(shape)
            for node, shape in zip(step.feeds.values(), feed_shapes, strict=True)
        }
        self.shapes: dict[Edge, Shape] = dict(self.fed)

    def value_of(self, edge: Edge) -> Any:
        """The value that flows here in every run, or None if runs decide."""
        return edge.constant

    def shape_of(self, edge: Edge) -> Shape:
        found = self.shapes.get(edge)
        if found is None and not edge.node.is_feed:
            return edge.node.op.outputs[edge.index].static_shape
        return found

    def known_inputs(self, node: Node) -> tuple[list[Any], str] | None:
        """Inputs of the kernel known before the run, with reasons; None if unknown."""
        values = [self.value_of(edge) for edge in node.inputs]
        if not any(value is None for value in values):
            return values, "all its inputs are constant"
        if not node.spec.reads_only_shapes:
            return None
        stand_ins = []
        for edge, tensor in zip(node.inputs, node.op.inputs, strict=True):
            shape = self.shapes.get(edge)
            if shape is None or not shapes.is_full(shape):
                return None
            if not tensor.dtype.is_numpy_compatible:
                return None
            zero = np.zeros((), tensor.dtype.numpy_dtype)
            stand_ins.append(np.broadcast_to(zero, shape))
        return stand_ins, "the shape is known"

    def infer(self, node: Node) -> list[Shape]:
        """The static shapes of the outputs, given those of the inputs."""
        known = [tensor.static_shape for tensor in node.op.outputs]
        spec = node.spec
        if all(shapes.is_full(shape) for shape in known) or spec.by_handle:
            return known
        if spec.is_stateful and any(
            tensor.dtype.is_ref or tensor.dtype.name == "resource"
            for tensor in node.op.inputs
        ):
            return known
        try:
            found = spec.infer_shape(*self.arguments(node))
        except Exception:  # the run will say what does not fit
            return known
        if len(known) == 1 and not type(spec).outputs[0].is_sequence:
            found = [found]
        if found is None or len(found) != len(known):
            return known
        return [merged(a, b) for a, b in zip(known, found, strict=True)]

    def arguments(self, node: Node) -> list[Any]:
        """Arguments of `infer_shape`: shapes, or values where the op reads them."""
        spec = node.spec
        edges = iter(node.inputs)
        arguments: list[Any] = []
        for arg, group in zip(type(spec).inputs, node.op.grouped_inputs(), strict=True):
            if arg.is_sequence:
                arguments.append(
                    [self.view(spec, arg.name, next(edges)) for _ in group]
                )
            else:
                arguments.append(self.view(spec, arg.name, next(edges)))
        return arguments

    def view(self, spec: Any, name: str, edge: Edge) -> Any:
        value = self.value_of(edge)
        if name in spec.by_value and (value is not None or name not in spec.by_shape):
            return value
        if name in spec.by_shape:
            if value is not None:
                return shapes.sizes_of(np.ravel(value).tolist())
            length = self.shape_of(edge)
            return None if not length or length[0] is None else (None,) * length[0]
        return self.shape_of(edge)

    def forwarded(
        self, node: Node, lets_zeros_lose_their_sign: bool = False
    ) -> int | None:
        """Index of the input that the output equals, given these shapes, or None."""
        if len(node.op.outputs) != 1 or node.spec.is_stateful:
            return None
        rule = node.spec.forwards
        if lets_zeros_lose_their_sign:
            rule = node.spec.forwards_but_signed_zeros
        index = rule(
            [self.shape_of(edge) for edge in node.inputs],
            self.shape_of(Edge(node, 0)),
            [self.value_of(edge) for edge in node.inputs],
        )
        if index is None or node.inputs[index].node.device is not node.device:
            return None
        return index


def merged(known: Shape, found: Shape) -> Shape:
    """The merged shape; the first if they are incompatible."""
    try:
        return shapes.merge(known, found)
    except ValueError:
        return known
