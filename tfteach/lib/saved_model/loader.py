"""`tf.saved_model.load` reads SavedModels.

Source: python/saved_model/loader_impl.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.meta_graph import prepended
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, Proto, SessionLike
from tfteach.lib.files.graph_io import read_message
from tfteach.lib.files.meta_graph import import_with_elements
from tfteach.lib.files.saver import Saver
from tfteach.lib.saved_model import constants
from tfteach.lib.saved_model.signature_def_utils import element_of_signature
from tfteach.lib.saved_model.utils import in_model, variables_path


def parse_saved_model(export_dir: PathLike) -> Proto:
    """The SavedModel proto of a directory.

    Raises:
      OSError: it has no such file, or the file is damaged.
    """
    message = pool.message("SavedModel")
    for name, as_text in (
        (constants.SAVED_MODEL_FILENAME_PB, False),
        (constants.SAVED_MODEL_FILENAME_PBTXT, True),
    ):
        path = in_model(export_dir, name)
        if file_system.exists(path):
            return read_message(path, message, as_text)
    raise OSError(
        f"SavedModel file does not exist at: {in_model(export_dir)}/"
        f"{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
        f"{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


@export(
    "saved_model.contains_saved_model",
    "saved_model.maybe_saved_model_directory",
    "saved_model.loader.maybe_saved_model_directory",
    v2="saved_model.contains_saved_model",
)
def maybe_saved_model_directory(export_dir: PathLike) -> bool:
    """Whether a directory has the file of a SavedModel; the file is not read.

    Args:
      export_dir: the directory.

    Example:
      >>> tf.saved_model.maybe_saved_model_directory("no/such/place")
      False

    Source: python/saved_model/loader_impl.py.
    """
    names = constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB
    return any(file_system.exists(in_model(export_dir, name)) for name in names)


def get_asset_tensors(
    export_dir: PathLike, meta_graph_def_to_load: Proto, import_scope: str | None = None
) -> dict[str, str]:
    """The paths of a SavedModel's assets, by the names of their Tensors."""
    meta_graph: Any = meta_graph_def_to_load
    assets = list(meta_graph.asset_file_def)
    if not assets and constants.ASSETS_KEY in meta_graph.collection_def:
        message = pool.proto_module("meta_graph").AssetFileDef
        packed = meta_graph.collection_def[constants.ASSETS_KEY].any_list.value
        assets = [message.FromString(item.value) for item in packed]
    return {
        prepended(asset.tensor_info.name, import_scope): in_model(
            export_dir, constants.ASSETS_DIRECTORY, asset.filename
        )
        for asset in assets
    }


def get_init_op(
    meta_graph_def: Proto, import_scope: str | None = None
) -> Operation | None:
    """The operation to run after loading, in the default graph, or None."""
    keys = constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY
    found: Operation | None = _find_op(
        meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, keys, import_scope
    )
    return found


def get_train_op(
    meta_graph_def: Proto, import_scope: str | None = None
) -> Operation | Tensor | None:
    """The operation or Tensor of a training step, in the default graph, or None."""
    keys = (constants.TRAIN_OP_KEY,)
    found: Operation | Tensor | None = _find_op(
        meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, keys, import_scope
    )
    return found


def _find_op(
    meta_graph_def: Any, signature: str, keys: Iterable[str], scope: str | None
) -> Any:
    if signature in meta_graph_def.signature_def:
        found = meta_graph_def.signature_def[signature]
        return element_of_signature(found, signature, scope)
    for key in keys:
        if key in meta_graph_def.collection_def:
            names = list(meta_graph_def.collection_def[key].node_list.value)
            if len(names) != 1:
                raise RuntimeError(
                    f"Expected exactly one SavedModel init op. Found: {names}"
                )
            return get_default_graph().as_graph_element(prepended(names[0], scope))
    return None


@export("saved_model.load", "saved_model.loader.load")
def load(
    sess: SessionLike,
    tags: Iterable[str],
    export_dir: PathLike,
    import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Proto:
    """Load a SavedModel into a session: its graph, the variables' values, the assets.

    Args:
      sess: a session; its graph gets the nodes.
      tags: the tags of the MetaGraph, all of them, such as `["serve"]`.
      export_dir: the SavedModel's directory.
      import_scope: a name scope for the nodes.
      **saver_kwargs: further arguments of `tf.train.import_meta_graph`.

    Returns:
      The MetaGraphDef, which has the signatures; its names lack `import_scope`.

    Raises:
      OSError: the directory has no SavedModel, or its file is damaged.
      RuntimeError: no MetaGraph has these tags.
      ValueError: the variables' checkpoint does not exist.

    Example:
      >>> with tf.Session() as session:
      ...     meta_graph = tf.saved_model.load(session, ["serve"], "models/1")
      ...     signature = meta_graph.signature_def["serving_default"]
      ...     x, y = signature.inputs["x"].name, signature.outputs["y"].name
      ...     result = session.run(y, {x: 3.0})

    Source: python/saved_model/loader_impl.py.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """Loads the MetaGraphs of one SavedModel.

    Args:
      export_dir: the directory.

    Raises:
      OSError: it has no SavedModel, or its file is damaged.
    """

    def __init__(self, export_dir: PathLike) -> None:
        self._export_dir = export_dir
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> PathLike:
        """The directory."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The prefix of the variables' checkpoint."""
        return variables_path(self._export_dir)

    @property
    def saved_model(self) -> Proto:
        """The SavedModel proto."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> Proto:
        """The MetaGraphDef with exactly these tags.

        Raises:
          RuntimeError: there is none.
        """
        wanted = set(tags)
        available = []
        for meta_graph in self._saved_model.meta_graphs:
            available.append(set(meta_graph.meta_info_def.tags))
            if available[-1] == wanted:
                return meta_graph
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be "
            f"found in SavedModel. \navailable_tags: {available}"
        )

    def load_graph(
        self,
        graph: Graph,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> tuple[Saver | None, Any]:
        """Add a MetaGraph's nodes to a graph.

        Returns:
          The Saver of its variables or None, and the `return_elements` asked for.

        Raises:
          RuntimeError: no MetaGraph has these tags.
        """
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            found = import_with_elements(
                meta_graph, import_scope=import_scope, **saver_kwargs
            )
        return found.saver, found.elements

    def restore_variables(
        self, sess: SessionLike, saver: Saver | None, import_scope: str | None = None
    ) -> None:
        """Restore the variables' values.

        Raises:
          ValueError: `saver` is None, and the graph has variables in that scope.
        """
        with sess.graph.as_default() as graph:
            if saver is not None:
                saver.restore(sess, self.variables_path)
                return
            keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS
            if any(graph.get_collection(key, import_scope) for key in keys):
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "SavedModelLoader.restore_variables. Since there are variables in "
                    "the graph, a saver is required."
                )
            get_logger().info(
                "The specified SavedModel has no variables; no checkpoints were "
                "restored."
            )

    def run_init_ops(
        self, sess: SessionLike, tags: Iterable[str], import_scope: str | None = None
    ) -> None:
        """Run the operation that initializes tables and the like, with the assets.

        Raises:
          NotFoundError: an asset that it needs does not exist.
        """
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            assets = get_asset_tensors(self._export_dir, meta_graph, import_scope)
            init_op = get_init_op(meta_graph, import_scope)
            if init_op is None:
                return
            try:
                sess.run([init_op], assets)
            except NotFoundError as error:
                missing = sorted(
                    p for p in assets.values() if not file_system.exists(p)
                )
                if missing:
                    error.add_note(f"The SavedModel lacks its asset {missing[0]}")
                raise

    def load(
        self,
        sess: SessionLike,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> Proto:
        """Load a MetaGraph into a session; see `tf.saved_model.load`."""
        tags = list(tags)
        with sess.graph.as_default() as graph:
            saver, _ = self.load_graph(graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)
