"""GraphDefs and other messages in files.  Source: python/framework/graph_io.py."""

from __future__ import annotations

import os
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.graph_def import MAX_GRAPH_BYTES
from tfteach.framework.protos.text_format import message_text
from tfteach.framework.type_aliases import PathLike, Proto


@export("train.write_graph", "io.write_graph")
def write_graph(
    graph_or_graph_def: Graph | Proto, logdir: PathLike, name: str, as_text: bool = True
) -> str:
    """Write a graph to a file.

    Args:
      graph_or_graph_def: a Graph, or a GraphDef or another proto.
      logdir: the directory; created if missing.
      name: the file's name.
      as_text: whether to write protobuf's text format; otherwise binary.

    Returns:
      The file's path.

    Raises:
      ValueError: the graph is larger than protobuf's 2 GB.

    Example:
      >>> tf.train.write_graph(session.graph, "models", "graph.pbtxt")

    Source: python/framework/graph_io.py.
    """
    graph_def = (
        graph_or_graph_def.as_graph_def()
        if isinstance(graph_or_graph_def, Graph)
        else graph_or_graph_def
    )
    directory = resolve(logdir)
    if directory:
        file_system.makedirs(directory)
    path = os.path.join(directory, name)
    data = (
        message_text(graph_def).encode() if as_text else graph_def.SerializeToString()
    )
    write_file(path, data)
    return path


def read_message(path: PathLike, message: Any, as_text: bool | None = None) -> Any:
    """The protocol message of a file.

    Args:
      path: the file.
      message: the message's class.
      as_text: whether the file is in protobuf's text format; None to try both.

    Raises:
      OSError: the file does not exist, or holds no such message.
    """
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    name = resolve(path)
    if not file_system.exists(name) or file_system.isdir(name):
        raise OSError(f"File {name} does not exist.")
    size = file_system.stat(name).length
    if size >= MAX_GRAPH_BYTES:
        raise OSError(
            f"Cannot parse file {name}: it has {size / 1e9:.1f} GB, and a "
            f"{message.DESCRIPTOR.name} at most 2 GB. Keep large arrays in variables "
            "and checkpoints, not in constants."
        )
    with file_system.open_file(name, "rb") as file:
        data = file.read()
    if not as_text:
        try:
            return message.FromString(data)
        except DecodeError as error:
            if as_text is False:
                raise OSError(f"Cannot parse file {name}: {error}.") from None
    try:
        return text_format.Parse(data.decode("utf-8"), message())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {name}: {error}.") from None
