"""Specializes a step for given shapes of its feeds.

Most programs are fed arrays of the same shapes again and again.  With these known,
most shapes in the step are known, and shape computations (often a third of a
gradient) are constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.engine.optimize.fed_shapes import Inference
from tfteach.engine.optimize.fold_constants import fold
from tfteach.engine.optimize.merge_duplicates import merge_duplicates
from tfteach.engine.optimize.remove_dead import remove_dead
from tfteach.engine.optimize.specialize_flow import FlowSpecializer
from tfteach.engine.plan.step import Change, Edge, Node, Step


def specialize(step: Step, feed_shapes: Sequence[tuple[int, ...]]) -> Step:
    """A smaller step, valid if the feeds have these shapes.

    Args:
      step: an optimized step; it is not modified.
      feed_shapes: one shape per feed, in the order of the feeds.

    Returns:
      A step of its own nodes.  With branches or loops it has as many nodes as before,
      for these say when others run; the compiler leaves out those that have `values`,
      are in `forwards`, or keep a history that is never read.
    """
    if step.has_control_flow:
        return FlowSpecializer(step.copy(), feed_shapes).run()
    return _Specializer(step.copy(), feed_shapes).run()


class _Specializer(Inference):
    def __init__(self, step: Step, feed_shapes: Sequence[tuple[int, ...]]) -> None:
        super().__init__(step, feed_shapes)
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
        """Fold the node, bypass it, or at least record its outputs' shapes."""
        if node.values is None:
            known = self.known_inputs(node)
            if known is not None:
                inputs, reason = known
                fold(node, inputs, self.step, reason)
        if node.values is not None:
            for i, value in enumerate(node.values):
                self.shapes[Edge(node, i)] = value.shape
            return
        for i, shape in enumerate(self.infer(node)):
            self.shapes[Edge(node, i)] = shape
        index = self.forwarded(node)
        if index is not None:
            source = self.changed[Edge(node, 0)] = node.inputs[index]
            reason = f"hands on {source.node.name} unchanged for these shapes"
            self.step.log.append(Change("specialize", node.name, reason))
