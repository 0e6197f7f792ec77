"""`tf.saved_model.Builder` writes SavedModels.

Source: python/saved_model/builder_impl.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import PendingFile, write_file
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.graph_def import MAX_GRAPH_BYTES
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.protos.text_format import message_text
from tfteach.framework.type_aliases import PathLike, Proto, SessionLike
from tfteach.lib.files.saver import Saver
from tfteach.lib.saved_model import constants
from tfteach.lib.saved_model.utils import in_model, variables_path


@export("saved_model.Builder", "saved_model.builder.SavedModelBuilder")
class SavedModelBuilder:
    """Writes a SavedModel: MetaGraphs with their tags, variables, and files.

    The first MetaGraph comes with the variables' values, which all share; `save` writes
    the list of MetaGraphs, without which the directory is no SavedModel.

    Args:
      export_dir: the directory; it must not exist, or be empty.

    Raises:
      AssertionError: the directory is not empty.

    Example:
      >>> builder = tf.saved_model.Builder("models/1")
      >>> signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
      >>> builder.add_meta_graph_and_variables(
      ...     session, [tf.saved_model.SERVING], {"serving_default": signature})
      >>> builder.save()

    Source: python/saved_model/builder_impl.py.
    """

    def __init__(self, export_dir: PathLike) -> None:
        self._export_dir = resolve(export_dir)
        self._saved_model = pool.message("SavedModel")(
            saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION
        )
        self._has_saved_variables = False
        if file_system.exists(self._export_dir):
            if file_system.listdir(self._export_dir):
                raise AssertionError(
                    "Export directory already exists, and isn't empty. Please choose a "
                    "different export directory, or delete all the contents of the "
                    f"specified directory: {self._export_dir}"
                )
        else:
            file_system.makedirs(self._export_dir)

    def add_meta_graph_and_variables(
        self,
        sess: SessionLike,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Proto] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph, and write the variables' values and the assets.

        Args:
          sess: a session of the graph, in which the variables are initialized.
          tags: the tags that a program loads the MetaGraph by.
          signature_def_map: a dict from names to SignatureDefs.
          assets_collection: constants, each the path of a file to copy, such as those
            of the collection `tf.GraphKeys.ASSET_FILEPATHS`.
          legacy_init_op: deprecated, see `main_op`.
          clear_devices: omit the nodes' devices.
          main_op: an Operation to run after loading; the assets' constants then are
            their paths in the loaded SavedModel.
          strip_default_attrs: omit the nodes' attributes with their default value, so
            that older programs can read them.
          saver: the Saver of the variables; if None, a sharded one of all variables.

        Raises:
          AssertionError: variables were already added, or a signature lacks tensors'
            names or types.
          KeyError: a signature has a reserved name.
          TypeError: an asset or an op has the wrong type.
          ValueError: the graph already has a `main_op`, or an asset's path is empty.
          NotFoundError: an asset does not exist.
        """
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. "
                "Please invoke `add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map or {})
        self._add_assets(assets_collection)
        _add_main_op(main_op or legacy_init_op)
        file_system.makedirs(in_model(self._export_dir, constants.VARIABLES_DIRECTORY))
        saver = saver or _saver_of_all()
        saver.save(
            sess,
            variables_path(self._export_dir),
            write_meta_graph=False,
            write_state=False,
        )
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Proto] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph, which shares the variables already written.

        For the arguments and errors see `add_meta_graph_and_variables`, which comes
        first.

        Raises:
          AssertionError: no variables were added yet.
        """
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. "
                "Please invoke `add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map or {})
        self._add_assets(assets_collection)
        _add_main_op(main_op or legacy_init_op)
        saver = saver or _saver_of_all()
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Write the MetaGraphs; until then the directory is no SavedModel.

        Args:
          as_text: write protobuf's text format, to be read by people, instead of the
            binary one.

        Returns:
          The file's path, as bytes, as in TF.

        Raises:
          ValueError: they take more than protobuf's 2 GB.
        """
        if self._saved_model.ByteSize() >= MAX_GRAPH_BYTES:
            raise ValueError(
                "A SavedModel cannot be larger than 2GB: keep large arrays in "
                "variables, not in constants"
            )
        file_system.makedirs(self._export_dir)
        name = (
            constants.SAVED_MODEL_FILENAME_PBTXT
            if as_text
            else constants.SAVED_MODEL_FILENAME_PB
        )
        path = in_model(self._export_dir, name)
        data = (
            message_text(self._saved_model).encode()
            if as_text
            else self._saved_model.SerializeToString()
        )
        write_file(path, data)
        get_logger().info("SavedModel written to: %s", path)
        return os.fsencode(path)

    # ---- parts

    def _add(
        self,
        saver: Saver,
        tags: Iterable[str],
        signatures: Mapping[str, Proto] | None,
        clear_devices: bool,
        strip_default_attrs: bool,
    ) -> None:
        exported: Any = saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        exported.meta_info_def.tags.extend(tags)
        for name, signature in (signatures or {}).items():
            target = exported.signature_def[name]
            target.MergeFromString(signature.SerializeToString())
        self._saved_model.meta_graphs.add().MergeFrom(exported)

    def _add_assets(self, tensors: Iterable[Tensor] | None) -> None:
        """Copy files, and list them in a collection of the graph."""
        sources: dict[str, str] = {}
        for tensor in tensors or ():
            path = _asset_path(tensor)
            if not path:
                raise ValueError(f"Invalid asset filepath tensor {tensor}")
            name = unused_asset_name(path, sources)
            sources[name] = path
            _list_asset(name, tensor)
        added = "No assets to add to" if tensors is None else "Assets added to"
        get_logger().info("%s graph.", added)
        if not sources:
            get_logger().info("No assets to write.")
            return
        copy_assets(sources, self._export_dir)


def _saver_of_all() -> Saver:
    graph = get_default_graph()
    keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS
    found = [item for key in keys for item in graph.get_collection(key)]
    return Saver(found, sharded=True, allow_empty=True)


def _check_signatures(signatures: Mapping[str, Any]) -> None:
    for signature in signatures.values():
        for infos in (signature.inputs, signature.outputs):
            for name in infos:
                _check_tensor_info(infos[name])
    for key, what in (
        (constants.INIT_OP_SIGNATURE_KEY, "initialization"),
        (constants.TRAIN_OP_SIGNATURE_KEY, "the train op"),
    ):
        if key in signatures:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {what}. Please use a '
                "different key."
            )


def _check_tensor_info(info: Any) -> None:
    prefix = "All TensorInfo protos used in the SignatureDefs must have"
    if info.WhichOneof("encoding") is None:
        raise AssertionError(
            f"{prefix} one of the 'encoding' fields (e.g., name or coo_sparse) set: "
            f"{info}"
        )
    if info.WhichOneof("encoding") == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_tensor_info(component)
    elif not info.dtype:
        raise AssertionError(f"{prefix} the dtype field set: {info}")


def _add_main_op(main_op: Any) -> None:
    if main_op is None:
        return
    if not isinstance(main_op, Operation):
        raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
    graph = get_default_graph()
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if graph.get_collection(key):
            raise ValueError(
                "Graph already contains one or more main ops under the collection "
                f"{key}."
            )
    graph.add_to_collection(constants.MAIN_OP_KEY, main_op)


# ---- assets


def _asset_path(tensor: Any) -> str:
    """The path that a constant holds.

    Raises:
      TypeError: it is no constant scalar of type string.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if not tensor.op.spec.holds_value:
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != string:
        raise TypeError("Asset path tensor must be of dtype string.")
    values = tensor.op.spec.constant.reshape(-1)
    if len(values) != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    return os.fsdecode(values[0])


def unused_asset_name(path: str, sources: dict[str, str]) -> str:
    """A file name in the assets' directory; equal files share one."""
    first = name = os.path.basename(path)
    other = sources.get(name)
    if other in (None, path):
        return name
    assert other is not None
    if _content(path) == _content(other):
        return name
    number = 1
    while name in sources:
        name = f"{first}_{number}"
        number += 1
    return name


def _list_asset(name: str, tensor: Tensor) -> None:
    from google.protobuf.any_pb2 import Any as AnyMessage

    asset = pool.proto_module("meta_graph").AssetFileDef(filename=name)
    asset.tensor_info.name = tensor.name
    packed = AnyMessage()
    packed.Pack(asset)
    get_default_graph().add_to_collection(constants.ASSETS_KEY, packed)


def _content(path: str) -> bytes:
    with file_system.open_file(resolve(path), "rb") as file:
        return file.read()


def copy_assets(sources: Mapping[str, str], export_dir: PathLike) -> None:
    """Copy files into a SavedModel.

    Args:
      sources: their paths by their names there.
      export_dir: the SavedModel's directory.
    """
    folder = in_model(export_dir, constants.ASSETS_DIRECTORY)
    file_system.makedirs(folder)
    for name, source in sources.items():
        target = os.path.join(folder, name)
        if not file_system.exists(target):  # of an earlier MetaGraph
            _copy(source, target)
    get_logger().info("Assets written to: %s", folder)


def _copy(source: str, target: str) -> None:
    with (
        file_system.open_file(resolve(source), "rb") as file,
        PendingFile(target) as pending,
    ):
        while data := file.read(1 << 20):
            pending.write(data)
