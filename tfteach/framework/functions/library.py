"""A graph's library of functions: reading and writing a FunctionDefLibrary.

Attached to `Graph` here, since the package depends on graphs, not vice versa.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import Graph


def add_library(self: Graph, library: Any, producer_op_list: Any = None) -> None:
    """Add the functions of a FunctionDefLibrary to a graph.

    Args:
      library: the FunctionDefLibrary.
      producer_op_list: an OpList of the program that wrote it, or None.

    Raises:
      ValueError: the graph has another function of one of the names.
    """
    gradients = {g.function_name: g.gradient_func for g in library.gradient}
    for definition in library.function:
        name = definition.signature.name
        copy = type(definition)()
        copy.CopyFrom(definition)
        gradient = gradients.get(name)
        made = DefinedFunction(
            name, definition=copy, library=self, gradient_name=gradient
        )
        made.producer_op_list = producer_op_list
        self.add_function(made)


def _is_function(self: Graph, name: str) -> bool:
    """Whether the library has a function of that name."""
    return name in self.functions


def _get_function(self: Graph, name: str) -> Any:
    """The function of that name, or None."""
    return self.functions.get(name)


def _functions(self: Graph) -> dict[str, Any]:
    """The functions of the library by name, TensorFlow's internal attribute."""
    return dict(self.functions)


for _method in (add_library, _is_function, _get_function):
    setattr(Graph, _method.__name__, _method)
setattr(Graph, "_functions", property(_functions))  # noqa: B010
setattr(Graph, "_add_function", Graph.add_function)  # noqa: B010
