"""Reads of a variable by ops that run after a write to it.

TensorFlow's read of a reference variable returns the variable's own buffer, so an op
that a control dependency orders after an assignment sees the assigned value, although
the read that produced its input (`v/read`) may have run before:

    with tf.control_dependencies([v.assign(5)]):
        now = tf.identity(v)        # 5

Arrays here do not change once read; such an op gets a separate read at its position in
the order.
"""

from __future__ import annotations

from tfteach.engine.plan.step import Edge, Node, Step, writes


def read_late(step: Step) -> None:
    """Give ops that run after a write to a variable separate reads.

    Args:
      step: with its nodes in an order in which they can run.
    """
    written = {_variable(node) for node in step.nodes if _writes_reference(node)}
    if not written or not any(
        _reads(source) in written for node in step.nodes for source, _ in node.inputs
    ):
        return
    behind: dict[Node, frozenset[Node]] = {}  # node -> the variables written before it
    twins: dict[tuple[Node, frozenset[Node]], Node] = {}
    nodes: list[Node] = []
    for node in step.nodes:
        before = [source for source, _ in node.inputs] + node.control
        seen = frozenset[Node]().union(*(behind.get(b, ()) for b in before))
        if seen and any(_reads(source) in seen for source, _ in node.inputs):
            _redirect(node, seen, before, behind, twins, nodes)
        if _writes_reference(node):
            seen |= {_variable(node)}
        if seen:
            behind[node] = seen
        nodes.append(node)
    step.nodes = nodes


def _redirect(
    node: Node,
    seen: frozenset[Node],
    before: list[Node],
    behind: dict[Node, frozenset[Node]],
    twins: dict[tuple[Node, frozenset[Node]], Node],
    nodes: list[Node],
) -> None:
    """Make `node` read the variables at the moment it runs."""
    for i, (source, index) in enumerate(node.inputs):
        variable = _reads(source)
        if variable not in seen or variable in behind.get(source, ()):
            continue
        waits = [b for b in before if variable in behind.get(b, ())]
        twin = twins.get((source, frozenset(waits)))
        if twin is None:
            twin = Node(source.op, source.spec, list(source.inputs), source.name)
            twin.control = waits
            twins[source, frozenset(waits)] = twin
            nodes.append(twin)
        node.inputs[i] = Edge(twin, index)


def _writes_reference(node: Node) -> bool:
    return (
        writes(node)
        and node.op.inputs[0].dtype.is_ref
        and not node.inputs[0].node.is_feed
    )


def _reads(node: Node) -> Node | None:
    """The variable that the node reads, or None."""
    if node.is_feed or not node.forwards_input or not node.inputs:
        return None
    source, index = node.inputs[0]
    if source.is_feed or not source.op.outputs[index].dtype.is_ref:
        return None
    return _variable(node)


def _variable(node: Node) -> Node:
    """The variable whose reference the node receives, maybe through other writes."""
    while node.inputs and node.op.inputs[0].dtype.is_ref:
        source = node.inputs[0].node
        if source.is_feed:
            return source
        node = source
    return node
