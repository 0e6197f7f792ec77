"""MetaGraphDefs: `tf.train.export_meta_graph` and `tf.train.import_meta_graph`.

Source: python/training/saver.py, python/framework/meta_graph.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tfteach.control import context_protos as context_protos  # registers the contexts
from tfteach.framework.defaults import default_graph, get_default_graph
from tfteach.framework.errors import OpError
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef import import_graph_def
from tfteach.framework.graphdef.meta_graph import PROTO_FUNCTIONS, export_meta_graph_def
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import pool
from tfteach.framework.protos.text_format import message_text
from tfteach.framework.scope import graph_of
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.files.graph_io import write_file
from tfteach.lib.files.saver import Saver, saveables_of
from tfteach.variables import protos as variable_protos
from tfteach.variables.protos import prepended

UNBOUND_INPUTS = "unbound_inputs"


@export("train.export_meta_graph")
def export_meta_graph(
    filename: PathLike | None = None,
    meta_info_def: Any = None,
    graph_def: Proto | None = None,
    saver_def: Proto | None = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """The MetaGraphDef of a graph: its nodes, collections and op definitions.

    Args:
      filename: the file to write it to as well, if any.
      meta_info_def: a MetaInfoDef whose fields override those generated here.
      graph_def: a GraphDef to use instead of the graph's.
      saver_def: the SaverDef of the Saver that restores the variables.
      collection_list: the keys of the collections to write; all of them if None.
      as_text: whether the file is in protobuf's text format; otherwise binary.
      graph: the graph; the default graph if None.
      clear_devices: omit the nodes' devices.
      strip_default_attrs: omit attributes with their default value.
      export_scope, clear_extraneous_savers, save_debug_info: not implemented.

    Returns:
      A MetaGraphDef proto.

    Raises:
      TypeError: `graph` is not a Graph, or there are unknown arguments.

    Example:
      >>> meta_graph = tf.train.export_meta_graph("model.meta")

    Source: python/framework/meta_graph.py, export_scoped_meta_graph.
    """
    refused = {
        "export_scope": export_scope,
        "clear_extraneous_savers": clear_extraneous_savers,
        "save_debug_info": save_debug_info,
    }
    for argument, value in refused.items():
        if value:
            raise NotImplementedError(
                f"export_meta_graph({argument}=...) is not implemented"
            )
    if kwargs:
        raise TypeError(f"export_meta_graph: unknown arguments {sorted(kwargs)}")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph not {type(graph)}")
    made = export_meta_graph_def(
        graph or get_default_graph(),
        graph_def,
        saver_def,
        collection_list,
        strip_default_attrs,
    )
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if meta_info_def is not None:
        merged = type(made.meta_info_def).FromString(meta_info_def.SerializeToString())
        for field, value in made.meta_info_def.ListFields():
            if field.name not in ("tags", "meta_graph_version"):
                merged.ClearField(field.name)
                if field.message_type is not None:
                    getattr(merged, field.name).CopyFrom(value)
                else:
                    setattr(merged, field.name, value)
        made.meta_info_def.CopyFrom(merged)
    if filename:
        data = message_text(made).encode() if as_text else made.SerializeToString()
        write_file(os.fspath(filename), data)
    return made


def read_meta_graph(path: Any) -> Any:
    """The MetaGraphDef of a file, in binary or text format.

    Raises:
      OSError: the file does not exist.
    """
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    name = os.fspath(path)
    if not os.path.isfile(name):
        raise OSError(f"File {name} does not exist.")
    with open(name, "rb") as file:
        data = file.read()
    try:
        return pool.message("MetaGraphDef").FromString(data)
    except DecodeError:
        pass
    try:
        text = data.decode("utf-8")
        return text_format.Parse(text, pool.message("MetaGraphDef")())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {name}: {error}.") from None


@export("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Add the nodes and collections of a MetaGraphDef to the default graph.

    Args:
      meta_graph_or_file: a MetaGraphDef, or the path of a file with one.
      clear_devices: omit the nodes' devices.
      import_scope: a name scope for everything imported.
      **kwargs: `input_map`, as in `tf.import_graph_def`; `graph`, to use instead of the
        default graph; `restore_collections_predicate`, a filter of the keys to restore.

    Returns:
      A Saver: the MetaGraphDef's own if it has one, otherwise a new one for the
      imported variables; None if there are none.

    Raises:
      ValueError: the graph or a collection is damaged.  The default graph is then left
        unchanged.
      OSError: the file does not exist.

    Example:
      >>> saver = tf.train.import_meta_graph("model.meta")

    Source: python/training/saver.py, python/framework/meta_graph.py.
    """
    meta_graph = meta_graph_or_file
    if getattr(getattr(meta_graph, "DESCRIPTOR", None), "name", "") != "MetaGraphDef":
        meta_graph = read_meta_graph(meta_graph)
    known = {"input_map", "graph", "restore_collections_predicate"}
    if kwargs.keys() - known:
        raise TypeError(
            f"import_meta_graph: unknown arguments {sorted(kwargs.keys() - known)}"
        )
    input_map = kwargs.get("input_map")
    graph = kwargs.get("graph") or graph_of((input_map or {}).values())
    if UNBOUND_INPUTS in meta_graph.collection_def:
        unbound = meta_graph.collection_def[UNBOUND_INPUTS].bytes_list.value
        missing = [name.decode("utf-8", "replace") for name in unbound]
        if set(missing) - set(input_map or {}):
            raise ValueError(
                f"Graph contains unbound inputs: {', '.join(missing)}. Must provide "
                "these inputs through input_map."
            )
    graph_def = pool.message("GraphDef")()
    graph_def.MergeFromString(meta_graph.graph_def.SerializeToString())
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    predicate = kwargs.get("restore_collections_predicate") or (lambda key: True)
    found: dict[str, list[Any]] = {}
    with default_graph(graph):
        scope = graph.unique_name(import_scope, False) if import_scope else ""

        def finish() -> None:
            found.update(_collections_of(meta_graph, graph, scope, predicate))
            _check_saver(meta_graph, found)
            for key, items in found.items():
                for item in items:
                    graph.add_to_collection(key, item)

        import_graph_def.import_graph(
            graph_def,
            input_map,
            name=import_scope or "",
            producer_op_list=meta_graph.meta_info_def.stripped_op_list,
            finish=finish,
        )
        return _saver_of(meta_graph, found, scope)


def _collections_of(
    meta_graph: Any, graph: Graph, scope: str, predicate: Callable[[str], bool]
) -> dict[str, list[Any]]:
    """The items of a MetaGraphDef's collections, by key."""
    found: dict[str, list[Any]] = {}
    variables: dict[bytes, Any] = {}
    for key in sorted(meta_graph.collection_def):
        if key == UNBOUND_INPUTS or not predicate(key):
            continue
        proto = meta_graph.collection_def[key]
        kind = proto.WhichOneof("kind")
        if kind is None:
            get_logger().error(
                f"Cannot identify data type for collection {key}. Skipping."
            )
            continue
        try:
            found[key] = _items_of(key, kind, proto, graph, scope, variables)
        except (KeyError, TypeError, ValueError, AttributeError, OpError) as error:
            message = error.args[0] if error.args else error
            raise ValueError(f"Collection {key!r}: {message}") from error
    return found


def _items_of(
    key: str,
    kind: str,
    proto: Any,
    graph: Graph,
    scope: str,
    variables: dict[bytes, Any],
) -> list[Any]:
    values = getattr(proto, kind).value
    functions = PROTO_FUNCTIONS.get(key)
    if functions is not None and kind == "bytes_list":
        return [_item_of(functions, data, scope, variables) for data in values]
    if kind == "node_list":
        return [graph.as_graph_element(prepended(name, scope)) for name in values]
    if kind == "bytes_list" and scope:
        return [scope.encode() + b"/" + data for data in values]
    return list(values)


def _item_of(
    functions: Any, data: bytes, scope: str, variables: dict[bytes, Any]
) -> Any:
    """An item from its proto; a variable in several collections is a single object."""
    from google.protobuf.message import DecodeError

    if data in variables:
        return variables[data]
    try:
        proto = pool.message(functions.message).FromString(data)
    except DecodeError as error:
        raise ValueError(f"{error} in a {functions.message}") from None
    item = functions.from_proto(proto, scope)
    if functions.message == variable_protos.MESSAGE:
        variables[data] = item
    return item


def _check_saver(meta_graph: Any, found: dict[str, list[Any]]) -> None:
    """Reject a MetaGraphDef without a usable Saver while the import can be undone."""
    if meta_graph.HasField("saver_def"):
        Saver(saver_def=meta_graph.saver_def)
        return
    try:
        saveables_of(_saved(found))
    except TypeError as error:
        raise ValueError(str(error)) from None


def _saved(found: dict[str, list[Any]]) -> list[Any]:
    keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS
    return [item for key in keys for item in found.get(key, ())]


def _saver_of(meta_graph: Any, found: dict[str, list[Any]], scope: str) -> Saver | None:
    if meta_graph.HasField("saver_def"):
        return Saver(saver_def=meta_graph.saver_def, name=scope)
    variables = _saved(found)
    if variables:
        return Saver(variables)
    get_logger().info(
        "Saver not created because there are no variables in the graph to restore"
    )
    return None
