"""`ScheduleView`: in which order a run can execute its ops."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import traitlets

from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.runs.folding import explain_folding, session_of_graph
from tfteach.explain.runs.schedule import Race, Schedule, explain_schedule
from tfteach.framework.defaults import get_default_graph
from tfteach.jupyter.pictures.mime_bundle import bundle_with, static_html
from tfteach.jupyter.saved_page import Answers
from tfteach.jupyter.widgets.graph import STATIC, Names
from tfteach.jupyter.widgets.planned_run_view import NOTHING, PlannedView
from tfteach.jupyter.widgets.unfoldable import Unfoldable, fates_of, notice_of

MOST_LINES = 40  # of ready sets and of their ops, in a saved notebook


class ScheduleView(PlannedView, Unfoldable):
    """The ready sets of a run as columns, its races, and two legal orders for each.

    Ops of one column can run at the same time. Click an op, or use the arrow keys, to
    see which ops must run before it, which after it, and which in any order. Where
    nothing orders a read and a write of a variable, both orders are shown side by side
    with the value that is read in each. Races that only a control dependency prevents
    are listed. Ops that the session's optimizer leaves out are marked.

    Args:
      graph: a `tf.Graph` or a session; by default the default graph. The optimizer is
        that of the session, or of the default or latest open session of the graph.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.
      unfolded: True to show the run without the optimizer; may be assigned.

    Attributes:
      schedule: the `Schedule`, to `print`; None without fetches.
      selected: the name of the selected op; "" without one.
      problem: why there is nothing to show, or "".

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> view = ScheduleView(fetches=[w.assign(5.0), w + 1.0])
      >>> len(view.schedule.races)
      1
    """

    _esm = STATIC / "schedule.js"
    _css = STATIC / "schedule.css"

    _sets: Any = traitlets.List().tag(sync=True)
    _ops: Any = traitlets.List().tag(sync=True)
    _races: Any = traitlets.List().tag(sync=True)
    _ordered: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        graph: Any = None,
        fetches: Names = (),
        feeds: Names = (),
        unfolded: bool = False,
    ) -> None:
        self.session = graph if isinstance(graph, BaseSession) else None
        graph = get_default_graph() if graph is None else getattr(graph, "graph", graph)
        self.schedule: Schedule | None = None
        super().__init__(graph, fetches, feeds)
        self.observe(lambda _: self.refresh(), "unfolded")
        self.unfolded = unfolded

    def look(self, fetches: list[str], feeds: list[str]) -> dict[str, Any]:
        """The possible orders of a run, as values of traits.

        Args:
          fetches: names.
          feeds: names.

        Returns:
          A dict from traits to values.
        """
        found = Schedule((), (), (), (), ())
        if fetches:
            found = explain_schedule(self.graph, fetches, feeds)
            found = found._replace(unfolded=self.unfolded)
            session = self.session or session_of_graph(self.graph)
            if session is not None:
                folded = explain_folding(session, fetches, feeds)
                found = found._replace(folded=folded)
        self.schedule = found if fetches else None
        index = {op.name: i for i, op in enumerate(found.ops)}

        def numbers(names: Iterable[str]) -> list[int]:
            return [index[name] for name in names]

        return {
            "problem": "" if fetches else NOTHING,
            "_summary": found.summary if fetches else "",
            "_folded": notice_of(found.folded, found.unfolded),
            "_fates": fates_of(found.folded, found.unfolded),
            "_ops": [
                [op.name, op.op_type, numbers(op.inputs), numbers(op.control)]
                for op in found.ops
            ],
            "_sets": [numbers(names) for names in found.ready_sets],
            "_races": [_race_row(race, index) for race in found.races],
            "_ordered": [
                [pair.variable, index[pair.first], index[pair.second]]
                for pair in found.ordered
            ],
        }

    def recorded_answers(self) -> Answers:
        """This run folded and unfolded."""
        known = super().recorded_answers()
        [(when, answer)] = known.cases
        schedule = self.schedule
        cases = []
        for unfolded in (False, True):
            told: dict[str, Any] = {}
            if schedule is not None:
                told["_folded"] = notice_of(schedule.folded, unfolded)
                told["_fates"] = fates_of(schedule.folded, unfolded)
            cases.append(([*when, unfolded], answer | told))
        return known._replace(asked=(*known.asked, "unfolded"), cases=cases)

    def explanation(self) -> Schedule | None:
        """The `Schedule`; None without fetches."""
        return self.schedule

    def static_bundle(self) -> dict[str, str]:
        """The schedule as text, and as an HTML table of the ready sets."""
        if self.schedule is None:
            return bundle_with(self.problem, None)
        return {
            "text/plain": self.schedule.to_text(MOST_LINES),
            "text/html": static_html(_table(self.schedule)),
        }


def _race_row(race: Race, index: dict[str, int]) -> dict[str, Any]:
    """A race as JSON; -1 stands for omitted ops."""
    start, end, parts = race.differing()
    return {
        "variable": race.variable,
        "first": index[race.first],
        "second": index[race.second],
        "reads": race.reads,
        "alike": [start, end],
        "orders": [[index.get(name, -1) for name in part] for part in parts],
    }


def _table(schedule: Schedule) -> str:
    """The ready sets as columns of an HTML table, with the races below."""
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
        f"<p>{schedule.folded.sentence(schedule.unfolded)}</p>",
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
