"""MetaGraphDefs: a graph with its collections, op definitions and version.

Conversions between the items of a collection and protos are registered by the modules
that define the items: variables, branches, loops, savers.
Source: python/framework/meta_graph.py, python/framework/ops.py (proto functions).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable
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
      message: the name of the items' message, or its class if a program has its own.
      to_proto: from an item and an export scope to a message, or None to omit it.
      from_proto: from a message and an import scope to an item.
    """

    message: Any
    to_proto: Callable[[Any, str | None], Any] | None
    from_proto: Callable[[Any, str | None], Any] | None

    def message_class(self) -> Any:
        """The class of the items' message."""
        is_name = isinstance(self.message, str)
        return pool.message(self.message) if is_name else self.message


PROTO_FUNCTIONS: dict[str, ProtoFunctions] = {}


def register_proto_functions(keys: Iterable[str], functions: ProtoFunctions) -> None:
    """Register the conversion of these collections' items."""
    for key in keys:
        PROTO_FUNCTIONS[key] = functions


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Register how a program's collection is written to MetaGraphDefs and read.

    Args:
      collection_name: the collection's key.
      proto_type: the class of the items' protocol message.
      to_proto: a function of an item and `export_scope`, which returns a message, or
        None for an item to omit.
      from_proto: a function of a message and `import_scope`, which returns an item.

    Raises:
      TypeError: `to_proto` or `from_proto` is not callable.
      KeyError: the collection already has such functions.

    Source: python/framework/ops.py, register_proto_function.
    """
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function and not callable(function):
            raise TypeError(f"{name} must be callable.")
    if collection_name in PROTO_FUNCTIONS:
        raise KeyError(
            f"Registering two proto functions with name '{collection_name}'! Choose "
            "another key for the collection."
        )
    PROTO_FUNCTIONS[collection_name] = ProtoFunctions(
        proto_type,
        to_proto and (lambda item, scope: to_proto(item, export_scope=scope)),
        from_proto and (lambda message, scope: from_proto(message, import_scope=scope)),
    )


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
    meta_graph: Any,
    graph: Graph,
    keys: Iterable[Any] | None = None,
    scope: str | None = None,
    excluded: Container[str] = (),
) -> None:
    """Write the collections of a graph (those of `keys`) into a MetaGraphDef.

    Items without a proto form are omitted with a warning, as in TF.

    Args:
      meta_graph: the MetaGraphDef.
      graph: the graph.
      keys: the collections to write; all of them if None.
      scope: write only what is in this name scope, with names relative to it.
      excluded: the names of nodes that are not exported.
    """
    known = graph.get_all_collection_keys()
    for key in known if keys is None else keys:
        if not isinstance(key, str | bytes):
            get_logger().warning(
                "Only collections with string type keys will be serialized. This key "
                f"has {type(key)}"
            )
            continue
        found = graph.collection_list(key) if key in known else []
        items = [item for item in found if is_exported(item, scope, excluded)]
        if items:
            add_collection(meta_graph, key, items, scope)


def is_exported(item: Any, scope: str | None, excluded: Container[str] = ()) -> bool:
    """Whether a node or an item of a collection is part of an export.

    As in TF the scope is compared as text: "a" also stands for "ab/c".

    Args:
      item: a node's name, or any object; those without a name always are.
      scope: the name scope that is exported, or None.
      excluded: the names of nodes that are not exported.
    """
    if isinstance(item, bytes):
        return True
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    return name not in excluded and (not scope or name.startswith(scope))


def add_collection(
    meta_graph: Any, key: Any, items: list[Any], scope: str | None = None
) -> None:
    """Write one collection; see `add_collections`."""
    try:
        found = _collection_def(key, items, scope)
    except Exception as error:  # as in TF: any exception of an item's code
        get_logger().warning(
            f"Issue encountered when serializing {key}.\nType is unsupported, or "
            "the types of the items don't match field type in CollectionDef. Note "
            "this is a warning and probably safe to ignore.\n"
            f"{error}"
        )
    else:
        meta_graph.collection_def[key].CopyFrom(found)


def _collection_def(key: str, items: list[Any], scope: str | None) -> Any:
    found = pool.message("CollectionDef")()
    functions = PROTO_FUNCTIONS.get(key)
    if functions is not None and functions.to_proto is not None:
        written = [functions.to_proto(item, scope) for item in items]
        wrong = [m for m in written if not (m is None or _is_of(m, functions))]
        if wrong:
            raise TypeError(f"to_proto returned a {type(wrong[0]).__name__}")
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
        found.node_list.value.extend([stripped(item.name, scope) for item in items])
    return found


def _is_of(message: Any, functions: ProtoFunctions) -> bool:
    """Whether a message is of the type that its collection has; of any pool."""
    wanted = functions.message_class().DESCRIPTOR.name
    return bool(message.DESCRIPTOR.name == wanted)


def _is_any(value: Any) -> bool:
    descriptor = getattr(value, "DESCRIPTOR", None)
    return getattr(descriptor, "full_name", "") == "google.protobuf.Any"


# ---- names relative to a scope


def stripped(name: str, scope: str | None) -> str:
    """`name` without the scope's prefix; also "^name" and "loc:@name"."""
    if not scope:
        return name
    start = len(name) - len(name.removeprefix("^").removeprefix("loc:@"))
    return name[:start] + name[start:].removeprefix(scope.removesuffix("/") + "/")


def prepended(name: str, scope: str | None) -> str:
    """`name` with the scope's prefix; also "^name" and "loc:@name"."""
    if not scope:
        return name
    start = len(name) - len(name.removeprefix("^").removeprefix("loc:@"))
    return f"{name[:start]}{scope.removesuffix('/')}/{name[start:]}"


# ---- MetaGraphDefs


def export_meta_graph_def(
    graph: Graph,
    graph_def: Any = None,
    saver_def: Any = None,
    keys: Iterable[Any] | None = None,
    strip_default_attrs: bool = False,
    scope: str | None = None,
    excluded: Container[str] = (),
    meta_info_def: Any = None,
) -> Any:
    """A MetaGraphDef of a graph, or of `graph_def` if given.

    Args:
      graph: the graph, whose collections are written.
      graph_def: its nodes; if None, all that it has.
      saver_def: the SaverDef of the Saver that restores the variables.
      keys: the collections to write; all of them if None.
      strip_default_attrs: omit attributes with their default value.
      scope, excluded: as in `add_collections`; `graph_def` already obeys them.
      meta_info_def: a MetaInfoDef to begin with.
    """
    made = pool.message("MetaGraphDef")()
    if graph_def is None:
        made.graph_def.CopyFrom(as_graph_def(graph, add_shapes=True))
    else:
        made.graph_def.MergeFromString(graph_def.SerializeToString())
    op_types = op_types_of(made.graph_def)
    if strip_default_attrs:
        strip_defaults(made.graph_def)
    info = meta_info(op_types, strip_default_attrs)
    if meta_info_def is not None:
        made.meta_info_def.MergeFromString(meta_info_def.SerializeToString())
        if made.meta_info_def.stripped_op_list.op:
            info.ClearField("stripped_op_list")
    made.meta_info_def.MergeFrom(info)
    add_collections(made, graph, keys, scope, excluded)
    if saver_def is not None:
        made.saver_def.MergeFromString(saver_def.SerializeToString())
    return made


def strip_defaults(graph_def: Any) -> None:
    """Remove the attributes that have their default's value, in functions, too."""
    for node in graph_def.node:
        _strip_node(node)
    for function in graph_def.library.function:
        for node in function.node_def:
            _strip_node(node)


def _strip_node(node: Any) -> None:
    if find_op(node.op) is None:
        return
    for attr in _op_def(node.op).attr:
        if (
            attr.name in node.attr
            and attr.HasField("default_value")
            and node.attr[attr.name] == attr.default_value
        ):
            del node.attr[attr.name]
