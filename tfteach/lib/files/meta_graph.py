"""MetaGraphDefs: `tf.train.export_meta_graph` and `tf.train.import_meta_graph`.

Source: python/training/saver.py, python/framework/meta_graph.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfteach.control import context_protos as context_protos  # registers the contexts
from tfteach.framework.defaults import default_graph, get_default_graph
from tfteach.framework.errors import OpError
from tfteach.framework.export import export
from tfteach.framework.files.file_system import dirname, resolve
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef import import_graph_def
from tfteach.framework.graphdef.meta_graph import (
    PROTO_FUNCTIONS,
    ProtoFunctions,
    add_collection,
    export_meta_graph_def,
    is_exported,
    prepended,
    stripped,
)
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import pool
from tfteach.framework.scope import graph_of
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.files.debug_info import debug_info_path, graph_debug_info
from tfteach.lib.files.graph_io import read_message, write_graph
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.scoped_graph_def import (
    extraneous_saver_nodes,
    scoped_graph_def,
)
from tfteach.lib.queues import queue_runner as queue_runner  # registers its protos
from tfteach.variables import protos as variable_protos

UNBOUND_INPUTS = "unbound_inputs"


_NO_META_GRAPHS = (
    "Exporting/importing meta graphs is not supported when eager execution is enabled. "
    "No graph exists when eager execution is enabled."
)


@export("train.export_meta_graph")
def export_meta_graph(
    filename: PathLike | None = None,
    meta_info_def: Proto | None = None,
    graph_def: Proto | None = None,
    saver_def: Proto | None = None,
    collection_list: Iterable[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Proto:
    """The MetaGraphDef of a graph: its nodes, collections and op definitions.

    Args:
      filename: the file to write it to as well, if any; its directory is created if
        missing.
      meta_info_def: a MetaInfoDef to begin with; the version is overwritten.
      graph_def: a GraphDef to use instead of the graph's.
      saver_def: the SaverDef of the Saver that restores the variables.
      collection_list: the keys of the collections to write; all of them if None.
      as_text: whether the file is in protobuf's text format; otherwise binary.
      graph: the graph; the default graph if None.
      export_scope: write only the nodes in this name scope, with names relative to it.
        Inputs from outside are listed in the collection "unbound_inputs": whoever
        imports the MetaGraphDef gives them by `input_map`.
      clear_devices: omit the nodes' devices.
      clear_extraneous_savers: omit the nodes of all Savers but that of `saver_def`.
      strip_default_attrs: omit attributes with their default value.
      save_debug_info: write the lines that created the nodes, too: a GraphDebugInfo
        proto in the file of the same name that ends in ".debug".
      **kwargs: `unbound_inputs_col_name`, another name for that collection; None to
        omit it.

    Returns:
      A MetaGraphDef proto.

    Raises:
      TypeError: an argument has an unsupported type, or is unknown.
      ValueError: the GraphDef would be larger than 2 GB.

    Example:
      >>> meta_graph = tf.train.export_meta_graph("model.meta")

    Source: python/framework/meta_graph.py, export_scoped_meta_graph.
    """
    if graph is None or graph_def is None:
        require_graph(_NO_META_GRAPHS)
    return export_scoped_meta_graph(
        filename=filename,
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        as_text=as_text,
        clear_devices=clear_devices,
        saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        meta_info_def=meta_info_def,
        collection_list=collection_list,
        **kwargs,
    )[0]


def export_scoped_meta_graph(
    filename: PathLike | None = None,
    graph_def: Proto | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    clear_devices: bool = False,
    saver_def: Proto | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    meta_info_def: Proto | None = None,
    collection_list: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """A MetaGraphDef, and the exported variables by their names in it.

    For the arguments see `export_meta_graph`.
    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    for name, value, kind in (
        ("meta_info_def", meta_info_def, "MetaInfoDef"),
        ("graph_def", graph_def, "GraphDef"),
        ("saver_def", saver_def, "SaverDef"),
    ):
        if value is not None and not is_message(value, kind):
            raise TypeError(f"{name} must be of type {kind}, not {type(value)}")
    graph = graph or get_default_graph()
    excluded: set[str] = set()
    unbound: list[str] = []
    if clear_extraneous_savers:
        whole = graph.as_graph_def() if graph_def is None else graph_def
        excluded = extraneous_saver_nodes(whole, saver_def)
    if export_scope or clear_extraneous_savers or clear_devices:
        graph_def, unbound = scoped_graph_def(
            graph, graph_def, export_scope, excluded, clear_devices
        )
    keys = (
        graph.get_all_collection_keys()
        if collection_list is None
        else (collection_list)
    )
    if clear_extraneous_savers:
        keys = [key for key in keys if key != GraphKeys.SAVERS]
    made = export_meta_graph_def(
        graph,
        graph_def,
        saver_def,
        [key for key in keys if key != unbound_inputs_col_name or not export_scope],
        strip_default_attrs,
        export_scope,
        excluded,
        meta_info_def,
    )
    if clear_extraneous_savers and saver_def is not None:
        saver = Saver(saver_def=_copy(saver_def))
        add_collection(made, GraphKeys.SAVERS, [saver], export_scope)
    if unbound and unbound_inputs_col_name:
        add_collection(made, unbound_inputs_col_name, unbound)
    if filename:
        path = resolve(filename)
        write_graph(made, dirname(path), os.path.basename(path), as_text)
        if save_debug_info:
            names = [prepended(node.name, export_scope) for node in made.graph_def.node]
            info = graph_debug_info(map(graph.get_operation_by_name, names))
            path = debug_info_path(path)
            write_graph(info, dirname(path), os.path.basename(path), as_text)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    return made, {
        stripped(v.name, export_scope): v
        for v in variables
        if is_exported(v, export_scope, excluded)
    }


def _copy(proto: Any) -> Any:
    return type(proto).FromString(proto.SerializeToString())


def is_message(value: Any, name: str) -> bool:
    """Whether a value is a protocol message of this type; of any TensorFlow."""
    descriptor = getattr(value, "DESCRIPTOR", None)
    return getattr(descriptor, "name", None) == name


def read_meta_graph_file(filename: PathLike) -> Any:
    """The MetaGraphDef of a file, in binary or text format.

    Raises:
      OSError: the file does not exist, or holds no MetaGraphDef.
    """
    return read_message(filename, pool.message("MetaGraphDef"))


@export("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: Proto | PathLike,
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
        default graph; `restore_collections_predicate`, a filter of the keys to restore;
        `unbound_inputs_col_name`, as in `export_meta_graph`.

    Returns:
      A Saver: the MetaGraphDef's own if it has one, otherwise a new one for the graph's
      variables; None if there are none.

    Raises:
      ValueError: the graph or a collection is damaged, or `input_map` lacks one of its
        unbound inputs.  The default graph is then left unchanged.
      OSError: the file does not exist.

    Example:
      >>> saver = tf.train.import_meta_graph("model.meta")

    Source: python/training/saver.py, python/framework/meta_graph.py.
    """
    require_graph(_NO_META_GRAPHS)
    return import_with_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    ).saver


class Imported(NamedTuple):
    """The results of an import.

    Attributes:
      saver: the Saver of the variables, or None.
      elements: the operations and tensors of `return_elements`, or None.
      variables: the imported variables, by their names in the MetaGraphDef.
    """

    saver: Saver | None
    elements: Any
    variables: dict[str, Any]


def import_with_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    *,
    input_map: dict[str, Any] | None = None,
    graph: Graph | None = None,
    restore_collections_predicate: Callable[[str], bool] | None = None,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    return_elements: list[str] | None = None,
    with_saver: bool = True,
) -> Imported:
    """`import_meta_graph`, with more results.

    Args:
      meta_graph_or_file, clear_devices, import_scope, input_map, graph,
        restore_collections_predicate, unbound_inputs_col_name: as there.
      return_elements: names of operations and tensors to return.
      with_saver: whether a Saver is wanted.
    """
    meta_graph = meta_graph_or_file
    if not is_message(meta_graph, "MetaGraphDef"):
        meta_graph = read_meta_graph_file(meta_graph)
    graph = graph or graph_of((input_map or {}).values())
    _check_unbound(meta_graph, unbound_inputs_col_name, input_map or {})
    graph_def = pool.message("GraphDef")()
    graph_def.MergeFromString(meta_graph.graph_def.SerializeToString())
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    chosen = restore_collections_predicate or (lambda key: True)
    found: dict[str, list[Any]] = {}
    saver: Saver | None = None
    with default_graph(graph):
        scope = graph.unique_name(import_scope, False) if import_scope else ""

        def finish() -> None:
            keys = [key for key in meta_graph.collection_def if chosen(key)]
            wanted = sorted(set(keys) - {unbound_inputs_col_name})
            found.update(_collections_of(meta_graph, graph, scope, wanted))
            if with_saver:
                _check_saver(meta_graph, found)
            for key, items in found.items():
                for item in items:
                    graph.add_to_collection(key, item)

        elements = import_graph_def.import_graph(
            graph_def,
            input_map,
            return_elements,
            name=import_scope or "",
            producer_op_list=meta_graph.meta_info_def.stripped_op_list,
            finish=finish,
        )
        if with_saver:
            saver = _saver_of(meta_graph, found, scope)
    variables = found.get(GraphKeys.GLOBAL_VARIABLES, ())
    return Imported(saver, elements, {stripped(v.name, scope): v for v in variables})


def _check_unbound(meta_graph: Any, key: str | None, input_map: dict[Any, Any]) -> None:
    if not key or key not in meta_graph.collection_def:
        return
    given = {name.decode() if isinstance(name, bytes) else name for name in input_map}
    values = meta_graph.collection_def[key].bytes_list.value
    names = [value.decode("utf-8", "replace") for value in values]
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these "
            "inputs through input_map."
        )


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """`import_meta_graph` without a Saver: the variables by their names in the file."""
    return import_with_elements(
        meta_graph_or_file,
        clear_devices,
        import_scope,
        input_map=input_map,
        graph=graph,
        restore_collections_predicate=restore_collections_predicate,
        unbound_inputs_col_name=unbound_inputs_col_name,
        with_saver=False,
    ).variables


def copy_scoped_meta_graph(
    from_scope: str,
    to_scope: str,
    from_graph: Graph | None = None,
    to_graph: Graph | None = None,
) -> dict[str, Any]:
    """Copy a name scope to another one, or to another graph.

    Returns:
      The new variables by their names below the scope.

    Raises:
      ValueError: both scopes and both graphs are the same.
    """
    source = from_graph or get_default_graph()
    target = to_graph or get_default_graph()
    if source is target and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in "
            "the same graph."
        )
    made, _ = export_scoped_meta_graph(graph=source, export_scope=from_scope)
    return import_scoped_meta_graph(made, graph=target, import_scope=to_scope)


def _collections_of(
    meta_graph: Any, graph: Graph, scope: str, keys: list[str]
) -> dict[str, list[Any]]:
    """The items of a MetaGraphDef's collections, by key."""
    found: dict[str, list[Any]] = {}
    reader = _ItemReader(graph, scope, _lacks_trainable(meta_graph))
    first = GraphKeys.TRAINABLE_VARIABLES  # it decides which variables are trainable
    for key in sorted(keys, key=lambda key: (key != first, key)):
        proto = meta_graph.collection_def[key]
        kind = proto.WhichOneof("kind")
        if kind is None:
            get_logger().error(
                f"Cannot identify data type for collection {key}. Skipping."
            )
            continue
        try:
            found[key] = reader.items(key, kind, getattr(proto, kind).value)
        except (KeyError, TypeError, ValueError, AttributeError, OpError) as error:
            message = error.args[0] if error.args else error
            raise ValueError(f"Collection {key!r}: {message}") from error
    return {key: found[key] for key in sorted(found)}


def _lacks_trainable(meta_graph: Any) -> bool:
    """Whether the file is from before TF 1.9, which added VariableDef.trainable."""
    version = re.match(r"(\d+)\.(\d+)", meta_graph.meta_info_def.tensorflow_version)
    return version is not None and (int(version[1]), int(version[2])) < (1, 9)


class _ItemReader:
    """Converts the items of collections.

    Args:
      graph: the graph, with the imported nodes.
      scope: the name scope of the import, or "".
      lacks_trainable: see `_lacks_trainable`.
    """

    def __init__(self, graph: Graph, scope: str, lacks_trainable: bool) -> None:
        self.graph, self.scope = graph, scope
        self.lacks_trainable = lacks_trainable
        self.variables: dict[bytes, Any] = {}

    def items(self, key: str, kind: str, values: Any) -> list[Any]:
        """The items of one collection."""
        functions = PROTO_FUNCTIONS.get(key)
        if functions is not None and functions.from_proto and kind == "bytes_list":
            return [self.item(key, functions, data) for data in values]
        if kind == "node_list":
            names = [prepended(name, self.scope) for name in values]
            return [self.graph.as_graph_element(name) for name in names]
        if kind == "bytes_list" and self.scope:
            return [self.scope.encode() + b"/" + data for data in values]
        return list(values)

    def item(self, key: str, functions: ProtoFunctions, data: bytes) -> Any:
        """An item; a variable in several collections is a single object."""
        from google.protobuf.message import DecodeError

        if data in self.variables:
            return self.variables[data]
        message = functions.message_class()
        try:
            proto = message.FromString(data)
        except DecodeError as error:
            raise ValueError(f"{error} in a {message.DESCRIPTOR.name}") from None
        is_variable = functions.message == variable_protos.MESSAGE
        if is_variable and self.lacks_trainable:
            proto.trainable = key == GraphKeys.TRAINABLE_VARIABLES
        assert functions.from_proto is not None
        item = functions.from_proto(proto, self.scope)
        if is_variable:
            self.variables[data] = item
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
    if _saved(found):
        return Saver()
    get_logger().info(
        "Saver not created because there are no variables in the graph to restore"
    )
    return None
