"""A graph as rows of plain data, which serialize to JSON.

The rows of a live `Graph` and of a GraphDef are alike, so that every picture (live
view, SVG, text) is drawn from one description.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from tfteach.explain.graphs.output_types import output_types, type_name
from tfteach.framework.dtypes import resource
from tfteach.framework.graph import Graph, Operation, SourceLine, Tensor
from tfteach.framework.op import find_op, op_class

LONGEST_TEXT = 200
MOST_VALUES = 6

Shape = list[int] | None


class Row(NamedTuple):
    """One op. Indices count the graph's ops from 0, in graph order.

    Attributes:
      name, type: as in the GraphDef.
      inputs: op and output alternate: [op, output, op, output, ...].
      controls: the control inputs.
      outputs: (dtype, shape) of each; -1 is an unknown size, None an unknown rank.
      more: device, source, attrs, value and unknown, which is True for an op type that
        tfteach does not have; each is left out if empty.
    """

    name: str
    type: str
    inputs: list[int]
    controls: list[int]
    outputs: list[tuple[str, Shape]]
    more: dict[str, Any]


Where = Callable[[SourceLine], tuple[str, int, str, str]]


def plain_source(source: SourceLine) -> tuple[str, int, str, str]:
    """A source line as (file without its folders, line, function, text)."""
    file = source.file.replace("\\", "/").rsplit("/", 1)[-1]
    return file, source.line, source.function, source.text[:LONGEST_TEXT]


def row_of(
    op: Operation,
    where: Where = plain_source,
    attrs: bool = True,
    known: dict[Any, Any] | None = None,
) -> Row:
    """The row of one op of a live graph.

    Args:
      op: the operation.
      where: turns a `SourceLine` into (file, line, function, text).
      attrs: include the attributes, which are the bulk of a large graph's data.
      known: a cache for data that rows share, to pass on with the same other arguments.
    """
    known = {} if known is None else known
    origin = op._origin
    # The graph keeps its ops alive, so these ids stay valid.
    key: Any = (
        id(op.spec), op.device, attrs, origin and (id(origin[0]), origin[1]),
        *[t.dtype.as_datatype_enum for t in op.inputs],
    )  # fmt: skip
    more = known.get(key)
    if more is None:
        more = _more_of(op, where, attrs)
        if not op.extra_attrs:
            known[key] = more
    key = tuple([(t.dtype, t.static_shape) for t in op.outputs])
    outputs = known.get(key)
    if outputs is None:
        outputs = known[key] = [(t.dtype.name, shape_list(t)) for t in op.outputs]
    return Row(
        op.name,
        op.type,
        [n for t in op.inputs for n in (t.op.node_id - 1, t.value_index)],
        [c.node_id - 1 for c in op.control_inputs],
        outputs,
        more,
    )


def _more_of(op: Operation, where: Where, attrs: bool) -> dict[str, Any]:
    from tfteach.framework.graphdef.graph_def import attributes_of

    more: dict[str, Any] = {}
    if op.device:
        more["device"] = op.device
    source = op.source
    if source is not None:
        more["source"] = where(source)
    found = attributes_of(op) if attrs or op.spec.holds_value else {}
    if op.spec.holds_value and "value" in found:
        more["value"] = value_text(found["value"])
    if attrs and found:
        more["attrs"] = {name: attr_text(found[name]) for name in sorted(found)}
    return more


def shape_list(tensor: Tensor) -> Shape:
    """A tensor's static shape as JSON: None, or a list with -1 for unknown sizes."""
    shape = tensor.static_shape
    return None if shape is None else [-1 if size is None else size for size in shape]


def rows_of_graph(graph: Graph, where: Where = plain_source) -> list[Row]:
    """The rows of all ops of a live graph."""
    known: dict[Any, Any] = {}
    return [row_of(op, where, True, known) for op in graph.get_operations()]


def rows_of_graph_def(graph_def: Any) -> list[Row]:
    """The rows of a GraphDef's nodes.

    A GraphDef does not contain the number of outputs of an op type that tfteach does
    not have: such a node gets as many as its attributes suggest, and as are read.
    Shapes come from `_output_shapes`, or from the attributes of constants, placeholders
    and variables.

    Raises:
      ValueError: a node reads another that is not in the GraphDef, or an output that no
        node has.
    """
    names = {node.name: index for index, node in enumerate(graph_def.node)}
    signatures = {f.signature.name: f.signature for f in graph_def.library.function}
    read: dict[int, int] = {}
    rows = []
    for node in graph_def.node:
        inputs: list[int] = []
        controls: list[int] = []
        for text in node.input:
            index, port = _find(names, node.name, text)
            if port < 0:
                controls.append(index)
            else:
                inputs += [index, port]
                read[index] = max(read.get(index, 0), port + 1)
        more: dict[str, Any] = {"device": node.device} if node.device else {}
        if node.op not in signatures and not is_known(node.op):
            more["unknown"] = True
        if op_class(node.op).holds_value and "value" in node.attr:
            more["value"] = _proto_value_text(node.attr["value"].tensor)
        more["attrs"] = {
            name: attr_proto_text(node.attr[name])
            for name in sorted(node.attr)
            if name != "_output_shapes"
        }
        rows.append(Row(node.name, node.op, inputs, controls, [], more))
    for index, (row, node) in enumerate(zip(rows, graph_def.node, strict=True)):
        row.outputs.extend(_outputs(node, signatures, read.get(index, 0)))
    return rows


def is_known(op_type: str) -> bool:
    """Whether tfteach has ops of a type, or draws them as the ends of a function."""
    return op_type in ("_Arg", "_Retval") or find_op(op_type) is not None


_LONGEST_PORT = 5  # digits of an output's index


def _find(names: dict[str, int], reader: str, text: str) -> tuple[int, int]:
    name, _, port = text.removeprefix("^").partition(":")
    if name not in names:
        raise ValueError(
            f"Node {reader!r} has the input {text!r}, but the GraphDef has no node "
            f"{name!r}."
        )
    if text.startswith("^"):
        return names[name], -1
    if port and not (port.isdecimal() and len(port) <= _LONGEST_PORT):
        raise ValueError(
            f"Node {reader!r} has the input {text!r}, but no node has an output "
            f"{port[:40]!r}."
        )
    return names[name], int(port or 0)


def _outputs(
    node: Any, signatures: Mapping[str, Any], read: int
) -> Iterator[tuple[str, Shape]]:
    types = output_types(node, signatures, read)
    if "_output_shapes" in node.attr:
        shapes = [_shape_of(s) for s in node.attr["_output_shapes"].list.shape]
    else:
        shapes = [_known_shape(node)]
    yield from zip_longest(types, shapes[: len(types)])


def _is_handle(op_type: str) -> bool:
    outputs = op_class(op_type).outputs
    return bool(outputs) and outputs[0].dtype is resource


def _known_shape(node: Any) -> Shape:
    if op_class(node.op).holds_value and "value" in node.attr:
        return _shape_of(node.attr["value"].tensor.tensor_shape)
    if "shape" in node.attr and not _is_handle(node.op):
        return _shape_of(node.attr["shape"].shape)
    return None


def _shape_of(proto: Any) -> Shape:
    return None if proto.unknown_rank else [dim.size for dim in proto.dim]


# ---- values and attributes, abbreviated


def value_text(value: Any) -> str:
    """A constant, abbreviated: the elements if they are few, else the shape.

    Example:
      >>> value_text(np.array([1.0, 2.0])), value_text(np.zeros([32, 10]))
      ("[1, 2]", "32×10 values")
    """
    array = np.asarray(value)
    if not array.size:
        return "[]"
    if array.size > MOST_VALUES:
        return "×".join(map(str, array.shape)) + " values"
    return _nested(array.tolist())


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(v) for v in value) + "]"
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{value[:39]!r}…"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _proto_value_text(proto: Any) -> str:
    from tfteach.framework.protos.tensor_proto import make_ndarray

    shape = [dim.size for dim in proto.tensor_shape.dim]
    if math.prod(shape) > MOST_VALUES:
        return "×".join(map(str, shape)) + " values"
    try:
        return value_text(make_ndarray(proto))
    except (TypeError, ValueError):  # a picture must not fail on an odd constant
        return "?"


def attr_text(value: Any) -> str:
    """The Python value of an attribute, abbreviated."""
    if isinstance(value, np.ndarray):
        return value_text(value)
    if hasattr(value, "name") and not callable(value.name):
        return str(value.name)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        value = "[" + ", ".join(attr_text(v) for v in value) + "]"
    if hasattr(value, "WhichOneof"):
        return attr_proto_text(value)
    return _cut(str(value))


def attr_proto_text(proto: Any) -> str:
    """An AttrValue, abbreviated."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return ""
    if kind == "list":
        for name in ("s", "i", "f", "b", "type", "shape"):
            items = getattr(proto.list, name)
            if items:
                return _cut("[" + ", ".join(_one(name, v) for v in items) + "]")
        return "[]"
    return _cut(_one(kind, getattr(proto, kind)))


def _one(kind: str, value: Any) -> str:
    if kind == "type":
        return type_name(value)
    if kind == "shape":
        shape = _shape_of(value)
        return "?" if shape is None else str(["?" if d < 0 else d for d in shape])
    if kind == "tensor":
        return _proto_value_text(value)
    if kind == "s":
        return str(value.decode("utf-8", "replace"))
    if kind == "func":
        return str(value.name)
    return f"{value:.6g}" if kind == "f" else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def needed_rows(
    rows: list[Row], fetches: Iterable[str], feeds: Iterable[str] = ()
) -> tuple[set[int], list[str]]:
    """The rows that a run needs, found by names only: also for GraphDefs.

    Returns:
      (needed, unknown): the indices of the needed rows, and the names that no row has.
    """
    index = {row.name: i for i, row in enumerate(rows)}
    unknown: list[str] = []

    def find(name: str) -> tuple[int, int | None] | None:
        op, _, port = name.removeprefix("^").partition(":")
        if op not in index or not (port == "" or port.isdigit()):
            unknown.append(name)
            return None
        return index[op], int(port) if port else None

    fed = {(f[0], f[1] or 0) for f in map(find, feeds) if f is not None}
    found = [f for f in map(find, fetches) if f is not None]
    stack = [op for op, port in found if port is None or (op, port) not in fed]
    needed: set[int] = set()
    while stack:
        at = stack.pop()
        if at in needed:
            continue
        needed.add(at)
        pairs = zip(rows[at].inputs[::2], rows[at].inputs[1::2], strict=True)
        stack += [op for op, port in pairs if (op, port) not in fed]
        stack += [
            c
            for c in rows[at].controls
            if (c, 0) not in fed or not op_class(rows[c].type).must_be_fed
        ]
    return needed, unknown
