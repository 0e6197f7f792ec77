"""`ScheduleView`: in which order a run may execute its ops."""

from __future__ import annotations

import html
from typing import Any

import traitlets

from tfteach.explain.schedule import Race, Schedule, explain_schedule
from tfteach.framework.stacks import get_default_graph
from tfteach.jupyter.bundle import static_html
from tfteach.jupyter.widgets.graph import STATIC, Names
from tfteach.jupyter.widgets.planned import NOTHING, PlannedView

MOST_LINES = 40  # of ready sets and of their ops, in what a notebook saves


class ScheduleView(PlannedView):
    """The ready sets of a run as columns, its races, and two legal orders of each.

    Ops of one column could run at the same time. A click on an op, or the arrow keys,
    tell which ops must run before it, which after it, and which in any order. Where
    nothing orders a read and a write of a variable, both orders stand side by side with
    what is read in each; where only a control dependency does, that is told.

    Args:
      graph: a `tf.Graph` or a session; the default graph if None.
      fetches: what the run fetches: tensors, operations or names.
      feeds: what it is fed.

    Attributes:
      schedule: what it shows, as data; `print` it. None without fetches.
      selected: the name of the chosen op; "" for none.
      problem: why there is nothing to show; "" if there is.

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> ScheduleView(fetches=[w.assign(5.0), w + 1.0])
    """

    _esm = STATIC / "schedule.js"
    _css = STATIC / "schedule.css"

    _sets: Any = traitlets.List().tag(sync=True)
    _ops: Any = traitlets.List().tag(sync=True)
    _races: Any = traitlets.List().tag(sync=True)
    _ordered: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, graph: Any = None, fetches: Names = (), feeds: Names = ()
    ) -> None:
        graph = get_default_graph() if graph is None else getattr(graph, "graph", graph)
        self.schedule: Schedule | None = None
        super().__init__(graph, fetches, feeds)

    def refresh(self) -> None:
        """Look again at the orders that are possible."""
        fetches, feeds = self.known()
        found = explain_schedule(self.graph, fetches, feeds) if fetches else None
        self.schedule = found
        ops = () if found is None else found.ops
        index = {op.name: i for i, op in enumerate(ops)}
        with self.hold_sync():
            self.problem = NOTHING if found is None else ""
            self._summary = "" if found is None else found.summary
            self._ops = [
                [
                    op.name,
                    op.op_type,
                    [index[name] for name in op.inputs],
                    [index[name] for name in op.control],
                ]
                for op in ops
            ]
            sets = () if found is None else found.ready_sets
            self._sets = [[index[name] for name in names] for names in sets]
            races = () if found is None else found.races
            self._races = [_race_row(race, index) for race in races]
            ordered = () if found is None else found.ordered
            self._ordered = [
                [pair.variable, index[pair.first], index[pair.second]]
                for pair in ordered
            ]

    def explanation(self) -> Schedule | None:
        return self.schedule

    def static_bundle(self) -> dict[str, str]:
        """The schedule as text, and as an HTML table of the ready sets."""
        if self.schedule is None:
            return {"text/plain": self.problem}
        return {
            "text/plain": self.schedule.to_text(MOST_LINES),
            "text/html": static_html(_table(self.schedule)),
        }


def _race_row(race: Race, index: dict[str, int]) -> dict[str, Any]:
    """A race for the page."""
    return {
        "variable": race.variable,
        "first": index[race.first],
        "second": index[race.second],
        "reads": race.reads,
        "one": [index[name] for name in race.one_order],
        "other": [index[name] for name in race.other_order],
    }


def _table(schedule: Schedule) -> str:
    """The ready sets as columns, the races below."""
    cell = "style='text-align:left;vertical-align:top;padding:3px 12px'"
    sets = schedule.ready_sets[:MOST_LINES]
    heads = "".join(f"<th {cell}>{number}</th>" for number in range(1, len(sets) + 1))
    cells = []
    for names in sets:
        lines = [f"<code>{html.escape(name)}</code>" for name in names[:MOST_LINES]]
        if len(names) > MOST_LINES:
            lines.append(f"and {len(names) - MOST_LINES} more")
        cells.append(f"<td {cell}>{'<br>'.join(lines)}</td>")
    parts = [
        f"<p><b>{schedule.summary}</b></p>",
        f"<table><tr>{heads}</tr><tr>{''.join(cells)}</tr></table>",
    ]
    if len(schedule.ready_sets) > MOST_LINES:
        parts.append(f"<p>and {len(schedule.ready_sets) - MOST_LINES} ready sets</p>")
    races = schedule.races[:MOST_LINES]
    parts += [f"<pre>{html.escape(str(race))}</pre>" for race in races]
    parts += [
        f"<p>Only a control dependency orders {html.escape(str(pair))}</p>"
        for pair in schedule.ordered[:MOST_LINES]
    ]
    return "".join(parts)
