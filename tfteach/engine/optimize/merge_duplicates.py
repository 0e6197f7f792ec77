"""Common subexpression elimination: one node for equal computations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.engine.plan.step import Change, Edge, Node, Step

MAX_COMPARED_BYTES = 1 << 16  # larger constants are not worth hashing


def merge_duplicates(step: Step) -> None:
    """Redirect the consumers of equal stateless nodes to the first of them."""
    first: dict[Any, Node] = {}
    changed: dict[Edge, Edge] = {}
    for node in step.nodes:
        spec = node.spec
        if spec.is_stateful or any(t.dtype.is_ref for t in node.op.outputs):
            continue
        if not spec.is_foldable or _reads_a_variable(node):
            continue
        if node.values is not None:
            if any(_is_costly(value) for value in node.values):
                continue
            key: Any = tuple((v.dtype, v.shape, v.tobytes()) for v in node.values)
        else:
            node.inputs = [changed.get(edge, edge) for edge in node.inputs]
            key = (spec, tuple(node.inputs))
        # Consumers rely on the device of the value and on its control inputs.
        other = first.setdefault((key, node.device, frozenset(node.control)), node)
        if other is not node:
            for i in range(len(node.op.outputs)):
                changed[Edge(node, i)] = Edge(other, i)
            step.log.append(
                Change(
                    "merge_duplicates", node.name, f"computes the same as {other.name}"
                )
            )
    step.replace_edges(changed)


def _is_costly(value: np.ndarray[Any, Any]) -> bool:
    return value.nbytes > MAX_COMPARED_BYTES or value.dtype.hasobject


def _reads_a_variable(node: Node) -> bool:
    """Two reads of one variable may see different values."""
    return any(
        not source.is_feed and source.op.outputs[index].dtype.is_ref
        for source, index in node.inputs
    )
