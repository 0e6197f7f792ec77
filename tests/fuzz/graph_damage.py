"""Damage to serialized GraphDefs, from single bits to inconsistent messages."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import tfteach as tf
from tests.ops.case import import_families
from tfteach.framework.graphdef.op_def import op_def
from tfteach.framework.op import OPS

import_families()

NAMES = [
    "", " ", "^", ":", "^x", "a:0", "a:-1", "a:99999999999999999999", "a/", "/a", "é",
    "日本", "\0", "a\nb", "_x", "-x", "x" * 5000, "a//b", "A", "<b>", "{{node x}}",
    "%s", ".", "..", "import", "Const", "a:0:0", "a: 1", "a:+1", "a:0x1",
    "a:\u0661", "^^a",
]  # fmt: skip
SIZES = [0, 1, -1, -2, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), 300, 7]
DTYPES = [*range(0, 26), 100, 101, 103, 107, 109, 120, 121, 1000, -1, 2**31 - 1]
DEVICES = [
    "/gpu:0", "/cpu:0", "cpu", "/job:", "/job:1a", "/foo:0", "//", "/device:GPU:-1",
    "/job:w/job:w", "/cpu:x", "/task:999999999999999999999", "\0", "é", "/device:CPU:*",
    "/job:worker/replica:0/task:1/device:TPU:0", "/gpu:0/cpu:0",
]  # fmt: skip
FLOATS = [0.0, -1.0, float("nan"), float("inf"), 1e38, 1e-45, 3.0]


def damaged(rng: random.Random, data: bytes) -> tuple[bytes, list[str]]:
    """`data`, a serialized GraphDef, with one to three things wrong; and which."""
    if rng.random() < 0.1:
        return in_bytes(rng, data)
    graph_def = tf.GraphDef.FromString(data)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.choice(KINDS)
        kind(rng, graph_def)
        done.append(kind.__name__)
    data = graph_def.SerializeToString(deterministic=True)
    if rng.random() < 0.05:  # names that are no UTF-8 exist on the wire only
        old = rng.choice(graph_def.node).name.encode() if graph_def.node else b""
        if old:
            new = bytes(rng.choice((0xFF, 0xC3, 0x80, *old)) for _ in old)
            data = data.replace(old, new, rng.choice((1, -1)))
            done.append("invalid_utf8")
    return data, done


def in_bytes(rng: random.Random, data: bytes) -> tuple[bytes, list[str]]:
    """Bytes flipped, dropped, inserted, repeated, or cut off."""
    out = bytearray(data)
    kind = rng.choice(("flip", "flip", "drop", "insert", "repeat", "cut", "swap"))
    for _ in range(1 if kind == "cut" else rng.choice((1, 1, 3, 10))):
        at = rng.randrange(len(out) or 1)
        size = rng.choice((1, 1, 2, 8))
        if kind == "flip" and out:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == "drop":
            del out[at : at + size]
        elif kind == "insert":
            out[at:at] = rng.randbytes(size)
        elif kind == "repeat":
            out[at:at] = out[at : at + 20]
        elif kind == "cut":
            del out[at:]
        elif out:
            other = rng.randrange(len(out))
            out[at], out[other] = out[other], out[at]
    return bytes(out), [f"bytes_{kind}"]


def _node(rng: random.Random, graph_def: Any) -> Any:
    if not graph_def.node:
        return graph_def.node.add(name="made", op="NoOp")
    return rng.choice(graph_def.node)


def _attr(rng: random.Random, graph_def: Any, kinds: tuple[str, ...] = ()) -> Any:
    """A random (node, attribute's name), of one of these kinds if there is any."""
    found = [
        (node, name)
        for node in graph_def.node
        for name in sorted(node.attr)
        if not kinds or node.attr[name].WhichOneof("value") in kinds
    ]
    if found:
        return rng.choice(found)
    node = _node(rng, graph_def)
    node.attr["dtype"].type = 1
    return node, "dtype"


# ---- attributes


def attr_removed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def)
    del node.attr[name]


def attr_renamed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def)
    value = tf.AttrValue.FromString(node.attr[name].SerializeToString())
    del node.attr[name]
    new = rng.choice(["T", "dtype", "N", "_x", "_class", "_output_shapes", *NAMES])
    node.attr[new].CopyFrom(value)


def attr_moved(rng: random.Random, graph_def: Any) -> None:
    source, name = _attr(rng, graph_def)
    other, theirs = _attr(rng, graph_def)
    value = source.attr[name].SerializeToString()
    other.attr[theirs].CopyFrom(tf.AttrValue.FromString(value))


def attr_retyped(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def)
    fill(rng, node.attr[name])


def attr_added(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    name = rng.choice(
        ["_class", "_output_shapes", "_gradient_op_type", "_XlaCompile", "T", "dtype",
         "shape", "value", "container", "shared_name", "_output_shapes", *NAMES]
    )  # fmt: skip
    fill(rng, node.attr[name])


def fill(rng: random.Random, attr: Any) -> None:
    """Any value of any kind."""
    attr.Clear()
    kind = rng.choice(
        ("b", "i", "f", "s", "type", "shape", "tensor", "func", "placeholder", "list",
         "list", "nothing")
    )  # fmt: skip
    if kind == "b":
        attr.b = rng.random() < 0.5
    elif kind == "i":
        attr.i = rng.choice(SIZES)
    elif kind == "f":
        attr.f = rng.choice(FLOATS)
    elif kind == "s":
        attr.s = rng.choice((b"", b"\xff\xfe", b"loc:@nowhere", b"SAME", b"x" * 1000))
    elif kind == "type":
        attr.type = rng.choice(DTYPES)
    elif kind == "shape":
        fill_shape(rng, attr.shape)
    elif kind == "tensor":
        fill_tensor(rng, attr.tensor)
    elif kind == "func":
        attr.func.name = rng.choice(NAMES)
    elif kind == "placeholder":
        attr.placeholder = rng.choice(NAMES)
    elif kind == "list":
        fill_list(rng, attr.list)


def fill_list(rng: random.Random, values: Any) -> None:
    values.SetInParent()
    kind = rng.choice(("s", "i", "f", "b", "type", "shape", "tensor", "func", "none"))
    for _ in range(rng.choice((0, 1, 2, 50))):
        if kind == "s":
            choices = (b"", b"\xff", b"loc:@", b"loc:@a", b"loc:@x", b"loc:@\xff\xc3")
            values.s.append(rng.choice(choices))
        elif kind == "i":
            values.i.append(rng.choice(SIZES))
        elif kind == "f":
            values.f.append(rng.choice(FLOATS))
        elif kind == "b":
            values.b.append(True)
        elif kind == "type":
            values.type.append(rng.choice(DTYPES))
        elif kind == "shape":
            fill_shape(rng, values.shape.add())
        elif kind == "tensor":
            fill_tensor(rng, values.tensor.add())
        elif kind == "func":
            values.func.add(name=rng.choice(NAMES))


def fill_shape(rng: random.Random, shape: Any) -> None:
    shape.Clear()
    shape.SetInParent()
    shape.unknown_rank = rng.random() < 0.15
    for _ in range(rng.choice((0, 1, 1, 2, 3, 4, 300))):
        shape.dim.add(size=rng.choice(SIZES))


def fill_tensor(rng: random.Random, tensor: Any) -> None:
    tensor.Clear()
    tensor.dtype = rng.choice(DTYPES)
    fill_shape(rng, tensor.tensor_shape)
    damage_tensor(rng, tensor)


def damage_tensor(rng: random.Random, tensor: Any) -> None:
    kind = rng.choice(
        ("dtype", "shape", "content", "cut", "strings", "halves", "ints", "clear",
         "version", "complex", "resource", "variant")
    )  # fmt: skip
    if kind == "dtype":
        tensor.dtype = rng.choice(DTYPES)
    elif kind == "shape":
        fill_shape(rng, tensor.tensor_shape)
    elif kind == "content":
        tensor.tensor_content = rng.randbytes(rng.choice((0, 1, 3, 4, 8, 1000)))
    elif kind == "cut":
        tensor.tensor_content = tensor.tensor_content[:-1]
    elif kind == "strings":
        tensor.string_val.extend([b"\xff\xfe", b""])
    elif kind == "halves":
        tensor.half_val.extend([-1, 70000, 2**31 - 1])
    elif kind == "ints":
        tensor.int_val.extend([-1, 2**31 - 1, 300])
        tensor.int64_val.append(-(2**63))
        tensor.uint64_val.append(2**64 - 1)
    elif kind == "clear":
        for field, _ in tensor.ListFields():
            if field.name not in ("dtype", "tensor_shape"):
                tensor.ClearField(field.name)
    elif kind == "version":
        tensor.version_number = rng.choice((1, -1, 2**31 - 1))
    elif kind == "complex":
        tensor.scomplex_val.extend([1.0, 2.0, 3.0])
        tensor.dcomplex_val.append(1.0)
    elif kind == "resource":
        tensor.dtype = 20
        tensor.resource_handle_val.add(device=rng.choice(NAMES), hash_code=2**64 - 1)
    elif kind == "variant":
        tensor.dtype = 21
        tensor.variant_val.add(type_name="x", metadata=b"\xff")


def type_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("type",))
    node.attr[name].type = rng.choice(DTYPES)


def number_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("i",))
    node.attr[name].i = rng.choice(SIZES)


def shape_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("shape",))
    fill_shape(rng, node.attr[name].shape)


def text_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("s",))
    choices = (b"", b"\xff\xfe\x00", b"SAME", b"NHWC", b"x" * 3000, b"<b>", b"\0")
    node.attr[name].s = rng.choice(choices)


def list_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("list",))
    fill_list(rng, node.attr[name].list)


def tensor_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("tensor",))
    damage_tensor(rng, node.attr[name].tensor)


def values_changed(rng: random.Random, graph_def: Any) -> None:
    """Other numbers in a constant of the same type and shape: sizes, axes, indices."""
    found = [n for n in graph_def.node if n.op == "Const" and "value" in n.attr]
    if not found:
        return
    tensor = rng.choice(found).attr["value"].tensor
    try:
        array = np.array(tf.make_ndarray(tensor))
    except (TypeError, ValueError):
        return
    if not 0 < array.size < 10000:
        return
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        choices = [n for n in (*SIZES, 2, 3, 5) if limits.min <= n <= limits.max]
    elif array.dtype.kind == "f":
        choices = FLOATS
    elif array.dtype.kind == "O":
        choices = [b"", b"\xff", b"a", b"1e999", b"(["]
    else:
        return
    for _ in range(rng.choice((1, 1, array.size))):
        array.flat[rng.randrange(array.size)] = rng.choice(choices)
    tensor.CopyFrom(tf.make_tensor_proto(array, tf.as_dtype(tensor.dtype)))


def number_changed_a_little(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("i",))
    changed = node.attr[name].i + rng.choice((-1, 1, 2))
    node.attr[name].i = min(max(changed, -(2**63)), 2**63 - 1)


def numbers_changed_a_little(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("list",))
    numbers = node.attr[name].list.i
    if numbers:
        numbers[rng.randrange(len(numbers))] = rng.choice((0, 1, 2, 3, 100, -1))


def shape_changed_a_little(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("shape",))
    shape = node.attr[name].shape
    kind = rng.choice(("more", "less", "size", "unknown"))
    if kind == "more":
        shape.dim.add(size=rng.choice((0, 1, 2, -1)))
    elif kind == "less" and shape.dim:
        del shape.dim[-1]
    elif kind == "size" and shape.dim:
        rng.choice(shape.dim).size = rng.choice((0, 1, 2, 3, 4, -1))
    else:
        shape.Clear()
        shape.unknown_rank = True


def choice_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("s",))
    texts = (b"SAME", b"VALID", b"NCHW", b"NHWC", b"NDHWC", b"", b"frame", b"sum")
    node.attr[name].s = rng.choice(texts)


def bool_changed(rng: random.Random, graph_def: Any) -> None:
    node, name = _attr(rng, graph_def, ("b",))
    node.attr[name].b = not node.attr[name].b


def types_changed(rng: random.Random, graph_def: Any) -> None:
    """One type for another in the whole graph."""
    old, new = rng.choice(((1, 2), (1, 19), (1, 14), (3, 9), (1, 8), (3, 1), (9, 3)))
    for node in graph_def.node:
        for attr in node.attr.values():
            if attr.type == old:
                attr.type = new
            if attr.tensor.dtype == old:
                recast(attr.tensor, new)
            for i, number in enumerate(attr.list.type):
                if number == old:
                    attr.list.type[i] = new


def recast(tensor: Any, number: int) -> None:
    dtype = tf.as_dtype(number)
    try:
        with np.errstate(all="ignore"):
            array = tf.make_ndarray(tensor).astype(dtype.as_numpy_dtype)
    except (TypeError, ValueError):  # damaged before
        return
    if array.size < 10000:
        tensor.CopyFrom(tf.make_tensor_proto(array, dtype))


# ---- nodes and edges


def op_changed_alike(rng: random.Random, graph_def: Any) -> None:
    """Another op of as many inputs and the same attributes."""
    node = _node(rng, graph_def)
    cls = OPS.get(node.op)
    if cls is None:
        return
    alike = [
        name
        for name in sorted(OPS)
        if len(OPS[name].inputs) == len(cls.inputs)
        and OPS[name].fields.keys() <= cls.fields.keys()
        and len(OPS[name].outputs) == len(cls.outputs)
    ]
    node.op = rng.choice(alike)
    for name in set(node.attr) - {a.name for a in op_def(OPS[node.op]).attr}:
        if not name.startswith("_"):
            del node.attr[name]


def input_changed_alike(rng: random.Random, graph_def: Any) -> None:
    """Another source of the same type."""
    node = _node(rng, graph_def)
    places = [i for i, text in enumerate(node.input) if not text.startswith("^")]
    if not places:
        return
    place = rng.choice(places)
    types = {n.name: n.attr["T"].type or n.attr["dtype"].type for n in graph_def.node}
    wanted = types.get(node.input[place].partition(":")[0], 1)
    alike = [name for name, number in types.items() if number == wanted]
    node.input[place] = rng.choice(alike or [node.name])


def input_changed(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    other = rng.choice((_node(rng, graph_def).name, rng.choice(NAMES)))
    new = rng.choice((other, f"^{other}", f"{other}:{rng.choice(SIZES)}"))
    if node.input and rng.random() < 0.7:
        node.input[rng.randrange(len(node.input))] = new
    else:
        node.input.insert(rng.randrange(len(node.input) + 1), new)


def input_dropped(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    if node.input:
        del node.input[rng.randrange(len(node.input))]


def inputs_repeated(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    node.input.extend(list(node.input) * rng.choice((1, 1, 40)))


def inputs_exchanged(rng: random.Random, graph_def: Any) -> None:
    one, other = _node(rng, graph_def), _node(rng, graph_def)
    if one.input and other.input:
        i, j = rng.randrange(len(one.input)), rng.randrange(len(other.input))
        one.input[i], other.input[j] = other.input[j], one.input[i]


def op_changed(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    some = rng.choice(sorted(OPS))
    known = rng.choice([n.op for n in graph_def.node])
    node.op = rng.choice((some, known, known, rng.choice(NAMES)))


def op_of_loops(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    node.op = rng.choice(
        ("Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond", "RefMerge",
         "RefEnter", "RefNextIteration", "Const", "Identity", "Placeholder")
    )  # fmt: skip


def node_renamed(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    old = node.name
    node.name = rng.choice((rng.choice(NAMES), _node(rng, graph_def).name))
    if rng.random() < 0.5:
        for other in graph_def.node:
            for i, source in enumerate(other.input):
                if source == old:
                    other.input[i] = node.name


def node_dropped(rng: random.Random, graph_def: Any) -> None:
    if graph_def.node:
        del graph_def.node[rng.randrange(len(graph_def.node))]


def node_copied(rng: random.Random, graph_def: Any) -> None:
    node = _node(rng, graph_def)
    copy = graph_def.node.add()
    copy.CopyFrom(node)
    if rng.random() < 0.7:
        copy.name = f"{node.name}_copy"


def node_invented(rng: random.Random, graph_def: Any) -> None:
    """A node of any op type, with attributes from its definition's defaults."""
    node = graph_def.node.add(name="invented", op=rng.choice(sorted(OPS)))
    sources = [n.name for n in graph_def.node if n.name != "invented"] or ["x"]
    for _ in OPS[node.op].inputs:
        node.input.append(rng.choice(sources))
    for attr in op_def(OPS[node.op]).attr:
        if attr.HasField("default_value"):
            node.attr[attr.name].CopyFrom(attr.default_value)
        elif attr.type == "type":
            node.attr[attr.name].type = rng.choice((1, 1, 3, 7, 9, 10, 20, 101))
        elif attr.type == "int":
            node.attr[attr.name].i = rng.choice((1, 2, 0, *SIZES))
        elif rng.random() < 0.9:
            fill(rng, node.attr[attr.name])


def device_changed(rng: random.Random, graph_def: Any) -> None:
    _node(rng, graph_def).device = rng.choice(DEVICES)


# ---- the rest


def versions_changed(rng: random.Random, graph_def: Any) -> None:
    versions = graph_def.versions
    kind = rng.choice(("producer", "min_consumer", "bad", "cleared"))
    if kind == "cleared":
        graph_def.ClearField("versions")
    elif kind == "bad":
        versions.bad_consumers.extend([134, -1])
    else:
        setattr(versions, kind, rng.choice((0, 1, 20, 135, 10**9, -1, -(2**31))))


def library_changed(rng: random.Random, graph_def: Any) -> None:
    function = graph_def.library.function.add()
    function.signature.name = rng.choice((*NAMES, *(n.op for n in graph_def.node)))
    function.node_def.add(name=rng.choice(NAMES), op=rng.choice(NAMES), input=["q"])
    function.ret["y"] = rng.choice(NAMES)
    if rng.random() < 0.3 and graph_def.library.function:
        graph_def.library.function.add().CopyFrom(graph_def.library.function[0])


KINDS = (
    attr_removed, attr_removed, attr_renamed, attr_moved, attr_retyped, attr_retyped,
    attr_added, type_changed, type_changed, number_changed, shape_changed, text_changed,
    list_changed, tensor_changed, tensor_changed, input_changed, input_changed,
    input_dropped, inputs_repeated, inputs_exchanged, op_changed, op_changed,
    op_of_loops, node_renamed, node_dropped, node_copied, node_invented, node_invented,
    device_changed, versions_changed, library_changed,
    *(values_changed,) * 8, *(number_changed_a_little, numbers_changed_a_little) * 2,
    *(shape_changed_a_little, choice_changed, bool_changed, types_changed) * 2,
    *(op_changed_alike, input_changed_alike) * 4,
)  # fmt: skip
