"""`tf.saved_model.load_v2` reads SavedModels as objects with functions.

Source: python/saved_model/load.py (API and messages).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tfteach.framework import nest
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.export import export
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import pool
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.scope import open_init_scope
from tfteach.framework.shape import as_shape
from tfteach.framework.trackable import CapturableResource, Trackable
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.files.checkpoint_reader import OBJECT_GRAPH_KEY
from tfteach.lib.files.functional_saver import restore
from tfteach.lib.files.object_graph import SaveableCache
from tfteach.lib.files.object_matches import saveables_under_keys
from tfteach.lib.files.restoration import Restoration
from tfteach.lib.files.trackable import TrackableAsset
from tfteach.lib.saved_model import constants
from tfteach.lib.saved_model.function_library import (
    load_function_def_library,
    new_suffix,
)
from tfteach.lib.saved_model.load_graph import load_graph_as_object
from tfteach.lib.saved_model.loader import parse_saved_model
from tfteach.lib.saved_model.restored_function import (
    recreate_function,
    setup_bare_concrete_function,
)
from tfteach.lib.saved_model.restored_objects import (
    RestoredResource,
    Setter,
    call_attribute,
    revived,
)
from tfteach.lib.saved_model.utils import in_model, variables_path
from tfteach.ops.core.constant import constant
from tfteach.variables.resource import BaseResourceVariable
from tfteach.variables.uninitialized import uninitialized_variable


@export("saved_model.load_v2", v2="saved_model.load")
def load(export_dir: PathLike, tags: Iterable[str] | str | None = None) -> Trackable:
    """Load a SavedModel as an object with the variables and functions that were saved.

    Of a SavedModel of TensorFlow 1's API, such as an Estimator's, the object has
    `variables`, `graph`, and `prune(feeds, fetches)`, which makes a function of a part
    of the graph.

    Args:
      export_dir: the SavedModel's directory.
      tags: the tags of the MetaGraph; None if there is only one.

    Returns:
      An object with an attribute for each that was saved.  Its `signatures` are
      functions by name, to be called with keyword arguments; they return dicts.

    Raises:
      OSError: the directory has no SavedModel.
      ValueError: `tags` are not those of the MetaGraph; (in a call) the arguments match
        no trace that was saved.

    Example:
      >>> model = tf.saved_model.load_v2("models/1")
      >>> predict = model.signatures["serving_default"]
      >>> print(predict(x=tf.constant([[1.0, 2.0]])))

    Source: python/saved_model/load.py.
    """
    meta_graphs = parse_saved_model(export_dir).meta_graphs
    meta_graph = meta_graphs[0]
    with open_init_scope(get_default_graph()):
        if len(meta_graphs) > 1 or not meta_graph.HasField("object_graph_def"):
            from_graph: Trackable = load_graph_as_object(export_dir, _tags(tags))
            return from_graph
        info = meta_graph.meta_info_def
        wanted = _tags(tags)
        if wanted is not None and set(wanted) != set(info.tags):
            raise ValueError(
                f"The SavedModel at {export_dir} has one MetaGraph with tags "
                f"{info.tags}, but got an incompatible argument tags={wanted} to "
                "tf.saved_model.load. You may omit it, pass 'None', or pass matching "
                "tags."
            )
        root: Any = _Loader(meta_graph, export_dir).root
    root.tensorflow_version = info.tensorflow_version
    root.tensorflow_git_version = info.tensorflow_git_version
    loaded: Trackable = root
    return loaded


def _tags(tags: Any) -> Any:
    # A set is no structure, whose elements could be flattened.
    is_plain = tags is None or isinstance(tags, set)
    return tags if is_plain else nest.flatten(tags)


class _Loader:
    """Makes the objects of a SavedModel.

    Args:
      meta_graph: its MetaGraphDef.
      export_dir: its directory.
    """

    def __init__(self, meta_graph: Any, export_dir: PathLike) -> None:
        self._meta_graph, self._export_dir = meta_graph, export_dir
        self._saved = meta_graph.object_graph_def
        self._constants = {
            node.name: node.attr["value"].tensor
            for node in meta_graph.graph_def.node
            if "value" in node.attr
        }
        self._functions = load_function_def_library(
            meta_graph.graph_def.library,
            new_suffix(),
            self._saved.concrete_functions,
            meta_graph.meta_info_def.stripped_op_list,
        )
        self._nodes: list[Any] = []
        self._make_nodes()
        for name, saved in sorted(self._saved.concrete_functions.items()):
            self._bind(self._functions[name], saved)
        self._restore_variables()
        self._initialize_resources()

    @property
    def root(self) -> Any:
        """The object that was saved."""
        return self._nodes[0]

    # ---- objects

    def _make_nodes(self) -> None:
        setters: list[Setter] = []
        for saved in self._saved.nodes:
            made, setter = self._made(saved)
            self._nodes.append(made)
            setters.append(setter)
        for saved, item, setter in zip(
            self._saved.nodes, self._nodes, setters, strict=True
        ):
            for child in saved.children:
                setter(item, child.local_name, self._nodes[child.node_id])
                if child.local_name == "__call__" and not callable(item):
                    type(item).__call__ = call_attribute

    def _made(self, saved: Any) -> tuple[Any, Setter]:
        """An object without children, and how it gets them."""
        kind = saved.WhichOneof("kind")
        if kind == "user_object":
            return revived(saved.user_object.identifier)
        make: Mapping[str | None, Any] = {
            "asset": self._asset,
            "function": lambda proto: recreate_function(proto, self._functions),
            "bare_concrete_function": lambda proto: setup_bare_concrete_function(
                proto, self._functions
            ),
            "variable": _variable,
            "constant": self._constant,
            "resource": lambda proto: RestoredResource(proto.device),
        }
        if kind not in make:
            raise ValueError(f"Unknown SavedObject type: {kind!r}")
        return make[kind](getattr(saved, kind)), setattr

    def _asset(self, saved: Any) -> TrackableAsset:
        file = self._meta_graph.asset_file_def[saved.asset_file_def_index]
        path = in_model(self._export_dir, constants.ASSETS_DIRECTORY, file.filename)
        return TrackableAsset(os.fsdecode(path))

    def _constant(self, saved: Any) -> Tensor:
        value = self._constants[saved.operation]
        is_text = as_dtype(value.dtype) == string
        with get_default_graph().device("CPU" if is_text else None):
            return constant(make_ndarray(value), as_dtype(value.dtype))

    # ---- functions

    def _bind(self, function: Any, saved: Any) -> None:
        """Let the last inputs of a trace be what it captured."""
        bound = [self._nodes[number] for number in saved.bound_inputs]
        graph = function.graph
        inner = graph.inputs[len(graph.inputs) - len(bound) :]
        for item, placeholder in zip(bound, inner, strict=True):
            outer = _tensor_of(item)
            graph.captures[outer] = placeholder
            graph.stands_for(placeholder, outer)
        graph.variables = [v for v in bound if isinstance(v, BaseResourceVariable)]

    def _initialize_resources(self) -> None:
        graph = get_default_graph()
        for node in self._nodes:
            if isinstance(node, CapturableResource):
                filled = node._initialize()
                if not graph.is_eager:
                    graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)

    # ---- variables

    def _restore_variables(self) -> None:
        """Restore the variables' values; in a graph, let initializers do that."""
        path = variables_path(self._export_dir)
        data = read_checkpoint(path, lambda reader: reader.read(OBJECT_GRAPH_KEY)[()])
        saved = pool.message("TrackableObjectGraph").FromString(data)
        restoration = Restoration(self.root, saved, path, SaveableCache())
        restoration.is_partial_expected = True
        if restoration.is_eager:
            return
        matches = restoration.matched()
        assert matches is not None
        cache = SaveableCache()
        for number, item in sorted(matches.by_node.items()):
            if isinstance(item, BaseResourceVariable):
                saveables = saveables_under_keys(saved.nodes[number], item, cache)
                [item._initializer_op] = restore(path, saveables)


def _variable(saved: Any) -> Any:
    return uninitialized_variable(
        shape=as_shape(saved.shape),
        dtype=as_dtype(saved.dtype),
        name=saved.name or None,
        trainable=saved.trainable,
        synchronization=saved.synchronization,
        aggregation=saved.aggregation,
    )


def _tensor_of(item: Any) -> Tensor:
    """The tensor by which a function captures an object."""
    found = item
    if isinstance(item, BaseResourceVariable):
        found = item.handle
    elif isinstance(item, TrackableAsset):
        found = item.asset_path
    elif isinstance(item, CapturableResource):
        found = item.resource_handle
    if isinstance(found, Tensor):
        return found
    raise ValueError(f"Can't convert node {type(item)} to tensor")
