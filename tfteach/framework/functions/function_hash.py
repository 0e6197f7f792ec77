"""The hash of a FunctionDef, from which TensorFlow makes names of functions.

Source: core/framework/function.cc, op_def_util.cc, node_def_util.cc,
attr_value_util.cc (what is hashed, and in which order), core/lib/hash/hash.cc.
"""

from __future__ import annotations

import base64
from typing import Any

from tfteach.framework.murmur_hash import SEED, murmur64
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.protos.wire_format import varint

_MASK = (1 << 64) - 1


def hashed_name(name: str, definition: Any) -> str:
    """`name`, an underscore, and the hash of a FunctionDef in 11 letters.

    The definition's name is ignored.
    """
    copy = type(definition)()
    copy.CopyFrom(definition)
    copy.signature.ClearField("name")
    data = definition_hash(copy).to_bytes(8, "little")
    text = base64.urlsafe_b64encode(data).decode().rstrip("=")
    return f"{name}_{text.replace('-', 'a').replace('_', 'A')}"


def definition_hash(definition: Any) -> int:
    """The 64-bit hash of a FunctionDef."""
    hashed = _of_proto(definition.signature)
    for key in sorted(definition.attr):
        hashed = _of_text(key, hashed)
        hashed = _combined(_of_attr(definition.attr[key]), hashed)
    nodes = {node.name: node for node in definition.node_def}
    body = SEED
    for name in sorted(nodes):
        body = _combined(_of_node(nodes[name]), _of_text(name, body))
    hashed = _combined(body, hashed)
    for key in sorted(definition.ret):
        hashed = _of_text(definition.ret[key], _of_text(key, hashed))
    return hashed


def _of_node(node: Any) -> int:
    hashed = _of_text(node.name, SEED)
    hashed = _of_text(node.device, _of_text(node.op, hashed))
    controls = {text for text in node.input if text.startswith("^")}
    for text in node.input:
        if text not in controls:
            hashed = _of_text(text, hashed)
    for text in sorted(controls):
        hashed = _of_text(text, hashed)
    for key in sorted(node.attr):
        if not key.startswith("_"):
            hashed = _combined(_of_attr(node.attr[key]), _of_text(key, hashed))
    return hashed


def _of_attr(value: Any) -> int:
    kind = value.WhichOneof("value")
    if kind == "tensor":
        return _of_tensor(value.tensor)
    if kind != "func":
        return _of_proto(value)
    hashed = _of_text(value.func.name, SEED)
    for key in sorted(value.func.attr):
        part = _of_attr(value.func.attr[key])
        hashed = _combined(part, _of_text(key, hashed))
    return hashed


def _of_tensor(proto: Any) -> int:
    array = make_ndarray(proto)
    whole = type(proto)(dtype=proto.dtype, tensor_shape=proto.tensor_shape)
    if array.dtype.hasobject:
        texts = array.reshape(-1).tolist()
        sizes = b"".join(varint(len(text)) for text in texts)
        whole.tensor_content = sizes + b"".join(texts)
    else:
        whole.tensor_content = array.tobytes()
    return _of_proto(whole)


def _of_proto(proto: Any) -> int:
    return murmur64(proto.SerializeToString(deterministic=True), SEED)


def _of_text(text: str, seed: int) -> int:
    return murmur64(text.encode(), seed)


def _combined(first: int, second: int) -> int:
    more = second + 0x9E3779B97F4A7800 + (first << 10 & _MASK) + (first >> 4)
    return first ^ (more & _MASK)
