"""A graph's library of functions: reading and writing a FunctionDefLibrary.

Attached to `Graph` here, since the package depends on graphs, not vice versa.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import Graph


def add_library(self: Graph, library: Any) -> None:
    """Add the functions of a FunctionDefLibrary to a graph.

    Raises:
      ValueError: the graph has another function of one of the names.
    """
    gradients = {g.function_name: g.gradient_func for g in library.gradient}
    for definition in library.function:
        name = definition.signature.name
        copy = type(definition)()
        copy.CopyFrom(definition)
        gradient = gradients.get(name)
        self.add_function(
            DefinedFunction(name, definition=copy, library=self, gradient_name=gradient)
        )


Graph.add_library = add_library  # type: ignore[method-assign]
