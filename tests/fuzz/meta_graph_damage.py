"""Damage to serialized MetaGraphDefs: their graphs, collections and savers."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.message import DecodeError

import tfteach as tf
from tests.fuzz import graph_damage
from tests.fuzz.graph_damage import NAMES, SIZES
from tfteach.framework import protos
from tfteach.framework.graphdef.meta_graph import PROTO_FUNCTIONS


def damaged_meta_graph(rng: random.Random, data: bytes) -> tuple[bytes, list[str]]:
    """`data`, a serialized MetaGraphDef, with one to three things wrong; and which."""
    if rng.random() < 0.05:
        return graph_damage.in_bytes(rng, data)
    meta_graph = tf.MetaGraphDef.FromString(data)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.choice(KINDS)
        kind(rng, meta_graph)
        done.append(kind.__name__)
    return meta_graph.SerializeToString(deterministic=True), done


def _collection(rng: random.Random, meta_graph: Any) -> tuple[str, Any]:
    keys = sorted(meta_graph.collection_def) or ["made"]
    key = rng.choice(keys)
    return key, meta_graph.collection_def[key]


def _some_name(rng: random.Random, meta_graph: Any) -> str:
    nodes = [node.name for node in meta_graph.graph_def.node] or ["x"]
    name = rng.choice(nodes)
    return rng.choice((name, f"{name}:0", f"{name}:7", f"^{name}", rng.choice(NAMES)))


def graph_changed(rng: random.Random, meta_graph: Any) -> None:
    rng.choice(graph_damage.KINDS)(rng, meta_graph.graph_def)


def item_bytes_changed(rng: random.Random, meta_graph: Any) -> None:
    _, proto = _collection(rng, meta_graph)
    values = proto.bytes_list.value
    if values:
        at = rng.randrange(len(values))
        values[at] = graph_damage.in_bytes(rng, values[at])[0]


def item_field_changed(rng: random.Random, meta_graph: Any) -> None:
    """One field of a variable's, a branch's or a loop's proto."""
    key, proto = _collection(rng, meta_graph)
    values = proto.bytes_list.value
    if key not in PROTO_FUNCTIONS or not values:
        return
    at = rng.randrange(len(values))
    message = protos.__getattr__(PROTO_FUNCTIONS[key].message)
    try:
        item = message.FromString(values[at])
    except DecodeError:
        return
    _change_field(rng, item, meta_graph)
    values[at] = item.SerializeToString(deterministic=True)


def _change_field(rng: random.Random, message: Any, meta_graph: Any) -> None:
    fields = message.DESCRIPTOR.fields
    field = rng.choice(list(fields))
    value = getattr(message, field.name)
    if field.message_type is not None:
        if hasattr(value, "DESCRIPTOR"):
            if rng.random() < 0.3:
                message.ClearField(field.name)
            else:
                _change_field(rng, value, meta_graph)
        elif hasattr(value, "add"):
            if value and rng.random() < 0.7:
                _change_field(rng, rng.choice(value), meta_graph)
            else:
                _change_field(rng, value.add(), meta_graph)
        else:  # the map of a context's values
            for key in sorted(value)[:1]:
                value[key] = _some_name(rng, meta_graph)
            value[_some_name(rng, meta_graph)] = _some_name(rng, meta_graph)
    elif hasattr(value, "append"):
        if value and rng.random() < 0.5:
            del value[rng.randrange(len(value))]
        else:
            is_text = field.cpp_type == field.CPPTYPE_STRING
            new = _some_name(rng, meta_graph) if is_text else rng.choice((0, -1, 7))
            value.append(new)
    elif isinstance(value, str):
        setattr(message, field.name, _some_name(rng, meta_graph))
    elif isinstance(value, bool):
        setattr(message, field.name, not value)
    elif isinstance(value, int):
        setattr(message, field.name, rng.choice((0, 1, 2, -1, 99, 2**31 - 1)))
    elif isinstance(value, float):
        setattr(message, field.name, rng.choice((0.0, -1.0, float("nan"))))


def node_name_changed(rng: random.Random, meta_graph: Any) -> None:
    _, proto = _collection(rng, meta_graph)
    values = proto.node_list.value
    if values:
        values[rng.randrange(len(values))] = _some_name(rng, meta_graph)
    else:
        values.append(_some_name(rng, meta_graph))


def kind_changed(rng: random.Random, meta_graph: Any) -> None:
    _, proto = _collection(rng, meta_graph)
    proto.Clear()
    kind = rng.choice(("bytes", "node", "int", "float", "any", "none", "empty"))
    if kind == "bytes":
        proto.bytes_list.value.extend([b"\xff", b""])
    elif kind == "node":
        proto.node_list.value.append(_some_name(rng, meta_graph))
    elif kind == "int":
        proto.int64_list.value.extend([rng.choice(SIZES)])
    elif kind == "float":
        proto.float_list.value.append(float("nan"))
    elif kind == "any":
        proto.any_list.value.add(type_url=rng.choice(NAMES), value=b"\xff")
    elif kind == "empty":
        proto.bytes_list.SetInParent()


def key_changed(rng: random.Random, meta_graph: Any) -> None:
    key, proto = _collection(rng, meta_graph)
    data = proto.SerializeToString()
    if rng.random() < 0.5:
        del meta_graph.collection_def[key]
    new = rng.choice([*PROTO_FUNCTIONS, "unbound_inputs", "losses", *NAMES])
    meta_graph.collection_def[new].MergeFromString(data)


def items_repeated(rng: random.Random, meta_graph: Any) -> None:
    _, proto = _collection(rng, meta_graph)
    kind = proto.WhichOneof("kind")
    if kind is not None and kind != "any_list":
        values = getattr(proto, kind).value
        values.extend(list(values))


def saver_changed(rng: random.Random, meta_graph: Any) -> None:
    _change_field(rng, meta_graph.saver_def, meta_graph)


def op_list_changed(rng: random.Random, meta_graph: Any) -> None:
    ops = meta_graph.meta_info_def.stripped_op_list.op
    if ops:
        op = rng.choice(ops)
        if rng.random() < 0.5:
            op.name = rng.choice(NAMES)
        else:
            graph_damage.fill(rng, op.attr.add(name="invented").default_value)


def info_changed(rng: random.Random, meta_graph: Any) -> None:
    _change_field(rng, meta_graph.meta_info_def, meta_graph)


KINDS = (
    graph_changed, graph_changed, item_bytes_changed, *(item_field_changed,) * 6,
    node_name_changed, kind_changed, key_changed, items_repeated, saver_changed,
    op_list_changed, info_changed,
)  # fmt: skip
