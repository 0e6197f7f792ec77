"""Questions about the nodes of branches and loops.

Old programs that rewrite graphs ask them.
Source: python/ops/control_flow_util.py (API and names).
"""

from __future__ import annotations

from tfteach.framework.control_flow_context import (
    ControlFlowContext,
    contains,
    is_constant_enter,
    is_in_branch,
    is_loop_enter,
    is_loop_exit,
    is_loop_switch,
    output_context,
)
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation


def IsSwitch(op: Operation) -> bool:
    """Whether the op sends its input to one of two branches."""
    return op.spec.flow is Flow.SWITCH


def IsMerge(op: Operation) -> bool:
    """Whether the op outputs whichever of its inputs is alive."""
    return op.spec.flow is Flow.MERGE


IsLoopEnter = is_loop_enter
IsLoopConstantEnter = is_constant_enter
IsLoopExit = is_loop_exit
IsLoopSwitch = is_loop_switch
GetOutputContext = output_context


def IsCondSwitch(op: Operation) -> bool:
    """Whether all that reads the outputs of a Switch is in a branch."""
    readers = [c for tensor in op.outputs for c in tensor.consumers()]
    return IsSwitch(op) and all(map(is_in_branch, readers))


def IsCondMerge(op: Operation) -> bool:
    """Whether all inputs of a Merge come from branches."""
    if not IsMerge(op) or not op.inputs:
        return False
    contexts = [output_context(tensor.op) for tensor in op.inputs]
    return all(context is not None and context.is_cond for context in contexts)


def IsLoopMerge(op: Operation) -> bool:
    """Whether a Merge joins a loop's first value with that of the last iteration."""
    return IsMerge(op) and not IsCondMerge(op)


def IsInCond(op: Operation) -> bool:
    """Whether the op is in a branch, maybe in a loop there."""
    return GetContainingCondContext(op.control_flow_context) is not None


def IsInWhileLoop(op: Operation) -> bool:
    """Whether the op is in a loop, maybe in a branch there."""
    return GetContainingWhileContext(op.control_flow_context) is not None


def GetContainingWhileContext(
    ctxt: ControlFlowContext | None, stop_ctxt: ControlFlowContext | None = None
) -> ControlFlowContext | None:
    """The innermost loop around a context, or the context itself; None if none is.

    Args:
      ctxt: of an op, or None.
      stop_ctxt: a context at which the search ends without result.
    """
    while ctxt is not None and ctxt is not stop_ctxt:
        if not ctxt.is_cond:
            return ctxt
        ctxt = ctxt.outer_context
    return None


def GetContainingCondContext(
    ctxt: ControlFlowContext | None,
) -> ControlFlowContext | None:
    """The innermost branch around a context, or the context itself; None if none is."""
    while ctxt is not None and not ctxt.is_cond:
        ctxt = ctxt.outer_context
    return ctxt


def IsContainingContext(
    ctxt: ControlFlowContext | None, maybe_containing_ctxt: ControlFlowContext | None
) -> bool:
    """Whether the second context is the first, or around it."""
    return contains(maybe_containing_ctxt, ctxt)
