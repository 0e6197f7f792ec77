"""Variables whose writes must be visible in values that were read before.

TensorFlow's read of a reference variable returns the variable's own buffer, and so do
Reshape, Enter, Switch and the like for their inputs; an assignment writes into that
buffer.  An op that runs after the assignment sees the assigned value, wherever its
input was read:

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return i + 1
    tf.while_loop(lambda i: v < 5, body, [0])       # v is read once, before the loop

Arrays here do not change once read, which is faster, and equivalent unless an op runs
after such a write.  Where one does, the step holds the variable in a `SharedBuffer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.plan.frames import Path, frames_of
from tfteach.engine.plan.references import carries_reference
from tfteach.engine.plan.step import Edge, Node, Step, writes
from tfteach.framework.errors import InvalidArgumentError
from tfteach.framework.op_traits import Flow
from tfteach.framework.variable_cell import SharedBuffer

_CROSSING = (Flow.ENTER, Flow.EXIT, Flow.NEXT_ITERATION)


def buffer_of(step: Step, node: Node, handle: Any) -> Any:
    """The node that represents a variable's cell in the step."""
    return SharedBuffer(handle) if node.op in step.shared else handle


def sharing_buffers(
    step: Step, node: Node, kernel: Callable[..., Any]
) -> Callable[..., Any]:
    """The kernel for a step with shared buffers; `kernel` itself if there are none.

    Its result shares memory with its input only where TensorFlow's does: an array with
    the same elements in the same order, under another shape or name.
    """
    if node.op in step.shared:
        return lambda *_: SharedBuffer(kernel())
    is_named = node.routes_values or node.forwards_input
    if not step.shared or is_named or node.spec.is_stateful:
        return kernel

    def call(*arrays: Any) -> Any:
        found = kernel(*arrays)
        if isinstance(found, tuple | list):
            return [_apart(value, arrays) for value in found]
        return _apart(found, arrays)

    return call


def _apart(value: Any, arrays: tuple[Any, ...]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    for array in arrays:
        if isinstance(array, np.ndarray) and np.may_share_memory(value, array):
            if value.size == array.size and value.flags.c_contiguous:
                return value
            return value.copy(order="C")
    return value


class _View(NamedTuple):
    """Path by which a value aliases a variable's buffer.

    Attributes:
      seen: bit mask of the writes that precede the read.
      is_carried: the value was read before the loop, or in another iteration.
    """

    seen: int
    is_carried: bool


_Views = dict[Node, _View]  # variable -> how a value shares its buffer


def share_buffers(step: Step) -> None:
    """Record in `step.shared` the variables that need a `SharedBuffer`.

    Args:
      step: with its nodes in an order in which they can run.
    """
    if not any(_writes_reference(node) for node in step.nodes):
        return
    try:
        paths = frames_of(step) if step.has_control_flow else {}
    except InvalidArgumentError:
        return  # a loop that cannot run, which is reported when the step is compiled
    _Analysis(step, paths).run()


class _Analysis:
    def __init__(self, step: Step, paths: dict[Node, Path]) -> None:
        self.step = step
        self.paths = paths
        self.inside: dict[Path, int] = {}  # loop -> the writes in it
        self.variables: dict[Node, frozenset[Node]] = {}  # reached through a reference
        self.writes: dict[Node, int] = {}  # variable -> its writes
        self.bits: dict[Node, int] = {}  # write -> its bit
        self.before: dict[Node, int] = {}  # node -> the writes that precede it
        self.ever: dict[Node, int] = {}  # the same, in any earlier iteration
        self.views: dict[Node, _Views] = {}
        self.stored: _Views = {}  # in stacks and TensorArrays

    def run(self) -> None:
        self.find_variables()
        self.before = self.writes_before(with_back_edges=False)
        self.ever = self.before
        if self.step.has_control_flow:
            self.ever = self.writes_before(with_back_edges=True)
        while True:
            changed = False
            for node in self.step.nodes:
                found = self.views_of(node)
                if found != self.views.get(node, {}):
                    self.views[node] = found
                    changed = True
            if not changed or not self.step.has_control_flow:
                break
        for node in self.step.nodes:
            self.check(node)
        for edge in self.step.fetches:
            if not _is_plain_read(edge):
                self.share(self.views.get(edge.node, {}), -1)

    def find_variables(self) -> None:
        changed = True
        while changed:
            changed = False
            for node in self.step.nodes:
                if not node.op.outputs or not node.op.outputs[0].dtype.is_ref:
                    continue
                sources = [e.node for e in node.inputs if carries_reference(e)]
                found = frozenset[Node]().union(
                    *(self.variables.get(s, ()) for s in sources)
                )
                if not sources:
                    found = frozenset((node,))
                if found != self.variables.get(node):
                    self.variables[node] = found
                    changed = self.step.has_control_flow
        for node in self.step.nodes:
            if _writes_reference(node):
                bit = self.bits[node] = 1 << len(self.bits)
                path = self.paths.get(node, ())
                for depth in range(len(path)):
                    loop = path[: depth + 1]
                    self.inside[loop] = self.inside.get(loop, 0) | bit
                for variable in self.referred(node.inputs):
                    self.writes[variable] = self.writes.get(variable, 0) | bit

    def referred(self, edges: Iterable[Edge]) -> set[Node]:
        """The variables that some references refer to."""
        found: set[Node] = set()
        for edge in edges:
            if carries_reference(edge):
                found |= self.variables.get(edge.node, frozenset())
        return found

    def writes_before(self, with_back_edges: bool) -> dict[Node, int]:
        found: dict[Node, int] = {}
        changed = True
        while changed:
            changed = False
            for node in self.step.nodes:
                behind = 0
                if node.flow is Flow.EXIT:
                    behind = self.inside.get(self.paths.get(node, ()), 0)
                for source in (*(e.node for e in node.inputs), *node.control):
                    is_back = (
                        node.flow is Flow.MERGE and source.flow is Flow.NEXT_ITERATION
                    )
                    if with_back_edges or not is_back:
                        behind |= found.get(source, 0) | self.bits.get(source, 0)
                if behind != found.get(node, 0):
                    found[node] = behind
                    changed = with_back_edges
        return found

    def views_of(self, node: Node) -> _Views:
        """The variables' buffers that the node's result may share."""
        is_flow = node.routes_values
        if node.op.outputs and node.op.outputs[0].dtype.is_ref:
            return {}
        if not (is_flow or node.forwards_input or node.spec.aliases):
            if node.spec.is_stateful:
                self.store(node)
            return {}
        if node.spec.is_stateful and not is_flow:
            self.store(node)
            return dict(self.stored)
        found: _Views = {}
        for edge in node.inputs:
            for variable, view in self.views_on(edge, node).items():
                _add(found, variable, view)
        if node.flow in _CROSSING:
            found = {variable: _View(0, True) for variable in found}
        return found

    def views_on(self, edge: Edge, node: Node) -> _Views:
        if carries_reference(edge):
            is_sent = node.op.device != edge.node.op.device  # before `node` may run
            seen = 0 if is_sent else self.before.get(node, 0)
            return {v: _View(seen, False) for v in self.referred([edge])}
        return self.views.get(edge.node, {})

    def store(self, node: Node) -> None:
        for edge in node.inputs:
            if not carries_reference(edge):
                for variable in self.views.get(edge.node, {}):
                    self.stored[variable] = _View(0, True)

    def check(self, node: Node) -> None:
        """Share the buffers whose later writes the node must see."""
        if node.routes_values or node.forwards_input:
            edges = [e for e in node.inputs if node.op.spec.flow is Flow.SWITCH][1:]
        else:
            edges = node.inputs
        for edge in edges:
            for variable, view in self.views_on(edge, node).items():
                behind = self.ever if view.is_carried else self.before
                self.share({variable: view}, behind.get(node, 0))

    def share(self, views: _Views, behind: int) -> None:
        for variable, view in views.items():
            if self.writes.get(variable, 0) & behind & ~view.seen:
                self.step.shared.add(variable.op)


def _add(views: _Views, variable: Node, view: _View) -> None:
    old = views.get(variable)
    if old is not None:
        view = _View(old.seen & view.seen, old.is_carried or view.is_carried)
    views[variable] = view


def _writes_reference(node: Node) -> bool:
    return (
        writes(node)
        and not node.routes_values
        and any(carries_reference(edge) for edge in node.inputs)
    )


def _is_plain_read(edge: Edge) -> bool:
    """Whether a fetch reads the variable itself, on its device, at the run's end."""
    node = edge.node
    while not node.is_feed and node.forwards_input and node.inputs:
        source = node.inputs[0].node
        if source.op.device != node.op.device:
            return False
        if carries_reference(node.inputs[0]):
            return True
        node = source
    return False
