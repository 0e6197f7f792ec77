"""`Graph.as_graph_def`, `Operation.node_def` etc., attached to those classes here.

The graphdef package depends on graphs and operations, not vice versa.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tfteach.framework.graph import Graph
from tfteach.framework.graphdef import create_op as by_name
from tfteach.framework.graphdef import graph_def
from tfteach.framework.graphdef import op_def as definitions
from tfteach.framework.operation import Operation, Tensor

_F = TypeVar("_F", bound=Callable[..., Any])


def _method_of(cls: type, is_property: bool = False) -> Callable[[_F], _F]:
    """Decorator: attach a function to `cls` as a method or property."""

    def attach(function: _F) -> _F:
        name = function.__name__
        function.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, property(function) if is_property else function)
        return function

    return attach


@_method_of(Operation, is_property=True)
def node_def(self: Operation) -> Any:
    """This node as a NodeDef proto."""
    return graph_def.node_def(self)


@_method_of(Operation, is_property=True)
def op_def(self: Operation) -> Any:
    """The OpDef proto of this node's type."""
    return definitions.op_def(type(self.spec))


@_method_of(Operation)
def get_attr(self: Operation, name: str) -> Any:
    """An attribute's value: bytes for strings, DType for types.

    Raises:
      TypeError: `name` is not a string.
      ValueError: the attribute does not exist.
    """
    if not isinstance(name, str | bytes):
        raise TypeError(f"get_attr takes an attribute's name, a str, got {name!r}")
    return graph_def.attribute(self, name)


@_method_of(Operation)
def _set_attr(self: Operation, name: str, value: Any) -> None:
    """Set an attribute to a Python value or an AttrValue proto."""
    graph_def.set_attribute(self, name, value)


@_method_of(Graph, is_property=True)
def graph_def_versions(self: Graph) -> Any:
    """The VersionDef of exported GraphDefs."""
    return graph_def.versions()


@_method_of(Graph)
def as_graph_def(
    self: Graph, from_version: int | None = None, add_shapes: bool = False
) -> Any:
    """This graph as a GraphDef proto.

    Args:
      from_version: ignored, as in TF 1.15: all operations are written.
      add_shapes: add an `_output_shapes` attribute to each node.
    """
    return graph_def.as_graph_def(self, add_shapes)


@_method_of(Graph)
def _node_of_type(
    self: Graph,
    op_type: str,
    inputs: Iterable[Tensor],
    name: str | None,
    attrs: dict[str, Any] | None,
) -> Operation:
    """See `Graph.create_op`."""
    return by_name.create_op(self, op_type, inputs, name, attrs)
