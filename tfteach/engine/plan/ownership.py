"""Arrays of a step that may still be referenced after the run.

Fetched and fed arrays belong to the caller, who may modify them.  An array that a
variable, a table or a queue may also reference is copied on its way out or in.
"""

from __future__ import annotations

from tfteach.engine.plan.step import Edge, Step


def held_edges(step: Step) -> set[Edge]:
    """The edges whose arrays, or views of them, a stateful op receives."""
    held: set[Edge] = set()
    size = -1
    while len(held) != size:
        size = len(held)
        for node in reversed(step.nodes):
            forwards = node.spec.aliases or node in step.forwards
            if node.spec.is_stateful or (
                forwards
                and any(Edge(node, i) in held for i in range(len(node.op.outputs)))
            ):
                held.update(node.inputs)
        if not step.has_control_flow:  # only a back edge can add more
            break
    return held
