"""FunctionDefs: a body as a FunctionDef, and a FunctionDef as a GraphDef of its body.

In a FunctionDef an input of a node is "node:output:index", with the name of an output
of the node's definition; in a GraphDef it is "node:number".
Source: core/framework/function.proto, graph_to_functiondef.cc (names).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.framework.errors import invalid_argument
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graphdef.graph_def import attr_value, kind_of, node_def
from tfteach.framework.op import ROLES, Op
from tfteach.framework.op_traits import Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.signature import Arg


def function_def(
    name: str, graph: FuncGraph, out_names: Sequence[str] = (), description: str = ""
) -> Any:
    """The FunctionDef of a body.

    Args:
      name: the function's name.
      graph: the body.
      out_names: the names of the outputs; by default those of the ops.
      description: written into the signature.

    Raises:
      InvalidArgumentError: there is another number of outputs than of `out_names`.
    """
    made = pool.message("FunctionDef")()
    signature = made.signature
    signature.name, signature.description = name, description
    names = _Names()
    tensors: dict[Tensor, str] = {}
    results = [normalized(tensor.op.name) for tensor in graph.outputs]
    if out_names and len(out_names) != len(results):
        raise invalid_argument(
            "output names must be either empty or equal in size to outputs. output "
            f"names size = {len(out_names)} outputs size = {len(results)}"
        )
    results = list(out_names) if out_names else list(map(names.unique, results))
    names.take(results)
    for i, tensor in enumerate(graph.inputs):
        text = tensors[tensor] = names.unique(normalized(tensor.op.name))
        signature.input_arg.add(name=text, type=tensor.dtype.as_datatype_enum)
        made.arg_attr[i].SetInParent()
        for key, value in (tensor.op.extra_attrs or {}).items():
            written = attr_value(kind_of(tensor.op.spec, key, value), value)
            made.arg_attr[i].attr[key].CopyFrom(written)
    for text, tensor in zip(results, graph.outputs, strict=True):
        kind = tensor.dtype.base_dtype.as_datatype_enum
        signature.output_arg.add(name=text, type=kind)
    arguments = {tensor.op for tensor in graph.inputs}
    body = [op for op in graph.operations if op not in arguments]
    renamed = {op: names.unique(op.name) for op in body}
    for op, text in renamed.items():
        tensors.update(output_names(op, text))
    for op in body:
        node = made.node_def.add()
        node.CopyFrom(node_def(op))
        node.name = renamed[op]
        controls = [renamed.get(c) or tensors[c.outputs[0]] for c in op.control_inputs]
        node.input[:] = [tensors[t] for t in op.inputs] + [f"^{c}" for c in controls]
        signature.is_stateful |= bool(op.op_def.is_stateful)
    for arg, tensor in zip(signature.output_arg, graph.outputs, strict=True):
        made.ret[arg.name] = tensors[tensor]
    for op in graph.control_outputs:
        signature.control_output.append(renamed[op])
        made.control_ret[renamed[op]] = renamed[op]
    return made


def normalized(name: str) -> str:
    """A node's name as an argument's: lower case, only letters, digits and `_`.

    Example:
      >>> normalized("Layer/Add")
      'layer_add'
    """
    lower = "".join(c if c.isalnum() and c.isascii() else "_" for c in name.lower())
    return lower.lstrip("_0123456789") or "unknown"


class _Names:
    """Names in use; a second one of the same text gets a number from 0."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, names: Iterable[str]) -> None:
        self._used.update(names)

    def unique(self, name: str) -> str:
        found = name
        while found in self._used:
            number = self._next.get(name, 0)
            self._next[name] = number + 1
            found = f"{name}_{number}"
        self._used.add(found)
        return found


def output_names(op: Operation, name: str) -> Iterable[tuple[Tensor, str]]:
    """The outputs of an op with their names in a body, such as "add:z:0"."""
    position = 0
    for arg in type(op.spec).outputs:
        count = output_count(arg, op.get_attr)
        for i in range(count):
            yield op.outputs[position + i], f"{name}:{arg.name}:{i}"
        position += count


def output_count(arg: Arg, attribute: Callable[[str], Any]) -> int:
    """The number of tensors of an output, by the node's attributes."""
    if arg.number_attr:
        return int(attribute(arg.number_attr))
    return len(attribute(arg.type_attr)) if arg.is_list else 1


# ---- back


def graph_def_of(
    definition: Any,
    class_of: Callable[[str], type[Op]],
    attrs: Mapping[str, Any],
    shapes: Sequence[Shape] | None = None,
) -> tuple[Any, list[str], list[str]]:
    """A FunctionDef as a GraphDef whose placeholders are the arguments.

    Args:
      definition: the FunctionDef.
      class_of: op type -> its class.
      attrs: values (AttrValues) of the function's own attributes.
      shapes: the static shapes of the arguments' tensors; unknown if None.

    Returns:
      The GraphDef; the names of the arguments' nodes; the names of the tensors that
      are returned.
    """
    made = pool.message("GraphDef")()
    made.versions.producer = 134
    signature = definition.signature
    ops = {node.name: node for node in definition.node_def}
    arguments: dict[str, list[str]] = {}
    names: list[str] = []
    for arg in signature.input_arg:
        kinds = argument_types(arg, attrs)
        found = [arg.name] if len(kinds) == 1 else []
        found = found or [f"{arg.name}_{i}" for i in range(len(kinds))]
        for i, (name, kind) in enumerate(zip(found, kinds, strict=True)):
            node = made.node.add(name=name, op=ROLES[Role.PLACEHOLDER].op_type)
            node.attr["dtype"].type = kind
            shape = None if shapes is None else shapes[len(names) + i]
            node.attr["shape"].shape.CopyFrom(TensorShape(shape).as_proto())
        arguments[arg.name] = found
        names += found

    def tensor(text: str) -> str:
        if text.startswith("^"):
            return f"^{arguments[text[1:]][0]}" if text[1:] in arguments else text
        name, _, rest = text.partition(":")
        output, _, index = rest.rpartition(":")
        if name in arguments:
            return arguments[name][int(index or 0)]
        number = int(index or 0)
        if output:
            number += first_output(ops[name], output, class_of(ops[name].op), attrs)
        return f"{name}:{number}" if number else name

    for op in definition.node_def:
        node = made.node.add()
        node.CopyFrom(op)
        node.input[:] = [tensor(text) for text in op.input]
        for key in op.attr:
            fill_in(node.attr[key], attrs)
    results = [tensor(definition.ret[arg.name]) for arg in signature.output_arg]
    results = [text if ":" in text else f"{text}:0" for text in results]
    return made, names, results


def argument_types(arg: Any, attrs: Mapping[str, Any]) -> list[int]:
    """The types of the tensors that an argument of a signature comprises."""
    if arg.type_list_attr:
        return list(attrs[arg.type_list_attr].list.type)
    kind = attrs[arg.type_attr].type if arg.type_attr else arg.type
    return [kind] * (attrs[arg.number_attr].i if arg.number_attr else 1)


def first_output(
    node: Any, output: str, cls: type[Op], attrs: Mapping[str, Any]
) -> int:
    """The number of the first tensor of a node's named output; 0 if it is unknown."""

    def attribute(name: str) -> Any:
        value = node.attr[name]
        if value.WhichOneof("value") == "placeholder":
            value = attrs[value.placeholder]
        kind = value.WhichOneof("value")
        return value.list.type if kind == "list" else value.i

    position = 0
    for arg in cls.outputs:
        if arg.name == output:
            return position
        position += output_count(arg, attribute)
    return 0


def fill_in(value: Any, attrs: Mapping[str, Any]) -> None:
    """Replace an AttrValue's placeholders by the values of the attributes."""
    kind = value.WhichOneof("value")
    if kind == "placeholder" and value.placeholder in attrs:
        value.CopyFrom(attrs[value.placeholder])
    elif kind == "func":
        for key in value.func.attr:
            fill_in(value.func.attr[key], attrs)
