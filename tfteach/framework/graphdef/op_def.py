"""OpDef protos: an op type's inputs, outputs and attributes, as in TensorFlow.

Most of a definition follows from the op's class.  Details that no code here depends on
(minima of attributes, their order, whether the op commutes) are in op_def_details.json,
written by `python -m tests.golden.op_def_details`.
Source: core/framework/op_def.proto, op_def_util.cc.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from tfteach.framework.dtypes import DType
from tfteach.framework.graphdef.graph_def import KINDS, attr_value, default_tensor
from tfteach.framework.op import Op
from tfteach.framework.signature import Arg

DETAILS = Path(__file__).with_name("op_def_details.json")


def op_def(cls: type[Op]) -> Any:
    """The OpDef proto of an op class."""
    defined = getattr(cls, "defined", None)
    if defined is not None:  # a call of a function
        return defined.signature
    proto = op_def_of_class(cls)
    details = _details().get(cls.op_type)
    if details:
        _add_details(proto, details)
    return proto


@functools.cache
def _details() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DETAILS.read_text())
    return found


def minimum_of(cls: type[Op], name: str) -> int | None:
    """The minimum of a number, or of a list's length, if the definition has one."""
    found = _details().get(cls.op_type, {}).get("attr", {}).get(name, {})
    minimum: int | None = found.get("minimum")
    return minimum


def _add_details(proto: Any, details: dict[str, Any]) -> None:
    attrs = {attr.name: attr for attr in proto.attr}
    for name, more in details.get("attr", {}).items():
        if "minimum" in more:
            attrs[name].has_minimum, attrs[name].minimum = True, more["minimum"]
        if "types" in more:
            del attrs[name].allowed_values.list.type[:]
            attrs[name].allowed_values.list.type.extend(more["types"])
        if "strings" in more:
            texts = [text.encode() for text in more["strings"]]
            attrs[name].allowed_values.list.s.extend(texts)
    if "order" in details:
        in_order = [attrs[name] for name in details["order"]]
        copies = [type(attr).FromString(attr.SerializeToString()) for attr in in_order]
        del proto.attr[:]
        proto.attr.extend(copies)
    for flag in details.get("flags", ()):
        setattr(proto, flag, True)
    if "deprecation" in details:
        proto.deprecation.version, proto.deprecation.explanation = details[
            "deprecation"
        ]


def op_def_of_class(cls: type[Op]) -> Any:
    """The OpDef proto, as far as the class's signature and fields determine it."""
    from tfteach.framework.protos import OpDef

    # In TF, ops that write a variable through a reference are stateless.
    stateful = cls.is_stateful and not cls._ref_inputs
    proto = OpDef(name=cls.op_type, is_stateful=stateful)
    derived: dict[str, str] = {}
    for arg in (*cls.inputs, *cls.outputs):
        if arg.number_attr:
            derived.setdefault(arg.number_attr, "int")
        if arg.type_attr:
            derived.setdefault(arg.type_attr, "list(type)" if arg.is_list else "type")
    for args, target in (
        (cls.inputs, proto.input_arg),
        (cls.outputs, proto.output_arg),
    ):
        for arg in args:
            target.append(_arg_def(arg))
    for name, kind in derived.items():
        if name not in cls.fields:
            default = getattr(cls, name + "_default", _NO_DEFAULT)
            _add_attr(proto, name, kind, "type", default, cls.allowed_types(name))
    for name, annotation in cls.fields.items():
        kind = KINDS[annotation]
        default = cls.defaults.get(name, _NO_DEFAULT)
        allowed = cls.allowed_types(name) if kind == "type" else None
        _add_attr(proto, name, KIND_NAMES[kind], kind, default, allowed)
    return proto


_NO_DEFAULT = object()  # None is the default of a shape: unknown
KIND_NAMES = {
    "b": "bool", "i": "int", "f": "float", "s": "string", "type": "type",
    "shape": "shape", "tensor": "tensor", "list.i": "list(int)",
    "list.f": "list(float)", "list.s": "list(string)", "list.b": "list(bool)",
    "list.type": "list(type)", "list.shape": "list(shape)", "func": "func",
    "list.func": "list(func)",
}  # fmt: skip


def _arg_def(arg: Arg) -> Any:
    from tfteach.framework.protos import OpDef

    proto = OpDef.ArgDef(name=arg.name, is_ref=arg.is_ref, number_attr=arg.number_attr)
    if arg.dtype is not None:
        proto.type = arg.dtype.as_datatype_enum
    elif arg.is_list:
        proto.type_list_attr = arg.type_attr
    else:
        proto.type_attr = arg.type_attr
    return proto


def _add_attr(
    proto: Any, name: str, type_name: str, kind: str, default: Any, allowed: Any
) -> None:
    attr = proto.attr.add(name=name, type=type_name)
    if default is not _NO_DEFAULT:
        if kind == "tensor":
            attr.default_value.CopyFrom(default_tensor(default))
        else:
            attr.default_value.CopyFrom(attr_value(kind, default))
    if isinstance(allowed, tuple) and allowed and isinstance(allowed[0], DType):
        attr.allowed_values.list.type.extend(d.as_datatype_enum for d in allowed)
