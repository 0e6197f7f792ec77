"""GraphDefs written to files.  Source: python/framework/graph_io.py."""

from __future__ import annotations

import os
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.protos.text_format import message_text
from tfteach.framework.type_aliases import PathLike


@export("train.write_graph", "io.write_graph")
def write_graph(
    graph_or_graph_def: Any, logdir: PathLike, name: str, as_text: bool = True
) -> str:
    """Write a graph to a file.

    Args:
      graph_or_graph_def: a Graph or a GraphDef proto.
      logdir: the directory; created if missing.
      name: the file's name.
      as_text: whether to write protobuf's text format; otherwise binary.

    Returns:
      The file's path.

    Example:
      >>> tf.train.write_graph(session.graph, "models", "graph.pbtxt")

    Source: python/framework/graph_io.py.
    """
    graph_def = (
        graph_or_graph_def.as_graph_def()
        if isinstance(graph_or_graph_def, Graph)
        else graph_or_graph_def
    )
    directory = os.fspath(logdir)
    if directory:
        os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, name)
    data = (
        message_text(graph_def).encode() if as_text else graph_def.SerializeToString()
    )
    write_file(path, data)
    return path


def write_file(path: str, data: bytes) -> None:
    """Write a file atomically: readers never see a partial file."""
    scratch = f"{path}.tmp{os.getpid()}"
    try:
        with open(scratch, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except BaseException:
        if os.path.exists(scratch):
            os.unlink(scratch)
        raise
