"""The order of the nodes in TF's graph, in which the placer visits them.

Source: core/graph/graph_constructor.cc.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfteach.engine.plan.build_step import cycle
from tfteach.framework.operation import Operation
from tfteach.framework.topological_order import CycleError, topological_order


def placing_order(operations: Iterable[Operation]) -> list[Operation]:
    """The order of the nodes in TF's own graph: each op after its inputs.

    That is creation order, except for edges that were added later and graphs that were
    imported in another order.
    """
    ordered = list(operations)
    if all(source.node_id < op.node_id for op in ordered for source in _sources_of(op)):
        return ordered
    try:
        return topological_order(ordered, _sources_of, key=lambda op: op.node_id)
    except CycleError as error:
        raise cycle([op.name for op in error.items]) from None


def _sources_of(op: Operation) -> list[Operation]:
    """Inputs of an op, without the back edges of loops."""
    data = [t.op for t in op.inputs if not t.op.spec.closes_loop]
    return data + op.control_inputs if op.control_inputs else data
