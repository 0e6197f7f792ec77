"""Guards: the predicates under which a node of a step runs.

Source: the idea is that of predicated execution (Park and Schlansker, 1991).
"""

from __future__ import annotations

from collections.abc import Iterable

from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.plan.references import carries_reference
from tfteach.engine.plan.step import Edge, Node
from tfteach.framework.op_traits import Flow

# A predicate and its required value.
Literal = tuple[Edge, bool]
# The condition under which a node runs; None: never.
Guard = frozenset[Literal] | None
ALWAYS: frozenset[Literal] = frozenset()


class UnstructuredError(Exception):
    """The step is not structured: it runs as dataflow."""


def predicate_of(edge: Edge) -> Edge:
    """The source of a predicate, behind ops that forward it."""
    while True:
        node = edge.node
        flow = node.flow
        is_constant = flow is Flow.ENTER and node.spec.is_constant  # type: ignore[attr-defined]
        hands_on = (
            is_constant
            or flow in (Flow.SWITCH, Flow.LOOP_COND)
            or (not node.is_feed and node.forwards_input)
            or _copies(node)
        )
        if not hands_on or node.control:
            break
        if carries_reference(node.inputs[0]):
            break
        edge = node.inputs[0]
    if carries_reference(edge):
        raise UnstructuredError(f"predicate {edge.node.name} is a variable")
    return edge


def _copies(node: Node) -> bool:
    """Whether the node copies what the host can read as it is."""
    spec = node.spec
    return isinstance(spec, Send | Recv) and not spec.source.is_asynchronous


def merged(guards: Iterable[Guard]) -> Guard:
    """The guard that holds when one of several exclusive ones does.

    Raises:
      UnstructuredError: not a conjunction, or the guards are not exclusive.
    """
    left = [guard for guard in guards if guard is not None]
    while len(left) > 1:
        for i, first in enumerate(left):
            joint = next((g for g in left[:i] if _differ_in_one(first, g)), None)
            if joint is not None:
                left.remove(first)
                left.remove(joint)
                left.append(first & joint)
                break
        else:
            raise UnstructuredError("a Merge of inputs that are no two branches")
    return left[0] if left else None


def _differ_in_one(first: frozenset[Literal], second: frozenset[Literal]) -> bool:
    different = first ^ second
    return len(different) == 2 and len({edge for edge, _ in different}) == 1


def both(first: Guard, second: Guard) -> Guard:
    """The conjunction of both guards."""
    if first is None or second is None:
        return None
    if not second or second <= first:
        return first
    joint = first | second
    if any((edge, not value) in joint for edge, value in joint):
        return None
    return joint
