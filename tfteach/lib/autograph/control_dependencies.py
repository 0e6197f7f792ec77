"""`OrderedEffects`: ops with effects run in the order of the code, before its results.

Source: python/framework/auto_control_deps.py (API).
"""

from __future__ import annotations

from typing import Any, Self

from tfteach.control.automatic_control import in_order
from tfteach.framework.graph import get_default_graph
from tfteach.ops.core.identity_reshape import identity


class OrderedEffects:
    """A context manager around code that adds ops to a graph.

    Where ops run at once, it does nothing.
    """

    def __init__(self) -> None:
        self._returned: list[Any] = []

    def __enter__(self) -> Self:
        self._graph = get_default_graph()
        self._start = 0 if self._graph.is_eager else len(self._graph.operations)
        return self

    def mark_as_return(self, tensor: Any) -> Any:
        """The tensor, after all effects of the block."""
        if self._graph.is_eager:
            return tensor
        self._returned.append(identity(tensor))
        return self._returned[-1]

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None or self._graph.is_eager:
            return
        effects = in_order(self._graph, self._start)
        for tensor in self._returned:
            op = tensor.op
            if op.graph is self._graph:  # else it is returned by a branch
                new = [e for e in effects if e not in op.control_inputs]
                op.control_inputs = [*op.control_inputs, *new]
