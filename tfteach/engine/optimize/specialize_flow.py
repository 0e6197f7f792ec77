"""Specializing a step with branches or loops.

A loop variable is assumed to have the shape it enters with, until the shape that an
iteration passes on contradicts it.  Nodes are not removed: they determine the loop and
the branch in which their consumers run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.engine.optimize.fed_shapes import Inference, merged
from tfteach.engine.optimize.fold_constants import folded
from tfteach.engine.optimize.stack_and_array_uses import Handles, Key
from tfteach.engine.plan.step import Change, Edge, Node, Step
from tfteach.framework import shape as shapes
from tfteach.framework.op_traits import Collection, Flow
from tfteach.framework.shape import Shape

# Rounds after which no further assumptions are made about loop variables.
MAX_ROUNDS = 10


class FlowSpecializer(Inference):
    """Iterates inference to a fixed point; modifies the step only then.

    Attributes:
      values: of nodes that return the same value whenever they run.
      known: shapes (or values) of edges whenever they are live.
      turns: Merge of a loop -> its shape in later iterations, where it differs.
      elements: shapes pushed on stacks or written to TensorArrays in this round.
    """

    def __init__(self, step: Step, feed_shapes: Sequence[tuple[int, ...]]) -> None:
        super().__init__(step, feed_shapes)
        self.handles = Handles(step)
        self.histories = self.handles.histories()
        self.values: dict[Node, tuple[Any, ...]] = {}
        self.reasons: dict[Node, str] = {}
        self.known: dict[Edge, Any] = {}
        self.iterations: dict[Node, Shape] = {}
        self.elements: dict[Key, list[tuple[Shape, Any]]] = {}
        self._folded: dict[Node, tuple[list[Any], tuple[Any, ...] | None]] = {}

    def run(self) -> Step:
        rounds = 0
        while True:
            self.shapes = dict(self.fed)
            self.values, self.known, self.elements = {}, {}, {}
            for node in self.step.nodes:
                self.visit(node)
            rounds += 1
            if not self.relax(gives_up=rounds == MAX_ROUNDS):
                break
        self.apply()
        return self.step

    def relax(self, gives_up: bool) -> bool:
        """Retract assumptions contradicted by iterations; True if there were any."""
        changed = False
        for node in self.step.nodes:
            iteration = _next_iteration(node)
            if iteration is None:
                continue
            supposed = self.shapes[Edge(node, 0)]
            static = node.op.outputs[0].static_shape
            holds = shapes.common(supposed, self.shape_of(iteration))
            if gives_up:
                self.iterations[node] = None
            elif merged(static, holds) == supposed:
                continue
            else:
                self.iterations[node] = holds
            changed = True
        return changed

    def apply(self) -> None:
        """Write the results into the step."""
        step = self.step
        for node in step.nodes:
            values = self.values.get(node)
            if values is not None:
                node.values = values
                if node.inputs:
                    reason = self.reasons[node]
                    step.log.append(Change("fold_constants", node.name, reason))
            elif node.values is None and not node.routes_values:
                index = self.forwarded(node)
                if index is not None:
                    step.forwards[node] = index
                    source = node.inputs[index].node.name
                    reason = f"hands on {source} unchanged for these shapes"
                    step.log.append(Change("specialize", node.name, reason))
        step.shapes = self.shapes
        step.histories = self.histories

    # ---- one node

    def value_of(self, edge: Edge) -> Any:
        found = edge.constant
        return self.known.get(edge) if found is None else found

    def visit(self, node: Node) -> None:
        role = node.op.spec.collection_role
        if node.values is not None:
            self.record_values(node, node.values)
        elif node.flow is Flow.MERGE:
            self.visit_merge(node)
        elif node.routes_values:
            self.forward(node, node.inputs[0])
        elif role is not None and role.writes:
            self.visit_write(node)
        elif role is not None and role.reads:
            self.visit_read(node)
        else:
            values = self.size(node) or self.fold(node)
            if values is not None:
                self.values[node] = values
                self.record_values(node, values)
            else:
                self.record_shapes(node, self.infer(node))

    def record_values(self, node: Node, values: Sequence[Any]) -> None:
        for i, value in enumerate(values):
            self.known[Edge(node, i)] = value
            self.shapes[Edge(node, i)] = value.shape

    def record_shapes(self, node: Node, found: Sequence[Shape]) -> None:
        for i, shape in enumerate(found):
            self.shapes[Edge(node, i)] = shape

    def fold(self, node: Node) -> tuple[Any, ...] | None:
        """The values of the node, recomputed only if its inputs change in a round."""
        known = self.known_inputs(node)
        if known is None:
            return None
        inputs, self.reasons[node] = known
        before = self._folded.get(node)
        is_new = before is None or any(
            a.shape != b.shape if node.spec.reads_only_shapes else a is not b
            for a, b in zip(before[0], inputs, strict=True)
        )
        if is_new:
            before = self._folded[node] = inputs, folded(node, inputs)
        assert before is not None
        return before[1]

    def forward(self, node: Node, edge: Edge) -> None:
        value = self.value_of(edge)
        for i, tensor in enumerate(node.op.outputs):
            shape = merged(tensor.static_shape, self.shape_of(edge))
            self.shapes[Edge(node, i)] = shape
            if value is not None:
                self.known[Edge(node, i)] = value

    def visit_merge(self, node: Node) -> None:
        static = node.op.outputs[0].static_shape
        self.shapes[Edge(node, 1)] = ()
        entering = [e for e in node.inputs if e.node.flow is not Flow.NEXT_ITERATION]
        if len(entering) == len(node.inputs):
            found = shape_of_any([self.shape_of(edge) for edge in entering])
            value = _same([self.value_of(edge) for edge in entering])
            if value is not None:
                self.known[Edge(node, 0)] = value
        elif _next_iteration(node) is None:
            found = None
        else:
            found = self.shape_of(entering[0])
            if node in self.iterations:
                found = shapes.common(found, self.iterations[node])
        self.shapes[Edge(node, 0)] = merged(static, found)

    # ---- stacks and TensorArrays

    def visit_write(self, node: Node) -> None:
        spec = node.op.spec
        edge = node.inputs[spec.stored_input]
        shape = self.shape_of(edge)
        static = node.op.outputs[0].static_shape
        is_push = spec.collection_role is Collection.PUSH
        self.record_shapes(node, [merged(static, shape) if is_push else static])
        key = self.handles.key_of.get(node)
        if key is None:
            return
        shape = spec.stored_shape(shape)
        value = self.value_of(edge) if is_push else None
        self.elements.setdefault(key, []).append((shape, value))

    def visit_read(self, node: Node) -> None:
        static = node.op.outputs[0].static_shape
        key = self.handles.key_of.get(node)
        element = None if key is None else self.element(key)
        sizes = [self.shape_of(edge) for edge in node.inputs]
        found: Shape = node.op.spec.read_shape(element, sizes)
        self.record_shapes(node, [merged(static, found)])
        if node in self.histories and key in self.elements:
            value = _same([value for _, value in self.elements[key]])
            if value is not None:
                self.values[node] = (value,)
                self.reasons[node] = "every iteration pushes the same on its stack"
                self.record_values(node, (value,))

    def size(self, node: Node) -> tuple[Any, ...] | None:
        """The length of a TensorArray that cannot grow."""
        is_size = node.op.spec.collection_role is Collection.SIZE
        if not is_size or node not in self.handles.key_of:
            return None
        maker, _ = self.handles.key_of[node]
        made: Any = maker.spec
        size = self.value_of(maker.inputs[0])
        if made.dynamic_size or maker in self.handles.closed or size is None:
            return None
        self.reasons[node] = f"the size of {maker.name} is known"
        return (size,)

    def element(self, key: Key) -> Shape:
        """The shape of whatever is read from a stack or TensorArray."""
        maker, source = key
        static: Shape = getattr(maker.spec, "element_shape", None)
        # An element of a gradient that was never written is zeros like the original.
        keys = [key, (maker, "")] if source else [key]
        written = [pair for k in keys for pair in self.elements.get(k, ())]
        writers = [node for k in keys for node in self.handles.writers.get(k, ())]
        if not written or len(written) < len(writers):  # more may be written later
            return static
        return merged(static, shape_of_any([shape for shape, _ in written]))


def shape_of_any(found: Sequence[Shape]) -> Shape:
    """The most specific shape compatible with all of these."""
    result = found[0]
    for shape in found[1:]:
        result = shapes.common(result, shape)
    return result


def _next_iteration(node: Node) -> Edge | None:
    """The input of a loop's Merge in later iterations; None for any other node."""
    if node.flow is not Flow.MERGE or len(node.inputs) != 2:
        return None
    iterations = [e for e in node.inputs if e.node.flow is Flow.NEXT_ITERATION]
    return iterations[0].node.inputs[0] if len(iterations) == 1 else None


def _same(values: Sequence[Any]) -> Any:
    """The value that all of them are, or None."""
    first = values[0]
    if first is None or first.dtype.hasobject:
        return None
    for other in values[1:]:
        if other is first:
            continue
        if other is None or other.dtype != first.dtype or other.shape != first.shape:
            return None
        if other.tobytes() != first.tobytes():
            return None
    return first
