"""The functions of a GraphDef's library as scopes of the graph, to be drawn with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfteach.framework.op import op_class

__all__ = ["with_function_bodies"]


def functions_scope(graph_def: Any) -> str:
    """The name of the scope for functions: one that no node of the graph has."""
    taken = {node.name.partition("/")[0] for node in graph_def.node}
    name, number = "functions", 0
    while name in taken:
        number += 1
        name = f"functions_{number}"
    return name


def with_function_bodies(graph_def: Any) -> Any:
    """A GraphDef in which each function of the library is a scope with its ops.

    The inputs of a function are `_Arg` ops, its results `_Retval` ops. The graph is for
    drawing only: nothing calls these ops.

    Args:
      graph_def: a GraphDef.

    Returns:
      A GraphDef; the same one if it has no functions.

    Example:
      >>> from tfteach.framework.protos import GraphDef
      >>> graph_def = GraphDef()
      >>> graph_def.library.function.add().signature.name = "twice"
      >>> graph_def.library.function[0].signature.input_arg.add().name = "x"
      >>> [node.name for node in with_function_bodies(graph_def).node]
      ['functions/twice/x']
    """
    if not graph_def.library.function:
        return graph_def
    found = type(graph_def)()
    found.CopyFrom(graph_def)
    scope = functions_scope(graph_def)
    signatures = {f.signature.name: f.signature for f in graph_def.library.function}
    for function in graph_def.library.function:
        prefix = f"{scope}/{function.signature.name}/"
        body = _Body(function, signatures, prefix)
        found.node.extend(body.nodes(found))
    return found


class _Body:
    """A function, with the names that its ops have in the graph."""

    def __init__(self, function: Any, signatures: dict[str, Any], prefix: str) -> None:
        self._function, self._signatures, self._prefix = function, signatures, prefix
        self._ops = {node.name: node for node in function.node_def}
        taken = set(self._ops)
        self._arguments = {
            arg.name: _free(arg.name, taken) for arg in function.signature.input_arg
        }
        self._results = {
            arg.name: _free(arg.name, taken) for arg in function.signature.output_arg
        }

    def nodes(self, graph_def: Any) -> Iterator[Any]:
        """The NodeDefs of the arguments, the ops and the results."""
        new = type(graph_def)().node.add
        prefix = self._prefix
        for arg in self._function.signature.input_arg:
            node = new(name=prefix + self._arguments[arg.name], op="_Arg")
            node.attr["T"].type = arg.type
            yield node
        for op in self._function.node_def:
            node = new()
            node.CopyFrom(op)
            node.name = prefix + op.name
            node.input[:] = [self._renamed(name) for name in op.input]
            yield node
        for arg in self._function.signature.output_arg:
            node = new(name=prefix + self._results[arg.name], op="_Retval")
            node.attr["T"].type = arg.type
            read = self._function.ret.get(arg.name, "")
            if read:
                node.input.append(self._renamed(read))
            yield node

    def _renamed(self, text: str) -> str:
        """An input "node:output:index", "argument" or "^node" as a graph has it."""
        if text.startswith("^"):
            name = text[1:]
            return f"^{self._prefix}{self._arguments.get(name, name)}"
        name, _, rest = text.partition(":")
        if name in self._arguments and name not in self._ops:
            return self._prefix + self._arguments[name]
        output, _, index = rest.rpartition(":")
        port = int(index) if index.isdecimal() else 0
        if output and name in self._ops:
            port += self._first_port(self._ops[name], output)
        return f"{self._prefix}{name}" + (f":{port}" if port else "")

    def _first_port(self, node: Any, output: str) -> int:
        """The index of the first tensor of a named output."""
        signature = self._signatures.get(node.op)
        if signature is not None:
            names = [arg.name for arg in signature.output_arg]
            return names.index(output) if output in names else 0
        port = 0
        for arg in op_class(node.op).outputs:
            if arg.name == output:
                return port
            if arg.number_attr:
                port += node.attr[arg.number_attr].i
            elif arg.is_list:
                port += len(node.attr[arg.type_attr].list.type)
            else:
                port += 1
        return 0  # of an op type that is not known, the first


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found
