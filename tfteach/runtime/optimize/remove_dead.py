"""Drop nodes that nothing needs any more.

Control edges order effects and errors, so what is waited for runs, unless it could have
neither: a constant, or a node that only waits itself.
"""

from __future__ import annotations

from tfteach.runtime.step import Change, Node, Step


def remove_dead(step: Step) -> None:
    """Keep what fetches, targets and effects need, and what those wait for.

    A target that only groups others (tf.group) was asked for by name: what it groups
    runs, useful or not.
    """
    alive: set[Node] = set()
    seen: set[Node] = set()
    needed = [edge.node for edge in step.fetches]
    needed += [node for node in step.nodes if node.spec.is_stateful]
    needed += step.targets
    waited: list[Node] = []
    while needed or waited:
        if needed:
            node = needed.pop()
            if node in alive:
                continue
            alive.add(node)
            needed += [source for source, _ in node.inputs]
            waited += node.control
            continue
        node = waited.pop()
        if node in seen or node.is_feed or node.value is not None:
            continue
        seen.add(node)
        if node.inputs or node.op.outputs or node.spec.is_stateful:
            needed.append(node)
        else:
            waited += node.control
    for node in step.nodes:
        if node not in alive:
            step.log.append(Change("remove_dead", node.name, "nothing needs its value"))
    step.nodes = [node for node in step.nodes if node in alive]
