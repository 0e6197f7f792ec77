"""A step for feeds of certain shapes.

Programs are usually fed arrays of the same shapes again and again.  With these known,
most shapes in the step are, and what only computes with shapes (and often a third of a
gradient does) has the same values in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.shape import Shape
from tfteach.runtime.optimize.fold_constants import fold
from tfteach.runtime.optimize.merge_duplicates import merge_duplicates
from tfteach.runtime.optimize.remove_dead import remove_dead
from tfteach.runtime.step import Change, Edge, Node, Step


def specialize(step: Step, feed_shapes: Sequence[tuple[int, ...]]) -> Step:
    """A smaller step that is right whenever the feeds have these shapes.

    Args:
      step: an optimized step; it stays as it is.
      feed_shapes: one shape per feed, in the order of the feeds.

    Returns:
      A step of its own nodes.
    """
    return _Specializer(step.copy(), feed_shapes).run()


class _Specializer:
    def __init__(self, step: Step, feed_shapes: Sequence[tuple[int, ...]]) -> None:
        self.step = step
        self.shapes: dict[Edge, Shape] = {
            Edge(node, 0): tuple(shape)
            for node, shape in zip(step.feeds.values(), feed_shapes, strict=True)
        }
        self.changed: dict[Edge, Edge] = {}

    def run(self) -> Step:
        step = self.step
        for node in step.nodes:
            node.inputs = [self.changed.get(edge, edge) for edge in node.inputs]
            self.visit(node)
        step.shapes = self.shapes
        step.replace_edges(self.changed)
        merge_duplicates(step)
        remove_dead(step)
        return step

    def visit(self, node: Node) -> None:
        """Fold the node, bypass it, or at least note the shapes of its outputs."""
        if node.values is None:
            values = [edge.constant for edge in node.inputs]
            if not any(value is None for value in values):
                fold(node, values, self.step, "all its inputs are constant")
            elif node.spec.takes_only_shapes:
                self.fold_shape(node)
        if node.values is not None:
            for i, value in enumerate(node.values):
                self.shapes[Edge(node, i)] = value.shape
            return
        for i, shape in enumerate(self.infer(node)):
            self.shapes[Edge(node, i)] = shape
        source = self.forwarded(node)
        if source is not None:
            self.changed[Edge(node, 0)] = source
            reason = f"hands on {source.node.name} unchanged for these shapes"
            self.step.log.append(Change("specialize", node.name, reason))

    def fold_shape(self, node: Node) -> None:
        """Fold an op that looks only at its input's shape (Shape, Size, Rank)."""
        stand_ins = []
        for edge in node.inputs:
            shape = self.shapes.get(edge)
            if shape is None or not shapes.is_full(shape):
                return
            stand_ins.append(np.broadcast_to(np.int8(0), shape))  # type: ignore[arg-type]
        fold(node, stand_ins, self.step, "the shape is known")

    def infer(self, node: Node) -> list[Shape]:
        """The static shapes of the outputs, given those of the inputs."""
        known = [tensor.static_shape for tensor in node.op.outputs]
        if node.spec.is_stateful or all(shapes.is_full(shape) for shape in known):
            return known
        try:
            found = node.spec.infer_shape(*self.arguments(node))
        except Exception:  # the run will say what does not fit
            return known
        if len(known) == 1 and not type(node.spec).outputs[0].is_sequence:
            found = [found]
        if found is None or len(found) != len(known):
            return known
        try:
            return [shapes.merge(a, b) for a, b in zip(known, found, strict=True)]
        except ValueError:
            return known

    def arguments(self, node: Node) -> list[Any]:
        """What `infer_shape` takes: shapes, or values where the op wants them."""
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
        value = edge.constant
        if name in spec.by_value and (value is not None or name not in spec.by_shape):
            return value
        if name in spec.by_shape:
            if value is not None:
                return shapes.sizes_of(np.ravel(value).tolist())
            length = self.shape_of(edge)
            return None if not length or length[0] is None else (None,) * length[0]
        return self.shape_of(edge)

    def shape_of(self, edge: Edge) -> Shape:
        found = self.shapes.get(edge)
        if found is None and not edge.node.is_feed:
            return edge.node.op.outputs[edge.index].static_shape
        return found

    def forwarded(self, node: Node) -> Edge | None:
        """The input that the output equals, if the shapes make the op do nothing."""
        if len(node.op.outputs) != 1 or node.spec.is_stateful:
            return None
        index = node.spec.forwards(
            [self.shape_of(edge) for edge in node.inputs],
            self.shapes[Edge(node, 0)],
            [edge.constant for edge in node.inputs],
        )
        if index is None or node.inputs[index].node.device is not node.device:
            return None
        return node.inputs[index]
