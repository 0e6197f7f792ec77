"""SavedModels of TensorFlow 1's API as objects: their signatures become functions.

Source: python/saved_model/load_v1_in_v2.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.dtypes import resource
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.trackable import CapturableResource
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.files.meta_graph import import_with_elements
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.trackable import AutoTrackable, TrackableAsset
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.lift_to_graph import UnliftableError
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.lib.saved_model.function_library import (
    fix_node_def,
    load_function_def_library,
    new_suffix,
)
from tfteach.lib.saved_model.loader import (
    SavedModelLoader,
    get_asset_tensors,
    get_init_op,
)
from tfteach.lib.saved_model.signature_functions import create_signature_map
from tfteach.lib.saved_model.wrap_function import (
    WrappedFunction,
    wrap_function,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.collections import local_variables_initializer


class Initializer(CapturableResource):
    """The initialization of a loaded graph, which is saved with it again.

    Args:
      init_fn: a function of the paths of the assets.
      asset_paths: the assets.
    """

    def __init__(
        self, init_fn: ConcreteFunction, asset_paths: Sequence[TrackableAsset]
    ) -> None:
        super().__init__()
        self._init_fn, self._asset_paths = init_fn, asset_paths

    def _create_resource(self) -> Any:
        return placeholder(resource, [], "unused_resource")

    def _initialize(self) -> Any:
        return self._init_fn(*[asset.asset_path for asset in self._asset_paths])


def load_graph_as_object(export_dir: PathLike, tags: Any) -> Any:
    """A MetaGraph of a SavedModel as an object.

    Args:
      export_dir: the SavedModel's directory.
      tags: those of the MetaGraph; None if there is only one.

    Raises:
      ValueError: there are several, and `tags` is None.
    """
    loader = SavedModelLoader(export_dir)
    return _Loaded(loader, _meta_graph(loader, tags)).root()


def _meta_graph(loader: SavedModelLoader, tags: Any) -> Any:
    if tags is not None:
        return loader.get_meta_graph_def_from_tags(tags)
    meta_graphs = loader.saved_model.meta_graphs
    if len(meta_graphs) != 1:
        tag_sets = [list(m.meta_info_def.tags) for m in meta_graphs]
        raise ValueError(
            "Importing a SavedModel with tf.saved_model.load requires a 'tags=' "
            "argument if there is more than one MetaGraph. Got 'tags=None', but there "
            f"are {len(meta_graphs)} MetaGraphs in the SavedModel with tag sets "
            f"{tag_sets}. Pass a 'tags=' argument to load this SavedModel."
        )
    return meta_graphs[0]


class _Loaded:
    """A MetaGraph as a function, and its parts.

    Args:
      loader: of the SavedModel.
      meta_graph: the MetaGraphDef.
    """

    def __init__(self, loader: SavedModelLoader, meta_graph: Any) -> None:
        self._loader = loader
        copy = type(meta_graph)()
        copy.CopyFrom(meta_graph)
        self._meta_graph = copy
        self._saver: Saver | None = None
        suffix = new_suffix()
        producer = copy.meta_info_def.stripped_op_list
        library = copy.graph_def.library
        functions = load_function_def_library(library, suffix, {}, producer)
        library.Clear()
        for node in copy.graph_def.node:
            fix_node_def(node, functions, suffix)
        self._functions = functions
        self._wrapped: WrappedFunction = wrap_function(self._import, [])

    def _import(self) -> None:
        for function in self._functions.values():
            function.add_to_graph()
        self._saver = import_with_elements(self._meta_graph).saver

    def root(self) -> Any:
        """The object."""
        wrapped = self._wrapped
        self._restore_variables()
        root: Any = AutoTrackable()
        root.initializer = self._initialized()
        root.asset_paths = root.initializer._asset_paths
        root.signatures = create_signature_map(self._signatures())
        root.variables = list(wrapped.graph.variables)
        info = self._meta_graph.meta_info_def
        root.tensorflow_version = info.tensorflow_version
        root.tensorflow_git_version = info.tensorflow_git_version
        root.graph = wrapped.graph
        root.prune = wrapped.prune
        return root

    def _restore_variables(self) -> None:
        """Restore the variables; in a graph, when they are initialized."""
        if self._saver is None:
            return
        saver_def: Any = self._saver.saver_def
        path = saver_def.filename_tensor_name
        restore = self._wrapped.prune([path], [path, saver_def.restore_op_name])
        restored, _ = restore(constant(self._loader.variables_path))
        outer = get_default_graph()
        if outer.is_eager:
            return
        outer.add_to_collection(GraphKeys.TABLE_INITIALIZERS, restored)
        graph = self._wrapped.graph
        for variable in graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES):
            variable._initializer_op = restored
            if variable.graph is graph:
                get_logger().warning(
                    "Some variables could not be lifted out of a loaded function. Run "
                    "the tf.initializers.tables_initializer() operation to restore "
                    "these variables."
                )

    def _initialized(self) -> Initializer:
        """Initialize the tables; in a graph, let their initializer do so."""
        graph = self._wrapped.graph
        with graph.as_default():
            init_op = get_init_op(self._meta_graph)
            if init_op is None:
                init_op = group(local_variables_initializer(), tables_initializer())
            fetched = constant(0.0, name="dummy_fetch")
        assets = get_asset_tensors(self._loader.export_dir, self._meta_graph)
        paths = [TrackableAsset(path) for path in assets.values()]
        init_fn = self._wrapped.prune(list(assets), [fetched, init_op])
        initializer = Initializer(init_fn, paths)
        done, _ = initializer._initialize()
        outer = get_default_graph()
        if not outer.is_eager:
            outer.add_to_collection(GraphKeys.TABLE_INITIALIZERS, done)
            for variable in graph.get_collection_ref(GraphKeys.LOCAL_VARIABLES):
                variable._initializer_op = done
        return initializer

    def _signatures(self) -> dict[str, WrappedFunction]:
        found = self._meta_graph.signature_def
        return {key: self._signature(key, found[key]) for key in sorted(found)}

    def _signature(self, key: str, signature: Any) -> WrappedFunction:
        inputs: Mapping[str, Any] = signature.inputs
        names = sorted(inputs)
        feeds = [inputs[name].name for name in names]
        try:
            made = self._wrapped.prune(feeds, dict(sorted(signature.outputs.items())))
        except UnliftableError as error:
            raise UnliftableError(
                "A SavedModel signature needs an input for each placeholder the "
                f"signature's outputs use. An output for signature '{key}' depends on "
                "a placeholder which is not an input (i.e. the placeholder is not fed "
                f"a value).\n\n{error}"
            ) from None
        made._arg_keywords = names
        # In a SignatureDef the arguments have no order: one can be passed by position.
        made._num_positional_args = 1 if len(names) == 1 else 0
        return made
