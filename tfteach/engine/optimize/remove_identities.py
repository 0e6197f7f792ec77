"""Bypass Identity nodes.

One that reads a variable is the read itself and stays; so does one that waits for
other nodes, because its consumers rely on those having run.
"""

from __future__ import annotations

from tfteach.engine.plan.step import Change, Edge, Step


def remove_identities(step: Step) -> None:
    """Bypass nodes that forward their input unchanged."""
    changed: dict[Edge, Edge] = {}
    for node in step.nodes:
        if not node.forwards_input or node.control:
            continue
        edge = changed.get(node.inputs[0], node.inputs[0])
        source, index = edge
        if not source.is_feed and source.op.outputs[index].dtype.is_ref:
            continue
        if source.device is not node.device:
            continue
        changed[Edge(node, 0)] = edge
        step.log.append(
            Change("remove_identities", node.name, f"hands on {source.name} unchanged")
        )
    step.replace_edges(changed)
