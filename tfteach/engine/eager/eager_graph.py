"""`EagerGraph`: what ops are added to in an eager program: nothing, they run at once.

It has a graph's scopes and its library of functions, and never holds a node.
Source: python/eager/context.py, python/framework/ops.py.
"""

from __future__ import annotations

from tfteach.engine.eager.eager_scopes import EagerScopes
from tfteach.engine.eager.execute import execute
from tfteach.framework.operation import Operation


class EagerGraph(EagerScopes):
    """The default graph of an eager program; see `EagerScopes`."""

    execute = execute

    def append(self, op: Operation, announce: bool = True) -> None:
        raise RuntimeError(f"Cannot add {op.name} to a graph: it runs eagerly.")
