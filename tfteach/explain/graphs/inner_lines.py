"""The lines of ops inside functions of a graph, which the drawn graph does not have."""

from __future__ import annotations

from typing import Any

from tfteach.explain.graphs.function_bodies import function_scopes
from tfteach.framework.call_origin import SourceLine
from tfteach.framework.graph import Graph


def inner_lines(graph: Graph) -> dict[str, SourceLine]:
    """The line of each op of the functions in a graph's library.

    Args:
      graph: the graph.

    Returns:
      A dict from the ops' names where `with_function_bodies` draws them; of a function
      that is called in several places, the first one.
    """
    if not graph.functions:
        return {}
    scopes = function_scopes(graph.as_graph_def())
    found: dict[str, SourceLine] = {}
    for name, prefix in scopes.items():
        body: Any = getattr(graph.functions.get(name), "graph", None)
        if body is not None:
            found |= lines_of(body, prefix)
    return found


def lines_of(body: Graph, prefix: str) -> dict[str, SourceLine]:
    """The line of each op of a function.

    Args:
      body: the function's graph.
      prefix: of the ops' names in the drawing.
    """
    return {
        prefix + op.name: op.source for op in body.operations if op.source is not None
    }
