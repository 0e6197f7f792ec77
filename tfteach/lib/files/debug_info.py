"""The lines of the program that created a graph's nodes, as a file beside the graph.

Source: core/protobuf/graph_debug_info.proto, python/framework/error_interpolation.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from tfteach.framework.operation import Operation
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Proto

EXTENSION = ".debug"


def debug_info_path(path: str) -> str:
    """The file that belongs to the file of a graph: `model.debug` to `model.meta`."""
    return os.path.splitext(path)[0] + EXTENSION


def graph_debug_info(operations: Iterable[Operation]) -> Proto:
    """A GraphDebugInfo proto with the user's line of each operation.

    Where TensorFlow writes up to ten frames, most of them its own, there is that line
    alone; none for a node that was not created by a line of the program.
    """
    found = pool.message("GraphDebugInfo")()
    files: dict[str, int] = {}
    for op in operations:
        trace = found.traces[op.name]
        for file, line, *_ in op.traceback:
            index = files.setdefault(file, len(files))
            trace.file_line_cols.add(file_index=index, line=line)
    found.files.extend(files)
    return found
