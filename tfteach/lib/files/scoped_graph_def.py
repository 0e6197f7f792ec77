"""GraphDefs of a part of a graph: one name scope, or all but the nodes of old Savers.

Source: python/framework/meta_graph.py (export_scoped_meta_graph).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.graph_def import MAX_GRAPH_BYTES, attr_value, node_def
from tfteach.framework.graphdef.meta_graph import is_exported, stripped
from tfteach.framework.protos import pool

# Precedes the name of an input that is not part of the export.
UNBOUND = "$unbound_inputs_"

_SAVE_AND_RESTORE = frozenset(
    "SaveV2 Save SaveSlices RestoreV2 Restore RestoreSlice".split()
)


def scoped_graph_def(
    graph: Graph,
    graph_def: Any,
    scope: str | None,
    excluded: Container[str],
    clear_devices: bool,
) -> tuple[Any, list[str]]:
    """The nodes of one scope as a GraphDef, with names relative to it.

    Args:
      graph: the graph.
      graph_def: its GraphDef, or None to use the graph itself.
      scope: the name scope; None for everything.
      excluded: the names of nodes to omit.
      clear_devices: omit the nodes' devices.

    Returns:
      The GraphDef, and the inputs of its nodes that are outside, each with `UNBOUND`
      before its name.

    Raises:
      ValueError: it would be larger than protobuf's 2 GB.
    """
    found = pool.message("GraphDef")()
    unbound: list[str] = []
    if graph_def is None:
        found.versions.CopyFrom(graph.graph_def_versions)
        nodes: Iterable[Any] = _nodes_with_shapes(graph, scope, excluded)
    else:
        found.versions.MergeFromString(graph_def.versions.SerializeToString())
        found.library.MergeFromString(graph_def.library.SerializeToString())
        nodes = [n for n in graph_def.node if is_exported(n.name, scope, excluded)]
    size = 0
    for node in nodes:
        copy = found.node.add()
        copy.MergeFromString(node.SerializeToString())
        size += copy.ByteSize()
        if size >= MAX_GRAPH_BYTES:
            raise ValueError("GraphDef cannot be larger than 2GB.")
        if scope:
            _strip_scope(copy, scope, unbound)
        if clear_devices:
            copy.device = ""
    return found, list(dict.fromkeys(unbound))


def _nodes_with_shapes(
    graph: Graph, scope: str | None, excluded: Container[str]
) -> Iterable[Any]:
    for op in graph.operations:
        if is_exported(op.name, scope, excluded):
            node = node_def(op)
            if op.outputs:
                shapes = attr_value("list.shape", [t._shape for t in op.outputs])
                node.attr["_output_shapes"].CopyFrom(shapes)
            yield node


def _strip_scope(node: Any, scope: str, unbound: list[str]) -> None:
    """Make a node's names relative to the scope."""
    node.name = stripped(node.name, scope)
    inputs = []
    for name in node.input:
        mark, plain = name[: name.startswith("^")], name.removeprefix("^")
        if plain.startswith(scope):
            inputs.append(stripped(name, scope))
        else:
            unbound.append(f"{mark}{UNBOUND}{plain}")
            inputs.append(unbound[-1])
    node.input[:] = inputs
    if "_class" in node.attr:
        groups = [group.decode() for group in node.attr["_class"].list.s]
        inside = [g for g in groups if g.partition("@")[2].startswith(scope)]
        node.attr["_class"].list.s[:] = [stripped(g, scope).encode() for g in inside]
    if "frame_name" in node.attr:
        frame = node.attr["frame_name"].s.decode()
        node.attr["frame_name"].s = stripped(frame, scope).encode()


def extraneous_saver_nodes(graph_def: Any, saver_def: Any) -> set[str]:
    """The names of the nodes of all Savers but one.

    A Saver's nodes are those in its name scope.

    Args:
      graph_def: a GraphDef.
      saver_def: the SaverDef of the Saver to keep, or None.
    """
    kept = {""}  # a Saver at the top has no scope that could be removed
    if saver_def is not None:
        names = saver_def.save_tensor_name, saver_def.restore_op_name
        kept |= {_scope_of(name) for name in names}
    scopes = {_scope_of(n.name) for n in graph_def.node if n.op in _SAVE_AND_RESTORE}
    prefixes = tuple(f"{scope}/" for scope in scopes - kept)
    return {n.name for n in graph_def.node if n.name.startswith(prefixes)}


def _scope_of(name: str) -> str:
    return name.rpartition("/")[0]
