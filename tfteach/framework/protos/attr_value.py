"""Validation of AttrValue protos against an attribute's type.

Source: core/framework/attr_value_util.cc, tensor_shape.cc (checks and messages).
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.framework.dtypes import as_dtype, c_name

MAX_RANK = 254
MAX_ELEMENTS = 2**63 - 1
MAX_INT32 = 2**31 - 1
INVALID = 0  # DT_INVALID in types.proto

_NAMES = {"s": "string", "i": "int", "f": "float", "b": "bool"}


def check_attr_value(proto: Any, kind: str, type_name: str) -> None:
    """Check that a value is of an attribute's type.

    Args:
      proto: an AttrValue.
      kind: the field that must be set, such as "type" or "list.i".
      type_name: the type in TF's notation, such as "list(int)".

    Raises:
      ValueError: it contains another kind of value, or none.
    """
    which = proto.WhichOneof("value")
    got = _type_of(proto, which)
    if which == "placeholder":
        raise ValueError("AttrValue had value with unexpected type 'placeholder'")
    if got is None and not kind.startswith("list."):
        raise ValueError(f"AttrValue missing value with expected type '{type_name}'")
    if got not in (None, type_name):
        raise ValueError(
            f"AttrValue had value with type '{got}' when '{type_name}' expected"
        )
    if kind == "type":
        check_dtype(proto.type)
    elif kind == "list.type":
        for number in proto.list.type:
            check_dtype(number)
    elif kind == "shape":
        check_shape(proto.shape)
    elif kind == "list.shape":
        for shape in proto.list.shape:
            check_shape(shape)


def _type_of(proto: Any, which: str | None) -> str | None:
    """The type of a value in TF's notation; None for no value and for an empty list."""
    if which != "list":
        return None if which is None else _NAMES.get(which, which)
    fields = proto.list.ListFields()
    if not fields:
        return None
    name = fields[0][0].name
    return f"list({_NAMES.get(name, name)})"


def is_empty_list(value: Any) -> bool:
    """Whether this is an AttrValue with an empty list."""
    which = value.WhichOneof("value") if hasattr(value, "WhichOneof") else None
    return which == "list" and not value.list.ListFields()


def check_dtype(number: int) -> None:
    """Raise ValueError unless tensors of this type can be passed by value."""
    if number == INVALID:
        raise ValueError("AttrValue has invalid DataType")
    try:
        dtype = as_dtype(number)
    except TypeError:
        raise ValueError(f"AttrValue has invalid DataType enum: {number}") from None
    if dtype.is_ref:
        raise ValueError(
            f"AttrValue must not have reference type value of {c_name(dtype)}"
        )


def check_shape(proto: Any) -> None:
    """Raise ValueError if no tensor can have the shape of this TensorShapeProto."""
    sizes = [dim.size for dim in proto.dim]
    if proto.unknown_rank:
        if sizes:
            raise ValueError("An unknown shape must not have any dimensions set.")
        return
    if len(sizes) > MAX_RANK:
        raise ValueError(f"Shape {_text(sizes)} has too many dimensions")
    if sizes and min(sizes) < -1:
        raise ValueError(
            f"Shape {_text(sizes)} has dimensions with values below -1 (where -1 means "
            "unknown)"
        )
    if math.prod(n for n in sizes if n >= 0) > MAX_ELEMENTS:
        raise ValueError(
            f"Shape {_text(sizes)} is too large (more than 2**63 - 1 entries)"
        )


def check_full_shape(proto: Any) -> None:
    """Raise ValueError if no array can have the shape of this TensorShapeProto."""
    sizes = [dim.size for dim in proto.dim]
    if len(sizes) <= MAX_RANK and sizes and min(sizes) < 0:
        raise ValueError(f"Shape {_text(sizes)} is not fully defined")
    check_shape(proto)


def _text(sizes: list[int]) -> str:
    shown = ["?" if n == -1 else str(n) for n in sizes]
    if len(shown) > 2 * MAX_RANK:
        shown = [*shown[:MAX_RANK], "..."]
    return f"[{','.join(shown)}]"


def text_of(data: bytes) -> str:
    """A string attribute as text; bytes that are not UTF-8 survive, see `data_of`."""
    return data.decode("utf-8", "surrogateescape")


def data_of(text: str | bytes) -> bytes:
    """The bytes of a string attribute."""
    if isinstance(text, bytes):
        return text
    return text.encode("utf-8", "surrogateescape")
