"""Which ops a graph from another process may use in this one.

A graph is a program: `tf.py_func` calls functions of the process that runs it, and
other ops read and write its files.  Clients on this machine may do what its user may;
those of other machines only what the environment variable TFTEACH_SERVER_ALLOWS names:
"files", "py_func" or both.
"""

from __future__ import annotations

import os

from tfteach.framework import errors
from tfteach.framework.op import find_op
from tfteach.framework.type_aliases import Proto
from tfteach.lib.distributed_runtime.service import Call

VARIABLE = "TFTEACH_SERVER_ALLOWS"


def check_graph(graph_def: Proto, call: Call) -> None:
    """Refuse nodes that clients on other machines may not run.

    Raises:
      PermissionDeniedError: there is one.
    """
    if not call.peer or call.is_local:
        return
    allowed = os.environ.get(VARIABLE, "").replace(",", " ").split()
    nodes = [*graph_def.node]
    for function in graph_def.library.function:
        nodes += function.node_def
    for node in nodes:
        wanted = _wanted(node.op)
        if wanted is not None and wanted not in allowed:
            raise errors.PermissionDeniedError(
                None,
                None,
                f"{{{{node {node.name}}}}} ({node.op}) comes from another machine, "
                f"whose graphs may not use {wanted} here. Start the server with "
                f"{VARIABLE}={wanted} to allow it.",
            )


def _wanted(op_type: str) -> str | None:
    """The permission that an op type requires; None if it requires none."""
    cls = find_op(op_type)
    if cls is None:
        return None
    if cls.calls_python:
        return "py_func"
    return "files" if cls.uses_files else None
