"""The order of the nodes in TF's graph, in which the placer goes through them.

Source: core/graph/graph_constructor.cc.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from tfteach.engine.plan.step import cycle
from tfteach.framework.operation import Operation


def placing_order(operations: Iterable[Operation]) -> list[Operation]:
    """The order of the nodes in TF's own graph: each op after what it needs.

    That is the order of building, but for edges that were added later and graphs that
    were imported in another order.
    """
    ordered = list(operations)
    if all(source.node_id < op.node_id for op in ordered for source in _sources_of(op)):
        return ordered
    inside = set(ordered)
    waits = {op: inside.intersection(_sources_of(op)) for op in ordered}
    users: dict[Operation, list[Operation]] = {}
    for op, sources in waits.items():
        for source in sources:
            users.setdefault(source, []).append(op)
    pending = {op: len(sources) for op, sources in waits.items()}
    ready = [op.node_id for op in ordered if not pending[op]]
    by_id = {op.node_id: op for op in ordered}
    found: list[Operation] = []
    while ready:
        found.append(by_id[heapq.heappop(ready)])
        for user in users.get(found[-1], ()):
            pending[user] -= 1
            if not pending[user]:
                heapq.heappush(ready, user.node_id)
    stuck = [op.name for op in ordered if pending[op]]
    if stuck:
        raise cycle(stuck)
    return found


def _sources_of(op: Operation) -> list[Operation]:
    """Inputs of an op, without the back edges of loops."""
    data = [t.op for t in op.inputs if not t.op.spec.closes_loop]
    return data + op.control_inputs if op.control_inputs else data
