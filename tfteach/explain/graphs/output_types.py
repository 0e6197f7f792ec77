"""The types of a node's outputs, as far as its GraphDef determines them; shapes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from tfteach.framework.dtypes import as_dtype
from tfteach.framework.graphdef.op_def import op_def_of_class
from tfteach.framework.op import Op, op_class

__all__ = ["output_types"]

UNKNOWN = "?"
# Where op types that are not known keep the types of their outputs: of all of them, or
# of the first.
_LISTS = ("Tout", "output_types", "Toutput_types", "out_types", "T")
_FIRST = (
    "dtype", "DstT", "output_type", "out_type", "output_dtype", "Tout", "element_dtype",
    "value_dtype", "T",
)  # fmt: skip


def output_types(node: Any, signatures: Mapping[str, Any], read: int) -> list[str]:
    """The names of the types of a node's outputs.

    Args:
      node: a NodeDef.
      signatures: the OpDefs of the functions in the graph's library, by name.
      read: how many outputs other nodes read, which is the least number that an op of
        an unknown type has.

    Returns:
      A list of names such as "float32" or "float32_ref"; "?" is an unknown type.

    Example:
      >>> from tfteach.framework.protos import NodeDef
      >>> node = NodeDef(name="best", op="TopKV2")
      >>> node.attr["T"].type = tf.float32.as_datatype_enum
      >>> output_types(node, {}, read=0)
      ['float32', 'int32']
    """
    definition = signatures.get(node.op) or _definition(node.op)
    found = _by_attributes(node) if definition is None else _defined(node, definition)
    return found + [UNKNOWN] * (read - len(found))


@functools.lru_cache(1024)
def _definition(op_type: str) -> Any:
    cls = op_class(op_type)
    return None if cls is Op else op_def_of_class(cls)


def _defined(node: Any, definition: Any) -> list[str]:
    """The types of an op whose definition is known."""
    defaults = {attr.name: attr.default_value for attr in definition.attr}

    def attr(name: str) -> Any:
        return node.attr[name] if name in node.attr else defaults.get(name)

    found = []
    for arg in definition.output_arg:
        if arg.type_list_attr:
            value = attr(arg.type_list_attr)
            types = [] if value is None else [type_name(t) for t in value.list.type]
        else:
            value = attr(arg.type_attr) if arg.type_attr else None
            number = arg.type if value is None else value.type
            types = [type_name(number)]
        if arg.number_attr:
            value = attr(arg.number_attr)
            types *= 0 if value is None else value.i
        found += [f"{name}_ref" for name in types] if arg.is_ref else types
    return found


def _by_attributes(node: Any) -> list[str]:
    """The types of an op that is not known, as its attributes suggest them."""
    kinds = {name: value.WhichOneof("value") for name, value in node.attr.items()}
    for name in _LISTS:
        if kinds.get(name) == "list":
            return [type_name(number) for number in node.attr[name].list.type]
    for name in _FIRST:
        if kinds.get(name) == "type":
            return [type_name(node.attr[name].type)]
    return [UNKNOWN] if "type" in kinds.values() else []


def type_name(number: int) -> str:
    """The name of a type by its number in DataType; "?" for 0."""
    try:
        return as_dtype(number).name if number else UNKNOWN
    except TypeError:  # a type that is newer than TensorFlow 1.15
        return f"type {number}"


def shape_words(shape: Iterable[int] | None) -> str:
    """A shape as text: "?×3", "scalar", or "of unknown shape"."""
    if shape is None:
        return "of unknown shape"
    sizes = ["?" if size < 0 else str(size) for size in shape]
    if len(sizes) == 1:
        return f"[{sizes[0]}]"
    return "×".join(sizes) or "scalar"
