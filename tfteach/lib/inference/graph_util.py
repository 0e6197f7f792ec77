"""Prepares GraphDefs for inference: extracts subgraphs, freezes variables.

Source: python/framework/graph_util_impl.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from tfteach.framework import protos
from tfteach.framework.dtypes import as_dtype, int32, string
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.graph_def import MAX_GRAPH_BYTES
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation
from tfteach.framework.protos.tensor_proto import make_tensor_proto
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Proto, SessionLike

_ABOUT_VARIABLES = frozenset(
    "Assign AssignAdd AssignSub Queue ScatterAdd ScatterSub ScatterUpdate "
    "TruncatedNormal Variable VariableV2".split()
)
_VARIABLES = frozenset(("Variable", "VariableV2", "VarHandleOp"))
# Ops that may lie between a resource variable and its read.
_HANDLE_PASSES = frozenset("Switch Enter Exit Identity Merge NextIteration".split())


def source_node(input_name: str) -> str:
    """The name of the node that an input refers to: `name`, `name:1` or `^name`."""
    if input_name.startswith("^"):
        return input_name[1:]
    return input_name.partition(":")[0]


@export("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: Proto, dest_nodes: list[str]) -> Proto:
    """A GraphDef of the nodes that `dest_nodes` depend on, in their original order.

    Args:
      graph_def: a GraphDef proto.
      dest_nodes: the names of nodes.

    Returns:
      A GraphDef with these nodes, their dependencies and the nodes they are colocated
      with.

    Raises:
      TypeError: `graph_def` is not a GraphDef, or `dest_nodes` is a string.
      AssertionError: a node does not exist.

    Example:
      >>> y = tf.square(tf.placeholder(tf.float32, name="x"), name="y")
      >>> part = tf.graph_util.extract_sub_graph(y.graph.as_graph_def(), ["y"])

    Source: python/framework/graph_util_impl.py.
    """
    if not isinstance(graph_def, protos.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    needed: dict[str, list[str]] = {}
    for node in graph_def.node:
        sources = [source_node(name) for name in node.input]
        if "_class" in node.attr:
            groups = [group.decode() for group in node.attr["_class"].list.s]
            sources += [g[5:] for g in groups if g.startswith("loc:@")]
        needed[source_node(node.name)] = sources
    for name in dest_nodes:
        assert name in needed, f"{name} is not in graph"
    wanted: set[str] = set()
    waiting = deque(dest_nodes)
    while waiting:
        name = waiting.popleft()
        if name not in wanted:
            wanted.add(name)
            waiting += needed[name]
    found = protos.GraphDef(library=graph_def.library, versions=graph_def.versions)
    found.node.extend(
        node for node in graph_def.node if source_node(node.name) in wanted
    )
    return found


@export("graph_util.must_run_on_cpu")
def must_run_on_cpu(
    node: Operation | Proto, pin_variables_on_cpu: bool = False
) -> bool:
    """Whether TensorFlow has no GPU kernel for a node.

    These are constants of strings or int32, DynamicStitch of int32, and Cast from
    int32.

    Args:
      node: an Operation or a NodeDef proto.
      pin_variables_on_cpu: whether variables, assignments and queues count, too.

    Source: python/framework/graph_util_impl.py.
    """
    if isinstance(node, Operation):
        node = node.node_def
    assert isinstance(node, protos.NodeDef)
    if pin_variables_on_cpu and node.op in _ABOUT_VARIABLES:
        return True
    if node.op == "Const":
        return node.attr["dtype"].type in (string.as_datatype_enum, _INT32)
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return bool(node.attr["T"].type == _INT32)
    return bool(node.op == "Cast" and node.attr["SrcT"].type == _INT32)


_INT32 = int32.as_datatype_enum


@export("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The static shape of a tensor given by its name as in a NodeDef's input.

    Args:
      graph: a Graph.
      input_name: "name", which means its first output, or "name:1".
    """
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).get_shape()


@export("graph_util.remove_training_nodes")
def remove_training_nodes(
    input_graph: Proto, protected_nodes: Iterable[str] | None = None
) -> Proto:
    """A GraphDef without nodes that inference does not need.

    CheckNumerics nodes are removed, with the inputs that name them; so are Identity
    nodes unless they have control edges.

    Args:
      input_graph: a GraphDef proto.
      protected_nodes: the names of nodes to keep.

    Returns:
      A GraphDef with the other nodes, whose inputs bypass the removed ones.

    Source: python/framework/graph_util_impl.py.
    """
    protected = set(protected_nodes or ())
    checks = {
        node.name
        for node in input_graph.node
        if node.op == "CheckNumerics" and node.name not in protected
    }
    kept = [node for node in input_graph.node if node.name not in checks]
    inputs = {
        node.name: [i for i in node.input if i.removeprefix("^") not in checks]
        for node in kept
    }
    controls = {i[1:] for names in inputs.values() for i in names if i[:1] == "^"}
    spliced = {
        node.name: inputs[node.name][0]
        for node in kept
        if node.op == "Identity"
        and node.name not in protected | controls
        and not any(i.startswith("^") for i in inputs[node.name])
    }

    def behind(name: str) -> str:
        while name.removeprefix("^") in spliced:
            name = spliced[name.removeprefix("^")]
        return name

    found = protos.GraphDef()
    for node in kept:
        if node.name not in spliced:
            copy = found.node.add()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(behind(name) for name in inputs[node.name])
            _leave_groups(copy, checks | spliced.keys())
    return found


def _leave_groups(node: Any, removed: set[str]) -> None:
    """Undo colocation with removed nodes, which TensorFlow leaves and cannot import."""
    groups = node.attr["_class"].list.s if "_class" in node.attr else []
    kept = [g for g in groups if g.removeprefix(b"loc:@").decode() not in removed]
    if len(kept) == len(groups):
        return
    if kept:
        node.attr["_class"].list.s[:] = kept
    else:
        del node.attr["_class"]


@export("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: SessionLike,
    input_graph_def: Proto,
    output_node_names: list[str],
    variable_names_whitelist: Container[str] | None = None,
    variable_names_blacklist: Container[str] | None = None,
) -> Proto:
    """Freeze a graph: the nodes that outputs depend on, with variables as constants.

    Args:
      sess: a session in which the variables have values.
      input_graph_def: the GraphDef of its graph.
      output_node_names: the names of the output nodes.
      variable_names_whitelist: the names of the variables to convert; None for all.
      variable_names_blacklist: the names of variables to leave unconverted.

    Returns:
      A GraphDef.

    Raises:
      ValueError: the variable of a read op is not found, or the variables have more
        than 2 GB.

    Example:
      >>> graph_def = tf.graph_util.convert_variables_to_constants(
      ...     session, session.graph.as_graph_def(), ["prediction"])

    Source: python/framework/graph_util_impl.py.
    """
    part = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {node.name: node for node in part.node}
    passing = _handle_passes(nodes)

    def is_wanted(name: str) -> bool:
        listed = variable_names_whitelist
        unlisted = variable_names_blacklist
        return (listed is None or name in listed) and (
            unlisted is None or name not in unlisted
        )

    reads = {
        node.name: node.name
        + ("/Read/ReadVariableOp:0" if node.op == "VarHandleOp" else ":0")
        for node in part.node
        if node.op in _VARIABLES and is_wanted(node.name)
    }
    values = dict(zip(reads, sess.run(list(reads.values())), strict=True))
    get_logger().info("Froze %d variables.", len(values))
    size = sum(np.asarray(value).nbytes for value in values.values())
    if size >= MAX_GRAPH_BYTES:
        raise ValueError(
            "GraphDef cannot be larger than 2GB, and the variables have "
            f"{size / 1e9:.1f} GB: write a SavedModel instead"
        )
    found = protos.GraphDef(library=part.library)
    for node in part.node:
        if node.name in values:
            add_constant(found, node.name, node.attr["dtype"], values[node.name])
        elif node.name in passing:
            copy = found.node.add(op=node.op, name=node.name, input=node.input)
            _copy_attributes(node, copy, {n: n for n in node.attr})
            copy.attr["T"].CopyFrom(passing[node.name])
            copy.attr.pop("_output_shapes", None)
        elif node.op == "ReadVariableOp":
            copy = found.node.add(op="Identity", name=node.name, input=node.input[:1])
            _copy_attributes(node, copy, {"dtype": "T", "_class": "_class"})
        elif node.op == "ResourceGather":
            _add_gather(found, node, nodes)
        else:
            found.node.add().CopyFrom(node)
    get_logger().info("Converted %d variables to const ops.", len(values))
    return found


def _handle_passes(nodes: dict[str, Any]) -> dict[str, Any]:
    """The nodes that pass a variable's handle to where it is read: the read's type."""
    passing: dict[str, Any] = {}
    for node in nodes.values():
        if node.op not in ("ReadVariableOp", "ResourceGather"):
            continue
        dtype = node.attr["dtype"]
        sources = [source_node(node.input[0])]
        while sources:
            source = nodes[sources.pop()]
            if source.op in _HANDLE_PASSES:
                if source.name not in passing:
                    passing[source.name] = dtype
                    count = 2 if source.op == "Merge" else 1
                    sources += [source_node(name) for name in source.input[:count]]
            elif source.op != "VarHandleOp":
                raise ValueError(
                    "Cannot find the variable that is an input to the ReadVariableOp."
                )
    return passing


def add_constant(graph_def: Any, name: str, dtype: Any, value: Any) -> None:
    """Add a Const node; `dtype` is the AttrValue of its type."""
    made = graph_def.node.add(op="Const", name=name)
    made.attr["dtype"].CopyFrom(dtype)
    kind = as_dtype(dtype.type)
    array = np.asarray(value, kind.numpy_dtype)
    made.attr["value"].tensor.CopyFrom(make_tensor_proto(array, kind))


def _copy_attributes(node: Any, copy: Any, names: dict[str, str]) -> None:
    for name, new_name in names.items():
        if name in node.attr:
            copy.attr[new_name].CopyFrom(node.attr[name])


def _add_gather(graph_def: Any, node: Any, nodes: dict[str, Any]) -> None:
    """Replace a look-up in a variable by one in a constant."""
    if node.attr["batch_dims"].i != 0:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    axis = node.name + "/axis"
    add_constant(graph_def, axis, node.attr["Tindices"], 0)
    if nodes[source_node(node.input[0])].op == "Enter":
        # In a loop's frame; TensorFlow omits this edge, and cannot run the result.
        graph_def.node[-1].input.append("^" + source_node(node.input[1]))
    copy = graph_def.node.add(
        op="GatherV2", name=node.name, input=[*node.input[:2], axis]
    )
    names = {"dtype": "Tparams", "Tindices": "Tindices", "_class": "_class"}
    _copy_attributes(node, copy, names)
    copy.attr["Taxis"].CopyFrom(node.attr["Tindices"])
