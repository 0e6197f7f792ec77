"""Edges along which a reference to a variable flows instead of an array."""

from __future__ import annotations

from tfteach.engine.plan.step import Edge, Node


def carries_reference(edge: Edge) -> bool:
    """Whether a reference, not an array, flows along the edge."""
    node, index = edge
    return not node.is_feed and node.op.outputs[index].dtype.is_ref


def read_reference(edge: Edge) -> Edge:
    """The reference behind the read of a variable; any other edge unchanged.

    A fetched read has the variable's value at the end of the run: TensorFlow returns
    the variable's own buffer, and updates write into it.
    """
    node = edge.node
    while not node.is_feed and node.forwards_input and node.inputs:
        source = node.inputs[0]
        if source.node.device is not node.device:
            break
        if carries_reference(source):
            return source
        node = source.node
    return edge


def accepts_reference(node: Node, index: int) -> bool:
    """Whether the node accepts the reference itself as this input."""
    args = type(node.spec).inputs
    if index < len(args) and not any(arg.is_sequence for arg in args):
        return args[index].is_ref
    for arg, group in zip(args, node.op.grouped_inputs(), strict=True):
        size = len(group) if arg.is_sequence else 1
        if index < size:
            return arg.is_ref
        index -= size
    raise IndexError(index)
