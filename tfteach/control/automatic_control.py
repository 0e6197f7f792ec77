"""Automatic control dependencies: the effects of a function run in the order written.

Source: python/framework/auto_control_deps.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework.dtypes import resource
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.identity_reshape import identity


def in_order(body: FuncGraph) -> list[Operation]:
    """The ops of a body with effects, each of which now waits for the one before."""
    found: list[Operation] = []
    last: Operation | None = None
    for op in body.operations:
        if not op.op_def.is_stateful or hasattr(op.spec, "seed2"):
            continue  # also random ops
        if op.control_flow_context is not None:
            continue
        if not any(t.dtype.base_dtype is resource for t in op.inputs):
            if last is not None and last not in op.control_inputs:
                op.control_inputs = [*op.control_inputs, last]
            last = op
        found.append(op)
    return found


def returned(body: FuncGraph, values: Sequence[Tensor]) -> list[Tensor]:
    """The results of a body, which wait for all that has effects in it."""
    effects = in_order(body)
    with body.as_default(), body.control_dependencies(None):
        made = [identity(value) for value in values]
    for tensor in made:
        tensor.op.control_inputs = list(effects)
    return made
