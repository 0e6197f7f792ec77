"""Remove nodes whose results are not used.

Control edges order effects.  A node without an effect that has only control outputs
computes an unobservable value: it is removed, and its consumers inherit its inputs and
control inputs (TensorFlow's dependency optimizer turns such a node into a NoOp).
"""

from __future__ import annotations

from tfteach.engine.plan.step import Change, Node, Step


def remove_dead(step: Step) -> None:
    """Remove nodes that no fetch, target or side effect needs.

    A target that only groups others (tf.group) was requested explicitly: its inputs
    run in any case.
    """
    alive: set[Node] = set()
    seen: set[Node] = set()
    needed = [edge.node for edge in step.fetches]
    needed += [node for node in step.nodes if node.spec.is_stateful]
    needed += grouped(step.targets)
    waited: list[Node] = []
    while needed or waited:
        if needed:
            node = needed.pop()
            if node not in alive:
                alive.add(node)
                needed += [source for source, _ in node.inputs]
                waited += node.control
            continue
        node = waited.pop()
        if node in seen or node.is_feed or node.values is not None:
            continue
        seen.add(node)
        if node.spec.is_foldable or not node.op.outputs:
            waited += [*node.control, *(source for source, _ in node.inputs)]
        else:  # a placeholder that was not fed: reaching it is an error
            needed.append(node)
    for node in step.nodes:
        if node not in alive:
            step.log.append(Change("remove_dead", node.name, "nothing needs its value"))
    step.nodes = [node for node in step.nodes if node in alive]


def grouped(targets: list[Node]) -> list[Node]:
    """The targets, and the control inputs of targets without outputs."""
    found: dict[Node, None] = {}
    stack = list(targets)
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            if not node.op.outputs:
                stack += node.control
    return list(found)
