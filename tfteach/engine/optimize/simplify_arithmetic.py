"""Bypass ops that cannot change their input: x * 1, x + 0, a reshape to the same shape.

TensorFlow's constant folding does so where shapes are known whatever is fed: it does
not trust the shape of a placeholder, so what depends on a feed stays.
"""

from __future__ import annotations

from tfteach.engine.optimize.fed_shapes import Inference
from tfteach.engine.plan.step import Change, Edge, Node, Step


def simplify_arithmetic(step: Step) -> None:
    """Redirect the consumers of such nodes to the nodes' inputs."""
    inference = Inference(step, [() for _ in step.feeds])
    fed: set[Node] = set(step.feeds.values())
    changed: dict[Edge, Edge] = {}
    for node in step.nodes:
        if any(source in fed for source, _ in node.inputs):
            fed.add(node)
            continue
        if node.values is not None or node.control or not node.inputs:
            continue
        index = inference.forwarded(node, lets_zeros_lose_their_sign=True)
        if index is None:
            continue
        source = changed.get(node.inputs[index], node.inputs[index])
        if any(tensor.dtype.is_ref for tensor in source.node.op.inputs):
            continue  # a fetched read shows later writes, this node's value does not
        changed[Edge(node, 0)] = source
        reason = f"hands on {source.node.name} unchanged"
        step.log.append(Change("fold_constants", node.name, reason))
    step.replace_edges(changed)
