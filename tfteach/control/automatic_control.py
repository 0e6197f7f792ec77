"""Automatic control dependencies: the effects of a function run in the order written.

Source: python/framework/auto_control_deps.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework.dtypes import resource
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.identity_reshape import identity


def in_order(body: Graph, start: int = 0) -> list[Operation]:
    """The ops of a body with effects, each of which now waits for the one before.

    Args:
      body: the graph.
      start: the number of ops at its beginning that do not belong to the body.
    """
    found: list[Operation] = []
    last: dict[Tensor | None, Operation] = {}  # by the handle used; None: without one
    for op in body.operations[start:]:
        is_stateful = op.op_def.is_stateful and not hasattr(op.spec, "seed2")
        handles = [t for t in op.inputs if t.dtype.base_dtype is resource]
        keys: list[Tensor | None] = list(dict.fromkeys(handles))
        if is_stateful and not keys and op.control_flow_context is None:
            keys = [None]
        before = [last[key] for key in keys if key in last]
        new = [
            other
            for other in dict.fromkeys(before)
            if other not in op.control_inputs
            and other.control_flow_context is op.control_flow_context
        ]
        if new:
            op.control_inputs = [*op.control_inputs, *new]
        last.update(dict.fromkeys(keys, op))
        if is_stateful and op.control_flow_context is None:
            found.append(op)
    return found


def returned(body: FuncGraph, values: Sequence[Tensor]) -> list[Tensor]:
    """The results of a body, which wait for all that has effects in it."""
    with body.as_default(), body.control_dependencies(None):
        made = [identity(value) for value in values]
    wait_for_effects(body, made)
    return made


def wait_for_effects(body: FuncGraph, results: Sequence[Tensor]) -> None:
    """Let identities, the results of a body, wait for all that has effects in it."""
    effects = in_order(body)
    for tensor in results:
        tensor.op.control_inputs = list(effects)
