"""`Graph.create_op`: a node by op type name, as used by generated code.

Source: python/framework/ops.py (Graph.create_op), core/framework/node_def_builder.cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.build import create
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.import_node import NodeReader, UnknownOpError
from tfteach.framework.op import Op, find_op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.scope import is_valid_name


def create_op(
    graph: Graph,
    op_type: str,
    inputs: Iterable[Tensor],
    name: str | None,
    attrs: dict[str, Any] | None,
) -> Operation:
    """See `Graph.create_op`."""
    graph._check_not_finalized()
    tensors = list(inputs)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"Input #{i} is not a tensor: {tensor}")
        if tensor.graph is not graph and not graph.building_function:
            raise ValueError(f"{tensor!r} is not from this graph.")
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string, got {op_type!r}")
    name = op_type if name is None else name
    full_name = name[:-1] if name.endswith("/") else graph.unique_name(name)
    if not is_valid_name(full_name, False):
        raise ValueError(f"'{full_name}' is not a valid node name")
    if graph.find_operation(full_name) is not None:
        raise ValueError(f"Duplicate node name in graph: '{full_name}'")
    node = pool.message("NodeDef")(name=full_name, op=op_type)
    for key, value in (attrs or {}).items():
        if not hasattr(value, "WhichOneof"):
            raise TypeError(
                f"Attribute '{key}' must be an AttrValue proto, got {value!r}"
            )
        node.attr[key].MergeFromString(value.SerializeToString())
    tensors = list(graph.captured(tuple(tensors)))
    function = graph.functions.get(op_type)
    cls = find_op(op_type) if function is None else function.call_class()
    if cls is None:
        raise UnknownOpError(
            None,
            None,
            f"Op type not registered '{op_type}' in tfteach: No op named {op_type} in "
            f"defined operations. Node '{full_name}' needs it.",
        )
    node.input.extend(tensor.name for tensor in tensors)
    _add_attrs_of_inputs(cls, node, tensors)
    reader = NodeReader("", functions=graph.functions)
    read = reader.read(node)
    reader.check_inputs(read, tensors, full_name)
    made = create(graph, read.spec, tuple(tensors), full_name)
    if read.extra:
        made.extra_attrs = {**(made.extra_attrs or {}), **read.extra}
    return made


def _add_attrs_of_inputs(cls: type[Op], node: Any, tensors: list[Tensor]) -> None:
    """Set the type and number attributes that the inputs determine."""
    lists = [arg for arg in cls.inputs if arg.is_sequence]
    spare = len(tensors) - len(cls.inputs) + len(lists)
    position = 0
    for arg in cls.inputs:
        size = max(0, spare // len(lists)) if arg.is_sequence else 1
        group = tensors[position : position + size]
        position += size
        types = [t.dtype.base_dtype.as_datatype_enum for t in group]
        if arg.number_attr and arg.number_attr not in node.attr:
            node.attr[arg.number_attr].i = size
        if not arg.type_attr or arg.type_attr in node.attr:
            continue
        if arg.is_list:
            node.attr[arg.type_attr].list.type.extend(types)
        elif types:
            node.attr[arg.type_attr].type = types[0]
