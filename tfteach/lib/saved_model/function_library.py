"""The functions of a SavedModel: traces that are built from FunctionDefs.

They get new names: a program may load a SavedModel twice, or have functions of these
names.  So do the tables in them, which are found by their names.

Source: python/saved_model/function_deserialization.py.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.shape import as_shape
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.traced_graph import TracedGraph
from tfteach.lib.saved_model.structure_coder import StructureCoder

Functions = dict[str, ConcreteFunction]

_TRACED = re.compile(r"^__inference_(.*)_\d+$")
_GRADIENT = "_gradient_op_type"
_SHAPES = "_input_shapes"
_numbers = itertools.count()


def new_suffix() -> str:
    """What is added to the names of tables, anew for each load."""
    return f"_load_{next(_numbers)}"


def load_function_def_library(
    library: Any,
    load_shared_name_suffix: str,
    saved: Mapping[str, Any],
    producer_op_list: Any = None,
) -> Functions:
    """The functions of a FunctionDefLibrary, by their names there.

    Args:
      library: the FunctionDefLibrary.
      load_shared_name_suffix: see `new_suffix`.
      saved: SavedConcreteFunctions by name: how arguments and results are nested.
      producer_op_list: an OpList of the program that wrote it, or None.

    Returns:
      ConcreteFunctions that have all inputs as arguments: see `captures` of their
      graphs.

    Raises:
      ValueError: functions call each other in a circle.
    """
    made: Functions = {}
    for definition in _callees_first(library.function):
        copy = type(definition)()
        copy.CopyFrom(definition)
        for node in copy.node_def:
            fix_node_def(node, made, load_shared_name_suffix)
        name = definition.signature.name
        traced = _TRACED.match(name)
        copy.signature.name = traced.group(1) if traced else name
        called = [made[other] for other in _called(definition, made)]
        graph = _graph(copy, called, producer_op_list)
        if name in saved:
            decode = StructureCoder().decode_proto
            graph.structured_outputs = decode(saved[name].output_signature)
            graph.structured_input_signature = decode(
                saved[name].canonicalized_input_signature
            )
        attrs = {k: v for k, v in copy.attr.items() if k != _SHAPES}
        made[name] = ConcreteFunction(graph, attrs)
    return made


def _graph(
    definition: Any, called: Iterable[ConcreteFunction], producer_op_list: Any
) -> TracedGraph:
    name = definition.signature.name
    graph = TracedGraph(name)
    for function in called:
        function.add_to_graph(graph)
    shapes = None
    if _SHAPES in definition.attr:
        protos = definition.attr[_SHAPES].list.shape
        shapes = [as_shape(proto) for proto in protos]
    defined = DefinedFunction(name, definition=definition)
    defined.producer_op_list = producer_op_list
    defined.rebuild_in(graph, Function(name), shapes)
    graph.structured_outputs = list(graph.outputs)
    graph.control_outputs = [
        graph.get_operation_by_name(definition.control_ret[result])
        for result in definition.signature.control_output
    ]
    return graph


def fix_node_def(
    node: Any, functions: Mapping[str, ConcreteFunction], shared_name_suffix: str
) -> None:
    """Let a node call the functions that were loaded, and own what it shares by name.

    Args:
      node: the NodeDef, which is changed.
      functions: the functions by their former names.
      shared_name_suffix: see `new_suffix`.
    """
    node.attr.pop(_GRADIENT, None)  # the number of a function in another program
    if node.op in functions:
        node.op = functions[node.op].name.decode()
    for function in _function_attributes(node):
        if function.name in functions:
            function.name = functions[function.name].name.decode()
    if node.op == "HashTableV2" and not node.attr["use_node_name_sharing"].b:
        # A node with a name of its own; a table that was loaded before has one.
        node.attr["use_node_name_sharing"].b = True
        shared_name_suffix += f"_{next(_numbers)}"
    if "shared_name" in node.attr:
        own = node.attr["shared_name"].s or node.name.encode()
        node.attr["shared_name"].s = own + shared_name_suffix.encode()


def _function_attributes(node: Any) -> Iterator[Any]:
    """The functions that a node's attributes name, as NameAttrLists."""
    for value in node.attr.values():
        kind = value.WhichOneof("value")
        if kind == "func":
            yield value.func
        elif kind == "list":
            yield from value.list.func


def _called(definition: Any, known: Mapping[str, Any]) -> list[str]:
    """The names of the functions that a FunctionDef calls, each once."""
    found: dict[str, None] = {}
    for node in definition.node_def:
        names = [node.op, *(f.name for f in _function_attributes(node))]
        found.update((name, None) for name in names if name in known)
    return list(found)


def _callees_first(definitions: Iterable[Any]) -> list[Any]:
    """FunctionDefs in an order in which each follows those that it calls.

    Raises:
      ValueError: there is none.
    """
    known = {d.signature.name: d for d in definitions}
    done: dict[str, bool] = {}  # False: its callees are being visited
    ordered: list[Any] = []
    for start in known:
        pending = [start]
        while pending:
            name = pending[-1]
            if name not in done:
                done[name] = False
                callees = [n for n in _called(known[name], known) if not done.get(n)]
                if any(n in done for n in callees):
                    raise ValueError(
                        "There is a cyclic-dependency between functions. Could not "
                        f"resolve {[n for n in done if not done[n]]}."
                    )
                pending += callees
                continue
            pending.pop()
            if not done[name]:
                done[name] = True
                ordered.append(known[name])
    return ordered
