"""`tf.saved_model.simple_save`.  Source: python/saved_model/simple_save.py."""

from __future__ import annotations

from collections.abc import Mapping

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import PathLike, SessionLike, TensorLike
from tfteach.lib.saved_model import signature_constants, tag_constants
from tfteach.lib.saved_model.builder import SavedModelBuilder
from tfteach.lib.saved_model.signature_def_utils import predict_signature_def


@export("saved_model.simple_save")
def simple_save(
    session: SessionLike,
    export_dir: PathLike,
    inputs: Mapping[str, TensorLike],
    outputs: Mapping[str, TensorLike],
    legacy_init_op: Operation | None = None,
) -> None:
    """Write a SavedModel with one signature, "serving_default", tagged "serve".

    Args:
      session: a session of the default graph, which holds the variables.
      export_dir: the directory; it must not exist, or be empty.
      inputs: a dict from names to Tensors.
      outputs: likewise.
      legacy_init_op: an Operation to run after the variables are restored, such as
        `tf.tables_initializer()`.

    Raises:
      AssertionError: the directory is not empty.
      ValueError: `inputs` or `outputs` is empty.

    Example:
      >>> tf.saved_model.simple_save(session, "models/1", {"x": x}, {"y": y})

    Source: python/saved_model/simple_save.py.
    """
    key = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[tag_constants.SERVING],
        signature_def_map={key: predict_signature_def(inputs, outputs)},
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
