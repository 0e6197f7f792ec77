"""Removes the nodes of a GraphDef that inference does not need.

Source: python/tools/strip_unused_lib.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import protos
from tfteach.framework.type_aliases import Proto
from tfteach.lib.inference.graph_util import extract_sub_graph


def strip_unused(
    input_graph_def: Proto,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | Sequence[int],
) -> Any:
    """The nodes between inputs and outputs, with placeholders for the inputs.

    Args:
      input_graph_def: a GraphDef proto.
      input_node_names: the names of the fed nodes.
      output_node_names: the names of the nodes that are fetched.
      placeholder_type_enum: the inputs' type as an enum, such as
        `tf.float32.as_datatype_enum`; or a list with a type for each.

    Returns:
      A GraphDef.

    Raises:
      ValueError: an input is the name of a tensor.
      KeyError: an input is not in the graph.
      AssertionError: an output is not in the graph.

    Source: python/tools/strip_unused_lib.py.
    """
    inputs = list(input_node_names)
    for name in inputs:
        if ":" in name:
            raise ValueError(
                f"Name '{name}' appears to refer to a Tensor, not a Operation."
            )
    graph_def: Any = input_graph_def
    missing = set(inputs) - {node.name for node in graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {sorted(missing)}")
    found = protos.GraphDef()
    for node in graph_def.node:
        if node.name not in inputs:
            found.node.add().CopyFrom(node)
            continue
        made = found.node.add(op="Placeholder", name=node.name)
        made.attr["dtype"].type = (
            placeholder_type_enum
            if isinstance(placeholder_type_enum, int)
            else placeholder_type_enum[inputs.index(node.name)]
        )
        for name in ("_output_shapes", "shape"):
            if name in node.attr:
                made.attr[name].CopyFrom(node.attr[name])
    return extract_sub_graph(found, list(output_node_names))
