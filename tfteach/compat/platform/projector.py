"""`tf.contrib.tensorboard.plugins.projector`: settings of TensorBoard's projector.

Source: contrib/tensorboard/plugins/projector/__init__.py (API and file name).
"""

from __future__ import annotations

import os
from typing import Any

from tfteach.compat.platform.gfile_io import GFile
from tfteach.compat.platform.text import path_to_str
from tfteach.framework.export import export, export_value
from tfteach.framework.lazy_names import lazy_getattr
from tfteach.framework.protos import pool

_PLACE = "contrib.tensorboard.plugins.projector"
_MESSAGES = ("ProjectorConfig", "EmbeddingInfo", "SpriteMetadata")


@export(f"{_PLACE}.visualize_embeddings")
def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Write `projector_config.pbtxt` next to the event files, for TensorBoard.

    Args:
      summary_writer: a `tf.summary.FileWriter`, or a folder.
      config: a `projector.ProjectorConfig`: the embeddings, by the names of their
        variables, and the files that label them.

    Raises:
      ValueError: the writer has no folder.

    Example:
      >>> config = projector.ProjectorConfig()
      >>> config.embeddings.add(tensor_name="embedding", metadata_path="words.tsv")
      >>> projector.visualize_embeddings(tf.summary.FileWriter("logs"), config)
    """
    from google.protobuf import text_format

    if isinstance(summary_writer, (str, os.PathLike)):
        folder = path_to_str(summary_writer)
    else:
        folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    path = os.path.join(os.fsdecode(folder), "projector_config.pbtxt")
    with GFile(path, "w") as file:
        file.write(text_format.MessageToString(config))


def _find(name: str) -> Any:
    return pool.message(name) if name in _MESSAGES else None


_of_projector = lazy_getattr(f"tfteach.api.{_PLACE}", _find)
export_value(__name__, _of_projector=f"{_PLACE}.__getattr__")
