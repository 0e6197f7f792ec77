"""MetaGraphDefs: a graph with its collections, op definitions and version.

Conversions between the items of a collection and protos are registered by the modules
that define the items: variables, branches, loops, savers.
Source: python/framework/meta_graph.py, python/framework/ops.py (proto functions).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.graph_def import as_graph_def
from tfteach.framework.graphdef.op_def import op_def
from tfteach.framework.logger import get_logger
from tfteach.framework.op import find_op, op_class
from tfteach.framework.protos import pool

VERSION = "1.15.5"
GIT_VERSION = "tfteach"  # TensorFlow's own is "v1.15.4-39-g3db52be7be8"


class ProtoFunctions(NamedTuple):
    """Serialization of the items of a collection.

    Attributes:
      message: the name of the items' message.
      to_proto: from an item and an export scope to a message, or None to omit it.
      from_proto: from a message and an import scope to an item.
    """

    message: str
    to_proto: Callable[[Any, str | None], Any]
    from_proto: Callable[[Any, str | None], Any]


PROTO_FUNCTIONS: dict[str, ProtoFunctions] = {}


def register_proto_functions(keys: Iterable[str], functions: ProtoFunctions) -> None:
    """Register the conversion of these collections' items."""
    for key in keys:
        PROTO_FUNCTIONS[key] = functions


# ---- op definitions


def meta_info(op_types: Iterable[str], stripped_default_attrs: bool = False) -> Any:
    """The MetaInfoDef of a graph of these op types."""
    info = pool.message("MetaGraphDef").MetaInfoDef(
        tensorflow_version=VERSION,
        tensorflow_git_version=GIT_VERSION,
        stripped_default_attrs=stripped_default_attrs,
    )
    known = [op_type for op_type in sorted(set(op_types)) if find_op(op_type)]
    info.stripped_op_list.op.extend(_op_def(name) for name in known)
    return info


@functools.cache
def _op_def(op_type: str) -> Any:
    return op_def(op_class(op_type))


def op_types_of(graph_def: Any) -> set[str]:
    """The op types of a GraphDef and of the functions in its library."""
    found = {node.op for node in graph_def.node}
    for function in graph_def.library.function:
        found.update(node.op for node in function.node_def)
    return found - {f.signature.name for f in graph_def.library.function}


# ---- collections


def add_collections(
    meta_graph: Any, graph: Graph, keys: Iterable[Any] | None = None
) -> None:
    """Write the collections of a graph (those of `keys`) into a MetaGraphDef.

    Items without a proto form are omitted with a warning, as in TF.
    """
    known = graph.get_all_collection_keys()
    for key in known if keys is None else keys:
        items = graph.collection_list(key) if key in known else []
        if not items:
            continue
        try:
            found = _collection_def(key, items)
        except Exception as error:  # as in TF: any exception of an item's code
            get_logger().warning(
                f"Issue encountered when serializing {key}.\nType is unsupported, or "
                "the types of the items don't match field type in CollectionDef. Note "
                "this is a warning and probably safe to ignore.\n"
                f"{error}"
            )
        else:
            meta_graph.collection_def[key].CopyFrom(found)


def _collection_def(key: str, items: list[Any]) -> Any:
    found = pool.message("CollectionDef")()
    functions = PROTO_FUNCTIONS.get(key)
    if functions is not None:
        written = [functions.to_proto(item, None) for item in items]
        found.bytes_list.value.extend(
            [m.SerializeToString(deterministic=True) for m in written if m is not None]
        )
        return found
    first = items[0]
    if isinstance(first, str | bytes):
        found.bytes_list.value.extend(
            [item.encode() if isinstance(item, str) else item for item in items]
        )
    elif isinstance(first, int):
        found.int64_list.value.extend([int(item) for item in items])
    elif isinstance(first, float):
        found.float_list.value.extend(items)
    elif _is_any(first):
        for item in items:
            found.any_list.value.add().MergeFromString(item.SerializeToString())
    else:
        found.node_list.value.extend([item.name for item in items])
    return found


def _is_any(value: Any) -> bool:
    descriptor = getattr(value, "DESCRIPTOR", None)
    return getattr(descriptor, "full_name", "") == "google.protobuf.Any"


def export_meta_graph_def(
    graph: Graph,
    graph_def: Any = None,
    saver_def: Any = None,
    keys: Iterable[Any] | None = None,
    strip_default_attrs: bool = False,
) -> Any:
    """A MetaGraphDef of a graph, or of `graph_def` if given."""
    made = pool.message("MetaGraphDef")()
    if graph_def is None:
        made.graph_def.CopyFrom(as_graph_def(graph, add_shapes=True))
    else:
        made.graph_def.MergeFromString(graph_def.SerializeToString())
    op_types = op_types_of(made.graph_def)
    if strip_default_attrs:
        strip_defaults(made.graph_def)
    made.meta_info_def.CopyFrom(meta_info(op_types, strip_default_attrs))
    add_collections(made, graph, keys)
    if saver_def is not None:
        made.saver_def.MergeFromString(saver_def.SerializeToString())
    return made


def strip_defaults(graph_def: Any) -> None:
    """Remove the attributes that have their default's value."""
    for node in graph_def.node:
        if find_op(node.op) is None:
            continue
        for attr in _op_def(node.op).attr:
            if (
                attr.name in node.attr
                and attr.HasField("default_value")
                and node.attr[attr.name] == attr.default_value
            ):
                del node.attr[attr.name]
