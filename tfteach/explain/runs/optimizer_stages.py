"""The graphs between the optimizer's passes, as rows that a view can draw."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.explain.graphs.difference import input_changes
from tfteach.explain.graphs.graph_rows import Row, Where, plain_source, row_of
from tfteach.explain.runs.optimizing import OptimizerLog, Pass, StepNode
from tfteach.framework.graph import Graph
from tfteach.ops.core.constant import Const

MOST_WITH_ATTRS = 500  # a stage with more nodes is shown without attributes
Nodes = tuple[StepNode, ...]
FOLDED = Const.op_type  # folded nodes are shown as constants


class Staged(NamedTuple):
    """One pass, between two of the stages.

    Attributes:
      done: the `Pass`.
      before, after: numbers of stages.
      changes: node -> a line for each difference; empty for a node that has a reason
        but looks the same.
      reasons: node -> a line for each reason.
    """

    done: Pass
    before: int
    after: int
    changes: dict[str, list[str]]
    reasons: dict[str, list[str]]


class Stages(NamedTuple):
    """The graphs between the passes of an optimizer log.

    Attributes:
      rows: the rows of each stage; a pass that changes nothing has the same stage
        before and after.
      fetched: for each stage, the names of the ops that the run fetches.
      passes: all passes as a single one, then each pass.
    """

    rows: list[list[Row]]
    fetched: list[list[str]]
    passes: list[Staged]


def stages_of(log: OptimizerLog, graph: Graph, where: Where = plain_source) -> Stages:
    """The graphs before and after each pass.

    Args:
      log: from `explain_optimizing`.
      graph: the session's graph, which has the shapes and source lines.
      where: turns a `SourceLine` into (file, line, function, text).

    Example:
      >>> stages = stages_of(log, sess.graph)
      >>> [len(rows) for rows in stages.rows]
      [38, 38, 31]
    """
    if not log.passes:
        return Stages([], [], [])
    stages: list[Nodes] = []
    known: dict[str, StepNode] = {}

    def number_of(nodes: Nodes) -> int:
        known.update({node.name: node for node in nodes})
        order = {name: i for i, name in enumerate(known)}
        shown = tuple(
            sorted(with_sources(nodes, known), key=lambda n: order.get(n.name, -1))
        )
        if shown not in stages:
            stages.append(shown)
        return stages.index(shown)

    passes = [
        _staged(each, number_of(each.before), number_of(each.after), stages)
        for each in log.passes
    ]
    whole = _staged(log.whole, passes[0].before, passes[-1].after, stages)
    rows = [_rows(nodes, graph, where) for nodes in stages]
    fetched = [[node.name for node in nodes if node.is_fetched] for nodes in stages]
    return Stages(rows, fetched, [whole, *passes])


def with_sources(nodes: Nodes, known: dict[str, StepNode]) -> Nodes:
    """The nodes, preceded by their inputs that are not among them.

    Fed tensors are no nodes of a step; constants and variables are no kernels.
    """
    names = {node.name for node in nodes}
    found: dict[str, StepNode] = {}
    for node in nodes:
        for text in (*node.inputs, *node.control):
            name = text if text in names else text.partition(":")[0]
            if name not in names:
                other = known.get(name) or StepNode(name, "", (), (), False)
                found.setdefault(name, other._replace(inputs=(), control=()))
    return (*found.values(), *nodes)


def _rows(nodes: Nodes, graph: Graph, where: Where) -> list[Row]:
    index = {node.name: i for i, node in enumerate(nodes)}
    rows = []
    shared: dict[Any, Any] = {}
    for node in nodes:
        op = graph.find_operation(node.name)
        more: dict[str, Any] = {}
        outputs: list[Any] = []
        kind = node.op_type
        if op is not None:
            own = row_of(op, where, len(nodes) <= MOST_WITH_ATTRS, shared)
            more, outputs = own.more, own.outputs
            kind = kind or own.type
        if node.value:
            more = {**more, "value": node.value}
        inputs = []
        for text in node.inputs:
            name, _, port = text.partition(":")
            inputs += [index[name], int(port or 0)]
        controls = [index[name] for name in node.control]
        shown = FOLDED if node.is_constant else kind
        rows.append(Row(node.name, shown, inputs, controls, outputs, more))
    return rows


def _staged(each: Pass, before: int, after: int, stages: list[Nodes]) -> Staged:
    reasons: dict[str, list[str]] = {}
    for change in each.changes:
        said = change.reason
        if each.name == "all":
            said = f"{change.pass_name}: {said}"
        reasons.setdefault(change.node, []).append(said)
    changes: dict[str, list[str]] = {name: [] for name in reasons}
    old = {node.name: node for node in stages[before]}
    for node in stages[after]:
        if node.name in old and (lines := _changes(old[node.name], node)):
            changes[node.name] = lines
    return Staged(each, before, after, changes, reasons)


def _changes(before: StepNode, after: StepNode) -> list[str]:
    if after.is_constant and not before.is_constant:
        return [f"{before.op_type}: now the constant {after.value}"]
    lines = []
    if after.op_type != before.op_type:
        lines.append(f"type: {before.op_type} -> {after.op_type}")
    one, other = (
        [*node.inputs, *(f"^{name}" for name in node.control)]
        for node in (before, after)
    )
    return [*lines, *input_changes(one, other)]
