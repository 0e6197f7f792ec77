"""From fetches and feeds to a step whose nodes stand in an order of execution."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from tfteach.engine.plan.inline_functions import (
    inlinings,
    order_of,
    resolved,
    resolved_op,
)
from tfteach.engine.plan.prune import Pruned
from tfteach.engine.plan.reads_after_writes import read_late
from tfteach.engine.plan.shared_buffers import share_buffers
from tfteach.engine.plan.step import Change, Edge, Node, Step, writes
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.topological_order import CycleError, topological_order


def build_step(
    pruned: Pruned,
    fetches: Iterable[Operation | Tensor],
    feeds: Iterable[Tensor],
    expands: bool = True,
) -> Step:
    """The step for some fetches and feeds, in an order in which it can run.

    Args:
      pruned: the ops that it needs.
      fetches, feeds: as given to `prune`.
      expands: whether calls of functions are replaced by their ops, as in `pruned`.
    """
    step = Step()
    for tensor in feeds:
        step.feeds[tensor] = Node(tensor.op, None, [], tensor.name)
    nodes: dict[Operation, Node] = {}
    order: Callable[[Operation], Any] = operator.attrgetter("node_id")
    if any(op.graph.functions for op in itertools.islice(pruned.needed, 1)):
        order = order_of
    ordered = sorted(pruned.needed, key=order)
    if order is order_of:
        step.log += [Change("inline_functions", *row) for row in inlinings(ordered)]
    for op in ordered:
        nodes[op] = Node(op, op.spec, [], op.name)

    def edge(tensor: Tensor) -> Edge:
        tensor = resolved(tensor, step.feeds) if expands else tensor
        feed = step.feeds.get(tensor)
        if feed is not None:
            return Edge(feed, 0)
        return Edge(nodes[tensor.op], tensor.value_index)

    in_order = True
    for op, node in nodes.items():
        node.inputs = [edge(tensor) for tensor in op.inputs]
        controls: Iterable[Operation] = op.control_inputs
        controls = map(resolved_op, controls) if expands else controls
        node.control = [nodes[c] for c in controls if c in nodes]
        if node.routes_values or node.spec.exchanges_dead:
            step.has_control_flow = True
        for source, _ in node.inputs:
            in_order = in_order and order(source.op) < order(op)
        for other in node.control:
            in_order = in_order and order(other.op) < order(op)
    step.nodes = list(nodes.values())
    for fetch in fetches:
        if isinstance(fetch, Tensor):
            step.fetched.append(fetch)
            step.fetches.append(edge(fetch))
        else:
            step.targets.append(nodes[resolved_op(fetch) if expands else fetch])
    if not in_order or _reads_after_writes(step):
        step.nodes = sort_nodes(step.nodes)
    read_late(step)
    share_buffers(step)
    return step


def _reads_after_writes(step: Step) -> bool:
    """Whether some read of a variable stands behind a write to it."""
    written: set[Node] = set()
    for node in step.nodes:
        sources = [source for source, _ in node.inputs]
        if writes(node):
            written.update(sources[:1])
        elif written and any(source in written for source in sources):
            return True
    return False


def cycle(stuck: list[str]) -> OpError:
    """TF's error for ops that wait for one another.

    Args:
      stuck: the names of the ops that cannot run, in the order of the graph.
    """
    return invalid_argument(
        f"Graph is invalid, contains a cycle with {len(stuck)} nodes, including: "
        f"{', '.join(stuck[:3])}\nEach waits for another, or for one that does. Remove "
        "the control dependency that closes the cycle."
    )


def sort_nodes(nodes: list[Node]) -> list[Node]:
    """A topological order, in which reads come before writes where both are legal.

    Back edges into Merge nodes do not count.  Within a rank, the order of building
    decides, so that the result does not depend on chance.
    """
    try:
        return topological_order(nodes, _sources_of, key=writes)
    except CycleError as error:
        raise cycle([node.name for node in error.items]) from None


def _sources_of(node: Node) -> set[Node]:
    sources = {source for source, _ in node.inputs} | set(node.control)
    if node.flow is Flow.MERGE:
        return {s for s in sources if s.flow is not Flow.NEXT_ITERATION}
    return sources
