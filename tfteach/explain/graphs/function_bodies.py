"""The functions of a GraphDef's library, drawn as scopes of the ops that call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tfteach.explain.graphs.output_types import UNKNOWN, output_types, type_name
from tfteach.framework.dtypes import resource
from tfteach.framework.op import op_class

__all__ = ["with_function_bodies"]

Tensors = list[tuple[str, str]]  # names and types

MOST_NESTED = 40  # calls inside each other, of which each is a scope
MOST_OPS = 20_000  # once a graph has more, the calls that are left stay closed


def functions_scope(graph_def: Any) -> str:
    """The name of the scope for functions: one that no node of the graph has."""
    taken = {node.name.partition("/")[0] for node in graph_def.node}
    return _free("functions", taken)


def with_function_bodies(graph_def: Any, uncalled: bool = True) -> Any:
    """A GraphDef in which an op that calls a function is a scope with its ops.

    The arguments of the function are `_Arg` ops that read what the call reads, its
    results `_Retval` ops that the call reads: data flows through the scope. Handles of
    variables need no arguments: the ops inside read them from outside. In an op
    that calls several functions, such as the condition and the body of a loop, each has
    a scope. A function that no op calls is a scope below "functions". The graph is for
    drawing only: the ops of a function are there once for each call.

    Args:
      graph_def: a GraphDef.
      uncalled: whether to draw functions that no op calls.

    Returns:
      A GraphDef; the same one if it has no functions.

    Example:
      >>> from tfteach.framework.protos import GraphDef
      >>> graph_def = GraphDef()
      >>> graph_def.library.function.add().signature.name = "twice"
      >>> graph_def.library.function[0].signature.input_arg.add().name = "x"
      >>> call = graph_def.node.add(name="call", op="twice")
      >>> [node.name for node in with_function_bodies(graph_def).node]
      ['call', 'call/x']
    """
    if not graph_def.library.function:
        return graph_def
    found = type(graph_def)()
    found.CopyFrom(graph_def)
    drawing = _Drawing(found)
    drawing.open_calls(list(found.node))
    if uncalled:
        drawing.add_uncalled(functions_scope(graph_def))
    return found


def function_scopes(graph_def: Any) -> dict[str, str]:
    """Where `with_function_bodies` draws each function.

    Args:
      graph_def: a GraphDef.

    Returns:
      A dict from names of functions to the prefixes of their ops, such as
      "MapDataset/"; of a function that is called in several places, the first one.
    """
    found = type(graph_def)()
    found.CopyFrom(graph_def)
    drawing = _Drawing(found)
    drawing.open_calls(list(found.node))
    drawing.add_uncalled(functions_scope(graph_def))
    return drawing.scopes


class _Call(NamedTuple):
    """A function that an op names, and the attribute that names it."""

    attr: str
    function: str


class _Drawing:
    """A copy of a GraphDef, to which functions are added where they are called.

    Attributes:
      scopes: function -> the prefix of its ops where it is called first.
    """

    def __init__(self, graph_def: Any) -> None:
        self._graph_def = graph_def
        self._functions = {f.signature.name: f for f in graph_def.library.function}
        self._signatures = {name: f.signature for name, f in self._functions.items()}
        self._nodes: dict[str, Any] = {}
        self.scopes: dict[str, str] = {}

    def open_calls(self, nodes: list[Any], inside: tuple[str, ...] = ()) -> None:
        """Add the functions that some nodes call, and those that these call.

        Args:
          nodes: all nodes of the graph or of a function, with their names in the graph.
          inside: the functions that the nodes are in; they are not opened again.
        """
        self._nodes.update({node.name: node for node in nodes})
        scopes = {
            node.name[: slash.start()]
            for node in nodes
            for slash in re.finditer("/", node.name)
        }
        for node in nodes:
            calls = [each for each in self._calls(node) if each.function not in inside]
            if not calls or len(inside) >= MOST_NESTED:
                continue
            if len(self._graph_def.node) > MOST_OPS:
                return
            is_alone = len(calls) == 1 and node.name not in scopes
            data = [name for name in node.input if not name.startswith("^")]
            typed = [(name, self._type_of(name)) for name in data]
            read: set[str] = set()
            inputs: list[str] = []
            for call in calls:
                scope = node.name if is_alone else f"{node.name}/{call.attr}"
                prefix = f"{_free(scope, scopes)}/"
                body = self._add(call.function, prefix, typed, inside)
                read.update(body.given.values())
                inputs += body.results()
            # The functions read what the call read, and the call their results.
            inputs += [name for name in node.input if name not in read]
            node.input[:] = sorted(inputs, key=lambda name: name.startswith("^"))

    def add_uncalled(self, scope: str) -> None:
        """Add the functions that no op calls, as scopes of a scope."""
        waiting = [name for name in self._functions if name not in self.scopes]
        called = {
            call.function
            for name in waiting
            for node in self._functions[name].node_def
            for call in self._calls(node)
        }
        for name in sorted(waiting, key=lambda name: name in called):
            if name not in self.scopes:
                self._add(name, f"{scope}/{name}/", [], ())

    def _add(
        self, name: str, prefix: str, data: Tensors, inside: tuple[str, ...]
    ) -> _Body:
        """Add a function's ops, with the functions that it calls."""
        self.scopes.setdefault(name, prefix)
        body = _Body(self._functions[name], self._signatures, prefix, data)
        start = len(self._graph_def.node)
        self._graph_def.node.extend(body.nodes(self._graph_def))
        self.open_calls(list(self._graph_def.node[start:]), (*inside, name))
        return body

    def _calls(self, node: Any) -> list[_Call]:
        found = [_Call("function", node.op)]
        for attr in sorted(node.attr):
            value = node.attr[attr]
            if value.HasField("func"):
                found.append(_Call(attr, value.func.name))
            for number, function in enumerate(value.list.func):
                found.append(_Call(f"{attr}_{number}", function.name))
        return [call for call in found if call.function in self._functions]

    def _type_of(self, tensor: str) -> str:
        name, _, port = tensor.partition(":")
        if name not in self._nodes or not (port or "0").isdecimal():
            return UNKNOWN
        types = output_types(self._nodes[name], self._signatures, 0)
        return types[int(port or 0)] if int(port or 0) < len(types) else UNKNOWN


class _Body:
    """A function, with the names that its ops have in the graph.

    Attributes:
      given: argument -> the tensor of the call that it stands for. A call may have more
        before these, such as the predicate of a branch, or the dataset to whose
        elements a function is applied.
    """

    def __init__(
        self, function: Any, signatures: dict[str, Any], prefix: str, data: Tensors
    ) -> None:
        self._function, self._signatures, self._prefix = function, signatures, prefix
        self._ops = {node.name: node for node in function.node_def}
        taken = set(self._ops)
        self._arguments = {
            arg.name: _free(arg.name, taken) for arg in function.signature.input_arg
        }
        self._results = {
            arg.name: _free(arg.name, taken) for arg in function.signature.output_arg
        }
        self.given: dict[str, str] = {}
        arguments = function.signature.input_arg
        for (tensor, kind), arg in zip(data[::-1], arguments[::-1], strict=False):
            expected = type_name(arg.type)
            if UNKNOWN in (kind, expected) or kind.removesuffix("_ref") == expected:
                self.given[arg.name] = tensor
        # Handles, as of variables, are not drawn: the ops inside read them themselves.
        self._handles = {
            arg.name: self.given[arg.name]
            for arg in arguments
            if arg.type == resource.as_datatype_enum and arg.name in self.given
        }

    def nodes(self, graph_def: Any) -> Iterator[Any]:
        """The NodeDefs of the arguments, the ops and the results."""
        new = type(graph_def)().node.add
        prefix = self._prefix
        for arg in self._function.signature.input_arg:
            if arg.name in self._handles:
                continue
            node = new(name=prefix + self._arguments[arg.name], op="_Arg")
            node.attr["T"].type = arg.type
            if arg.name in self.given:
                node.input.append(self.given[arg.name])
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

    def results(self) -> list[str]:
        """The inputs of a call in a picture: the results, and what else always runs."""
        found = [self._prefix + name for name in self._results.values()]
        ran = self._needed(self._function.ret.values())
        for name in dict.fromkeys(self._function.control_ret.values()):
            if name in self._ops and name not in ran:
                found.append(f"^{self._prefix}{name}")
        return found

    def _needed(self, tensors: Iterable[str]) -> set[str]:
        """The ops of the body that some tensors need."""
        waiting = list(tensors)
        found: set[str] = set()
        while waiting:
            name = waiting.pop().removeprefix("^").partition(":")[0]
            if name in self._ops and name not in found:
                found.add(name)
                waiting += self._ops[name].input
        return found

    def _renamed(self, text: str) -> str:
        """An input "node:output:index", "argument" or "^node" as a graph has it."""
        if text.startswith("^"):
            name = text[1:]
            return f"^{self._prefix}{self._arguments.get(name, name)}"
        name, _, rest = text.partition(":")
        if name in self._arguments and name not in self._ops:
            if name in self._handles:
                return self._handles[name]
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
