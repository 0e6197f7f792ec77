"""Functions of graphs that are there, and graphs of functions.

Source: python/framework/graph_to_function_def.py, function_def_to_graph.py (API, names
and messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.functions.function_def import output_names
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.graph_def import node_def
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.shape import as_shape


def graph_to_function_def(
    graph: Graph,
    operations: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> Any:
    """The FunctionDef of some ops of a graph, with the names of the nodes.

    Args:
      graph: the graph.
      operations: the ops of the body; those of `inputs` are left out.
      inputs: the tensors that are arguments.
      outputs: the tensors that are results.
      out_names: the names of the results; by default those of the tensors.

    Raises:
      InvalidArgumentError: another number of names than of results.
      ValueError: two results have the same name; an op reads a tensor that is neither
        an argument nor computed by the ops.

    Example:
      >>> graph_to_function_def(graph, graph.get_operations(), [x], [y])  # FunctionDef
    """
    del graph  # that of the tensors
    made = pool.message("FunctionDef")()
    made.signature.name = "_"
    placed: dict[Operation, Any] = {}
    tensors: dict[Tensor, str] = {}
    for tensor in inputs:
        tensors[tensor] = _argument(tensor, made.signature.input_arg)
    taken = {tensor.op for tensor in inputs}
    body = [op for op in operations if op not in taken]
    for op in body:
        tensors.update((t, name) for t, name in output_names(op, op.name))
    for op in body:
        node = placed[op] = made.node_def.add()
        node.CopyFrom(node_def(op))
        missing = [tensor for tensor in op.inputs if tensor not in tensors]
        if missing:
            raise ValueError(
                f"{op.name!r} reads {missing[0].name!r}, which is neither an argument "
                "nor computed by the function's operations."
            )
        controls = [f"^{c.name}" for c in op.control_inputs]
        node.input[:] = [tensors[t] for t in op.inputs] + controls
    if out_names is not None:
        _check_names(out_names, len(outputs))
    for i, tensor in enumerate(outputs):
        name = out_names[i] if out_names else None
        key = _argument(tensor, made.signature.output_arg, name)
        made.ret[key] = tensors[tensor]
    return made


def _check_names(names: Sequence[str], count: int) -> None:
    if len(names) not in (0, count):
        raise invalid_argument(
            "output names must be either empty or equal in size to outputs. output "
            f"names size = {len(names)} outputs size = {count}"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"Must not have duplicates in out_names: {', '.join(names)}")


def _argument(tensor: Tensor, arguments: Any, name: str | None = None) -> str:
    """Add a tensor to the arguments or results of a signature; returns its name."""
    used = {argument.name for argument in arguments}
    if name is None:
        index = tensor.value_index
        base = name = f"{tensor.op.name}_o{index}" if index else tensor.op.name
        number = 0
        while name in used:
            number += 1
            name = f"{base}_{number}"
    arguments.add(name=name, type=tensor.dtype.as_datatype_enum)
    return name


def function_def_to_graph(
    fdef: Any, input_shapes: Sequence[Any] | None = None
) -> FuncGraph:
    """The body of a FunctionDef as a graph, with its `inputs` and `outputs`.

    Args:
      fdef: the FunctionDef.
      input_shapes: the static shapes of the arguments; unknown where None.

    Raises:
      ValueError: another number of shapes than of arguments.
    """
    count = len(fdef.signature.input_arg)
    if input_shapes is not None and len(input_shapes) != count:
        raise ValueError(
            f"Length of input_shapes must match the number of input_args. "
            f"len(input_shapes): {len(input_shapes)} len(input_arg): {count}"
        )
    name = fdef.signature.name
    shapes = None if input_shapes is None else [*map(as_shape, input_shapes)]
    defined = DefinedFunction(name, definition=fdef)
    return defined.rebuilt(get_default_graph(), Function(name), shapes)
