"""Every registered op against TensorFlow 1.15's definition of it.

`tests/golden/op_defs_tf115.json` holds them all, one a line: for each op of its
`op_def_registry`, the OpDef by `MessageToDict`.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ops.case import import_families
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.op import OPS, Op
from tfteach.framework.shape import TensorShape
from tfteach.framework.signature import Arg

GOLDEN = Path(__file__).parent.parent / "golden" / "op_defs_tf115.json"
KINDS = {
    "bool": "bool", "int": "int", "float": "float", "str": "string", "DType": "type",
    "Shape": "shape", "np.ndarray[Any, Any]": "tensor", "tuple[int, ...]": "list(int)",
    "tuple[float, ...]": "list(float)", "tuple[str, ...]": "list(string)",
    "tuple[DType, ...]": "list(type)", "tuple[Shape, ...]": "list(shape)",
    "tuple[bool, ...]": "list(bool)", "Function": "func",
    "tuple[Function, ...]": "list(func)",
}  # fmt: skip

import_families()
HERE = {name: cls for name, cls in OPS.items() if cls.__module__.startswith("tfteach.")}


DEFINITIONS: dict[str, Any] = json.loads(GOLDEN.read_text())


def as_arg(arg: dict[str, Any]) -> Arg:
    fixed = as_type(arg["type"]) if "type" in arg else None
    listed = "typeListAttr" in arg
    return Arg(
        arg["name"],
        fixed,
        arg.get("typeAttr", "") or arg.get("typeListAttr", ""),
        arg.get("numberAttr", ""),
        listed,
        arg.get("isRef", False),
    )


def as_type(name: str) -> DType:
    lower = name.removeprefix("DT_").lower()
    is_ref = lower.endswith("_ref")
    dtype = as_dtype({"half": "float16"}.get(lower, lower.removesuffix("_ref")))
    return dtype.as_ref if is_ref else dtype


def as_value(value: dict[str, Any]) -> Any:
    """An AttrValue in JSON as the Python value that an op's field keeps."""
    ((kind, content),) = value.items() if value else (("list", {}),)
    if kind == "list":
        items = next(iter(content.values()), []) if content else []
        inner = next(iter(content), "")
        return tuple(as_value({inner: item}) for item in items)
    if kind == "i":
        return int(content)
    if kind == "s":
        return base64.b64decode(content).decode()
    if kind == "type":
        return as_type(content)
    if kind == "shape":
        if content.get("unknownRank"):
            return None
        return TensorShape([int(d["size"]) for d in content.get("dim", [])]).as_list()
    return float(content) if kind == "f" else content


def test_every_op_has_a_definition() -> None:
    assert not HERE.keys() - DEFINITIONS.keys()


@pytest.mark.parametrize("name", sorted(HERE.keys() & DEFINITIONS.keys()))
def test_op_equals_its_definition(name: str) -> None:
    cls, definition = HERE[name], DEFINITIONS[name]
    assert list(cls.inputs) == [as_arg(a) for a in definition.get("inputArg", [])]
    assert list(cls.outputs) == [as_arg(a) for a in definition.get("outputArg", [])]
    # Ops on references have state here; TF calls only those stateful that own some.
    owns = cls.is_stateful and not any(arg.is_ref for arg in cls.inputs)
    assert owns == definition.get("isStateful", False)
    attributes = {a["name"]: a for a in definition.get("attr", [])}
    given = {a.type_attr for a in cls.inputs} | {a.number_attr for a in cls.inputs}
    unknown = cls.fields.keys() - attributes.keys()
    assert not unknown, f"no such attributes: {unknown}"
    missing = attributes.keys() - cls.fields.keys() - given
    assert not missing, f"attributes that neither fields nor inputs give: {missing}"
    for attribute in attributes.values():
        check_attribute(cls, attribute)
    order = [n for n in attributes if n in cls.fields]
    assert list(cls.fields) == order, "fields come in the definition's order"


def check_attribute(cls: type[Op], attribute: dict[str, Any]) -> None:
    name = attribute["name"]
    allowed = attribute.get("allowedValues", {}).get("list", {}).get("type")
    if allowed is not None and "list" not in attribute["type"]:
        here = getattr(cls, name, None)
        if name in cls.fields:  # then the class attribute is the default
            here = cls.allowed_types(name)
        expected = tuple(as_type(t) for t in allowed)
        assert here == expected, f"types allowed for {name}"
    has_default = "defaultValue" in attribute
    if name not in cls.fields:
        if has_default and attribute["type"] == "type":
            default = as_value(attribute["defaultValue"])
            assert getattr(cls, f"{name}_default", None) is default, name
        return
    assert KINDS[cls.fields[name]] == attribute["type"], name
    assert (name in cls.defaults) == has_default, f"default of {name}"
    if has_default:
        assert same(cls.defaults[name], as_value(attribute["defaultValue"])), name


def same(here: Any, there: Any) -> bool:
    if isinstance(there, list):  # a shape
        return here is not None and list(here) == there
    if isinstance(there, float):
        return here == pytest.approx(there, rel=1e-6)
    if isinstance(here, np.ndarray):
        return bool(here.tolist() == there.get("intVal", []))
    return bool(here == there)


def refused_values(attr: dict[str, Any]) -> list[Any]:
    """A value of an attribute that TensorFlow's definition refuses, if there is one."""
    least = int(attr.get("minimum", 0))
    if attr["type"] == "int" and attr.get("hasMinimum"):
        return [least - 1]
    if attr["type"].startswith("list(") and least > 0:
        return [(1,) * (least - 1)]
    if attr["type"] == "string" and "allowedValues" in attr:
        return ["no such value"]
    return []


EXAMPLES: dict[str, Any] = {
    "bool": True, "int": 3, "float": 0.5, "str": "", "DType": "float32", "Shape": (2,),
    "tuple[int, ...]": (1,) * 5, "tuple[float, ...]": (1.0,) * 5,
    "tuple[DType, ...]": ("float32",), "tuple[str, ...]": (),
    "tuple[Shape, ...]": ((),), "Function": "f", "tuple[Function, ...]": ("f",),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        (name, attr["name"], value)
        for name, cls in HERE.items()
        for attr in DEFINITIONS[name].get("attr", [])
        if attr["name"] in cls.fields
        for value in refused_values(attr)
    ],
)
def test_values_that_tensorflow_refuses_are_refused(
    name: str, attribute: str, value: Any
) -> None:
    cls = HERE[name]
    given = {k: cls.defaults.get(k, EXAMPLES.get(t)) for k, t in cls.fields.items()}
    for attr in DEFINITIONS[name].get("attr", []):
        if attr["name"] in given and attr["type"] == "string" and refused_values(attr):
            given[attr["name"]] = as_value(attr["allowedValues"])[0]
    op = cls(**{**given, attribute: value})
    with pytest.raises(ValueError, match=f"'{attribute}'"):
        op.check_attributes()
