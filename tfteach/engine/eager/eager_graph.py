"""`EagerGraph`: what ops are added to in an eager program: nothing, they run at once.

It has a graph's scopes and its library of functions, and never holds a node.
Source: python/eager/context.py, python/framework/ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.engine.eager.eager_scopes import EagerScopes
from tfteach.engine.eager.execute import execute
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation


class EagerGraph(EagerScopes):
    """The default graph of an eager program; see `EagerScopes`."""

    def execute(self, op: Op, values: tuple[Any, ...], name: str | None) -> Any:
        """Run an op at once.

        Args:
          op: the op.
          values: one per input of its signature; converted to tensors.
          name: for messages; or None.

        Returns:
          The output, a list of them, or None if the op has none.

        Raises:
          OpError: the kernel failed.
        """
        return execute(self, op, values, name)

    def append(self, op: Operation, announce: bool = True) -> None:
        raise RuntimeError(f"Cannot add {op.name} to a graph: it runs eagerly.")
