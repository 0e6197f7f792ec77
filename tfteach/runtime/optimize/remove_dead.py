"""Drop nodes that nothing needs any more.

Control edges order effects.  The order of a step is settled when this pass runs, so a
node without an effect that is only waited for computes nothing anybody sees.
"""

from __future__ import annotations

from tfteach.runtime.step import Change, Node, Step


def remove_dead(step: Step) -> None:
    """Keep what fetches, targets and effects need.

    A target that only groups others (tf.group) was asked for by name: what it groups
    runs, useful or not.
    """
    alive: set[Node] = set()
    stack = [edge.node for edge in step.fetches]
    stack += [node for node in step.nodes if node.spec.is_stateful]
    stack += _grouped(step.targets)
    while stack:
        node = stack.pop()
        if node in alive:
            continue
        alive.add(node)
        stack += [source for source, _ in node.inputs]
    for node in step.nodes:
        if node not in alive:
            step.log.append(Change("remove_dead", node.name, "nothing needs its value"))
    step.nodes = [node for node in step.nodes if node in alive]


def _grouped(targets: list[Node]) -> list[Node]:
    """The targets, and all that a target without outputs waits for."""
    found: dict[Node, None] = {}
    stack = list(targets)
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            if not node.op.outputs:
                stack += node.control
    return list(found)
