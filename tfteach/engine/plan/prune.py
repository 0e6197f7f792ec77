"""Pruning: ops needed by a run, traversed from the fetches back to the feeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfteach.engine.plan.inline_functions import inlined
from tfteach.framework.operation import Operation, Tensor


class Pruned(NamedTuple):
    """The part of a graph that a run needs.

    Attributes:
      needed: the operations to run (a dict, in the order in which they were reached).
      cut: the fed tensors that a needed operation or a fetch uses.
    """

    needed: dict[Operation, None]
    cut: dict[Tensor, None]


def prune(
    fetches: Iterable[Operation | Tensor],
    feeds: Iterable[Tensor] = (),
    expands: bool = True,
) -> Pruned:
    """Find the operations that `fetches` need, given `feeds`.

    Args:
      fetches: tensors and operations to run.
      feeds: tensors whose values come from outside; their ops are not needed for them.
      expands: whether calls of functions are replaced by what they need of the bodies.

    Returns:
      A `Pruned`.

    Example:
      >>> a = tf.constant(1.0); b = a + 1.0; c = b * 2.0
      >>> sorted(op.name for op in prune([c], feeds=[b]).needed)
      ['mul', 'mul/y']
    """
    fed = set(feeds)
    # A fed placeholder satisfies control dependencies on it, too.
    done = {t.op for t in fed if t.op.spec.must_be_fed}
    needed: dict[Operation, None] = {}
    cut: dict[Tensor, None] = {}
    stack: list[Operation] = []
    for fetch in fetches:
        if isinstance(fetch, Operation):
            stack.append(fetch)
        elif fetch in fed:
            cut[fetch] = None
        elif expands:
            _reach(fetch, fed, cut, stack)
        else:
            stack.append(fetch.op)
    while stack:
        op = stack.pop()
        if op in needed:
            continue
        if op.spec.calls_function and expands:
            call = inlined(op)
            if call is not None:
                stack.append(call.end)
                continue
        needed[op] = None
        for tensor in op.inputs:
            if tensor in fed:
                cut[tensor] = None
            else:
                source = tensor.op
                if source.spec.calls_function and expands:
                    _reach(tensor, fed, cut, stack)
                elif source not in needed:
                    stack.append(source)
        stack += (
            [c for c in op.control_inputs if c not in done]
            if done
            else (op.control_inputs)
        )
    return Pruned(needed, cut)


def _reach(
    tensor: Tensor,
    fed: set[Tensor],
    cut: dict[Tensor, None],
    stack: list[Operation],
) -> None:
    """Push the op that computes `tensor`; of an inlined call, that of its body."""
    while tensor not in fed:
        call = inlined(tensor.op)
        if call is None:
            stack.append(tensor.op)
            return
        stack.extend(call.effects)
        tensor = call.outputs[tensor.value_index]
    cut[tensor] = None
