"""Conversion of graphs to GraphDefs: attributes as protos, nodes as bytes.

Nodes are written in protobuf's wire format, with attribute blocks cached per op and
input types, and parsed once at the end: for a large graph that costs a fraction of
filling messages field by field.  `import_graph_def` is in
framework/graphdef/import_graph_def.py.
Source: core/framework/{graph,node_def,attr_value,op_def}.proto, framework/ops.py.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.function_attribute import Function
from tfteach.framework.graph import Graph, Operation
from tfteach.framework.op import Op
from tfteach.framework.protos.attr_value import data_of, text_of
from tfteach.framework.protos.tensor_proto import make_tensor_proto
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.shape_inference import bind_types

PRODUCER = 134  # TF_GRAPH_DEF_VERSION of TensorFlow 1.15
FUNCTIONS_CONSUMER = 12  # the first version that reads graphs with functions
MAX_GRAPH_BYTES = 1 << 31

# The attribute kinds, by how an op class annotates the field.
KINDS = {
    "bool": "b", "int": "i", "float": "f", "str": "s", "DType": "type",
    "Shape": "shape", "np.ndarray[Any, Any]": "tensor", "np.ndarray": "tensor",
    "tuple[int, ...]": "list.i", "tuple[float, ...]": "list.f",
    "tuple[str, ...]": "list.s", "tuple[bool, ...]": "list.b",
    "tuple[DType, ...]": "list.type", "tuple[Shape, ...]": "list.shape",
    "Function": "func", "tuple[Function, ...]": "list.func",
}  # fmt: skip


def versions() -> Any:
    """The VersionDef of exported graphs."""
    from tfteach.framework.protos import VersionDef

    return VersionDef(producer=PRODUCER)


# ---- attributes


def attributes_of(op: Operation) -> dict[str, Any]:
    """All attributes by name: the op's fields, inferred ones, and extras."""
    cls = type(op.spec)
    found: dict[str, Any] = {
        k: v for k, v in bind_types(op.spec, op.inputs).items() if k
    }
    found.update((name, getattr(op.spec, name)) for name in cls.fields)
    if op.extra_attrs:
        found.update(op.extra_attrs)
    return found


def attribute(op: Operation, name: str) -> Any:
    """The Python value of one attribute; see `Operation.get_attr`."""
    found = attributes_of(op)
    if name not in found:
        raise ValueError(f"Operation '{op.name}' has no attr named '{name}'.")
    value = found[name]
    kind = kind_of(op.spec, name, value)
    if kind == "s":
        return data_of(value)
    if kind == "shape":
        return TensorShape(value).as_proto()
    if kind == "tensor":
        spec: Any = op.spec
        return make_tensor_proto(
            value,
            getattr(spec, "dtype", None),
            given=getattr(spec, "given", None),
        )
    if kind == "list.s":
        return [data_of(v) for v in value]
    if kind in ("list.shape", "list.func", "func"):
        found = attr_value(kind, value)
        return found.func if kind == "func" else list(getattr(found.list, kind[5:]))
    return list(value) if kind.startswith("list.") else value


def kind_of(op: Op, name: str, value: Any) -> str:
    """The attribute's kind: "b", "type", "list.i" ... ("proto" for an AttrValue)."""
    annotation = type(op).fields.get(name)
    if annotation is not None:
        return KINDS[annotation]
    if hasattr(value, "WhichOneof"):
        return "proto"
    if isinstance(value, DType):
        return "type"
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int):
        return "i"
    if isinstance(value, float):
        return "f"
    if isinstance(value, str | bytes):
        return "s"
    if isinstance(value, TensorShape):
        return "shape"
    if isinstance(value, Function):
        return "func"
    items = list(value)
    return "list." + (kind_of(op, "", items[0]) if items else "type")


def default_tensor(value: Any) -> Any:
    """A tensor that is an attribute's default, written as TF's op definitions do."""
    from tfteach.framework.protos import AttrValue

    return AttrValue(tensor=make_tensor_proto(value, as_list=True))


def attr_value(
    kind: str, value: Any, dtype: DType | None = None, given: int | None = None
) -> Any:
    """A Python value as an AttrValue proto; see `make_tensor_proto` for `given`."""
    from tfteach.framework.protos import AttrValue

    if kind == "proto":
        return value
    if kind.startswith("list."):
        proto = AttrValue()
        proto.list.SetInParent()
        getattr(proto.list, kind[5:]).extend(_plain(kind[5:], v) for v in value)
        return proto
    if kind == "tensor":
        return AttrValue(tensor=make_tensor_proto(value, dtype, given=given))
    return AttrValue(**{kind: _plain(kind, value)})


def _plain(kind: str, value: Any) -> Any:
    if kind == "type":
        return value.as_datatype_enum
    if kind == "shape":
        return TensorShape(value).as_proto()
    if kind == "s":
        return data_of(value)
    if kind == "func":
        return value.as_proto()
    return value


def python_value(kind: str, proto: Any) -> Any:
    """The value of an AttrValue proto, as stored in an op's field."""
    from tfteach.framework.protos.tensor_proto import make_ndarray

    if kind.startswith("list."):
        return tuple(_field(kind[5:], v) for v in getattr(proto.list, kind[5:]))
    if kind == "tensor":
        return make_ndarray(proto.tensor)
    return _field(kind, getattr(proto, kind))


def _field(kind: str, value: Any) -> Any:
    if kind == "type":
        return as_dtype(value)
    if kind == "shape":
        return TensorShape(value).dims_or_none
    if kind == "s":
        return text_of(value)
    if kind == "func":
        return Function.from_proto(value)
    return value


def set_attribute(op: Operation, name: str, value: Any) -> None:
    """Set an attribute of a node; for a field of its op the op is replaced."""
    if op.graph.known is not None:
        op.graph.known.forget(op)
    annotation = type(op.spec).fields.get(name)
    if annotation is not None:
        kind = KINDS[annotation]
        plain = python_value(kind, value) if hasattr(value, "WhichOneof") else value
        op.spec = op.spec.replace(**{name: plain})
    else:
        if hasattr(value, "WhichOneof") and value.WhichOneof("value") is not None:
            which = value.WhichOneof("value")
            if which == "list" and value.list.s:
                value = list(value.list.s)
            elif which in ("b", "i", "f", "s"):
                value = getattr(value, which)
            elif which == "type":
                value = as_dtype(value.type)
        op.extra_attrs = {**(op.extra_attrs or {}), name: value}
    op.graph.record_mutation()


# ---- the wire format


def _chunk_size(size: int) -> int:
    return size + (2 if size < 128 else 1 + (size.bit_length() + 6) // 7)


def _entry(name: str, value: Any) -> bytes:
    """One attr entry of a NodeDef, from an AttrValue proto."""
    data = chunk(b"\x0a", name.encode()) + chunk(b"\x12", value.SerializeToString())
    return chunk(b"\x2a", data)


def _attr_block(op: Operation) -> bytes:
    """The attr entries of a NodeDef, in the order of their names."""
    spec = op.spec
    dtype = getattr(spec, "dtype", None)
    dtype = dtype if isinstance(dtype, DType) else None
    given = getattr(spec, "given", None)
    found = attributes_of(op)
    entries = []
    for name in sorted(found):
        value = found[name]
        kind = kind_of(spec, name, value)
        is_default = kind == "tensor" and value is type(spec).defaults.get(name)
        proto = (
            default_tensor(value)
            if is_default
            else attr_value(kind, value, dtype, given)
        )
        entries.append(_entry(name, proto))
    return b"".join(entries)


def _node_bytes(op: Operation, attrs: bytes, controls: Iterable[str]) -> bytes:
    parts = [chunk(b"\x0a", op.name.encode()), chunk(b"\x12", op.type.encode())]
    for tensor in op.inputs:
        source = tensor.op.name.encode()
        if tensor.value_index:
            source += b":%d" % tensor.value_index
        parts.append(chunk(b"\x1a", source))
    for control in controls:
        parts.append(chunk(b"\x1a", b"^" + control.encode()))
    if op.device:
        parts.append(chunk(b"\x22", op.device.encode()))
    parts.append(attrs)
    return b"".join(parts)


def node_def(op: Operation) -> Any:
    """One operation as a NodeDef proto.

    The control inputs are in the op's order, whereas an exported graph sorts them; an
    imported node has its GraphDef's attributes unchanged.
    """
    from tfteach.framework.protos import NodeDef

    ordered = dict.fromkeys(op.control_inputs)
    imported = getattr(op, "imported_controls", ())
    if ordered.keys() >= set(imported):
        ordered = dict.fromkeys((*imported, *ordered))
    controls = [control.name for control in ordered]
    return NodeDef.FromString(_node_bytes(op, _attr_block(op), controls))


def node_size(op: Operation, known: dict[Any, bytes] | None = None) -> int:
    """Encoded size of the node in a GraphDef, in bytes.

    The values of a large constant are counted, not copied: accurate to ten bytes.

    Args:
      op: the operation.
      known: caches parts shared by many nodes.
    """
    if op.spec.holds_value:
        value = op.spec.constant
        # A constant that repeats an element stores less than its values.
        repeats = not any(value.strides) or getattr(op.spec, "given", None) is not None
        if value.nbytes > 1024 and not value.dtype.hasobject and not repeats:
            return int(value.nbytes) + len(op.name) + len(op.device) + 60
    size = len(_known_attrs(op, {} if known is None else known))
    texts = [op.name, op.type, op.device] if op.device else [op.name, op.type]
    texts += [t.op.name if t.value_index == 0 else t.name for t in op.inputs]
    texts += [f"^{c.name}" for c in op.control_inputs]
    for text in texts:
        size += _chunk_size(len(text) if text.isascii() else len(text.encode()))
    return _chunk_size(size)


def graph_bytes(
    graph: Graph, from_version: int | None = None, add_shapes: bool = False
) -> bytes:
    """The serialized GraphDef of a graph; see `Graph.as_graph_def`.

    Raises:
      ValueError: the GraphDef would be larger than protobuf's 2 GB.
    """
    first = from_version or 0
    parts = _encoded(graph)[first:]
    if add_shapes:
        # Another thread may have added ops since.
        operations = graph.operations[first : first + len(parts)]
        parts = [
            _with_shapes(part, tuple([t._shape for t in op.outputs]))
            if op.outputs
            else part
            for op, part in zip(operations, parts, strict=True)
        ]
    version = b"\x08" + varint(PRODUCER)
    if graph.functions:
        parts.append(chunk(b"\x12", library_bytes(graph)))
        version += b"\x10" + varint(FUNCTIONS_CONSUMER)
    parts.append(chunk(b"\x22", version))
    data = b"".join(parts)
    if len(data) >= MAX_GRAPH_BYTES:
        raise ValueError("GraphDef cannot be larger than 2GB.")
    return data


def library_bytes(graph: Graph) -> bytes:
    """The serialized FunctionDefLibrary of a graph's functions."""
    parts = []
    functions = list(graph.functions.values())  # another thread may add some
    for function in functions:
        data = function.definition.SerializeToString(deterministic=True)
        parts.append(chunk(b"\x0a", data))
    for function in functions:
        if function.gradient_name:
            pair = chunk(b"\x0a", function.name.encode())
            pair += chunk(b"\x12", function.gradient_name.encode())
            parts.append(chunk(b"\x12", pair))
    return b"".join(parts)


def _with_shapes(part: bytes, output_shapes: tuple[Shape, ...]) -> bytes:
    """A node of a GraphDef with the attribute `_output_shapes` added."""
    start = 1  # of the NodeDef, after the tag and the length
    while part[start] > 127:
        start += 1
    return chunk(b"\x0a", part[start + 1 :] + _shapes_entry(output_shapes))


@functools.lru_cache(maxsize=4096)
def _shapes_entry(output_shapes: tuple[Shape, ...]) -> bytes:
    """The attr entry `_output_shapes` of a node with outputs of these shapes."""
    return _entry("_output_shapes", attr_value("list.shape", output_shapes))


def _encoded(graph: Graph) -> list[bytes]:
    """The graph's nodes as parts of a GraphDef; cached on the graph."""
    with graph.lock:
        mutations, nodes = graph.encoded
        if mutations != graph.mutations:
            nodes = []
        if len(nodes) < len(graph.operations):
            nodes = nodes + _encode(graph.operations[len(nodes) :])
        graph.encoded = graph.mutations, nodes
        return nodes


def _encode(operations: list[Operation]) -> list[bytes]:
    known: dict[Any, bytes] = {}
    return [
        chunk(
            b"\x0a",
            _node_bytes(
                op, _known_attrs(op, known), sorted([c.name for c in op.control_inputs])
            ),
        )
        for op in operations
    ]


def _known_attrs(op: Operation, known: dict[Any, bytes]) -> bytes:
    """The attribute block; cached for equal ops of equal input types."""
    if op.extra_attrs or op.spec.holds_value:
        return _attr_block(op)
    key = (id(op.spec), *[t.dtype.as_datatype_enum for t in op.inputs])
    found = known.get(key)
    if found is None:
        found = known[key] = _attr_block(op)
    return found


def as_graph_def(graph: Graph, add_shapes: bool = False) -> Any:
    """See `Graph.as_graph_def`."""
    from tfteach.framework.protos import GraphDef

    return GraphDef.FromString(graph_bytes(graph, add_shapes=add_shapes))


def shape_attr(shape: Any) -> Shape:
    """A user's shape as stored in an op's field."""
    return TensorShape(shape).dims_or_none
