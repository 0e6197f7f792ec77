"""What a graph knows of the functions in its library, and of the sessions that run it.

Both are defined in rooms that import the graph: these are their interfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tfteach.framework.shape import Shape

if TYPE_CHECKING:
    from tfteach.framework.function_attribute import Function
    from tfteach.framework.functions.body import Body
    from tfteach.framework.graph import Graph
    from tfteach.framework.op import Op
    from tfteach.framework.operation import Operation


class Planner(Protocol):
    """A session, which caches plans for parts of a graph."""

    def graph_grew(self, op: Operation) -> None:
        """A new operation may invalidate cached plans."""


class GraphFunction(Protocol):
    """A function of a graph's library (framework/functions/defined_function.py)."""

    @property
    def name(self) -> str: ...
    @property
    def definition(self) -> Any:
        """The FunctionDef."""

    @property
    def gradient_name(self) -> str | None:
        """The library's function that computes the gradient, if it has one."""

    @property
    def keeps_calls(self) -> bool:
        """Whether calls are nodes of the step, instead of the body's ops."""

    @property
    def gradient_bodies(self) -> dict[Function, Body]:
        """The bodies of its gradients, as they are built."""

    def needs(self) -> list[GraphFunction]:
        """The functions that its body calls, and its gradient."""

    def call_class(self) -> type[Op]:
        """The op type of nodes that call the function by its name."""

    def output_shapes(
        self, outer: Graph, function: Function, shapes: Sequence[Shape]
    ) -> Sequence[Shape] | None:
        """The static shapes of a call's results, given those of its arguments."""

    def body(self, function: Function) -> Body:
        """The body for a function attribute's values."""
