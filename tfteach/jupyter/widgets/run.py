"""`RunView`: the session runs of a piece of code, and which ops each one needs."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Any

import traitlets

from tfteach.explain.graphs.scope_tree import Box
from tfteach.explain.runs.folding import (
    NOTHING,
    Folded,
    explain_folding,
    session_of_graph,
)
from tfteach.explain.runs.pruning import RunNeeds, Why, explain_run
from tfteach.explain.runs.runs import Run, Runs
from tfteach.framework.graph import Graph, Operation
from tfteach.jupyter import display
from tfteach.jupyter.pictures.picture_contents import Still, op_name
from tfteach.jupyter.saved_page import Answers
from tfteach.jupyter.widgets.graph import STATIC, GraphView, Names
from tfteach.jupyter.widgets.unfoldable import Unfoldable, fates_of, notice_of

# (fill, line) of ops that the optimizer leaves out, in static pictures.
LEFT_OUT = ("#f1f3f6", "#8693a4")
Paint = Callable[[Box], tuple[str, str, str] | None]

UNKNOWN = (
    "What the session would leave out of this run is not in the saved page; to see it "
    "needs Python."
)
MOST_FAILURES = 6  # below a static picture
WIDTH = 96  # of the lines there, in characters


class RunView(GraphView, Unfoldable):
    """The ops that `Session.run` needs, traced back from the fetches, and why.

    A line above the graph says which of them the session's optimizer leaves out, and
    the boxes are marked.

    Runs that failed or were refused are listed with their errors; the op that failed is
    marked.

    "Trace" animates how a run finds its ops; the slider stops it at any step. Click a
    box to see why it runs, or why it does not. `f` and `d` change fetches and feeds, as
    in a `GraphView`.

    Args:
      graph: as for `GraphView`; by default that of the first of `runs`.
      fetches: as for `GraphView`; by default those of the first of `runs`.
      feeds: as for `GraphView`; by default those of the first of `runs`.
      runs: a `Runs` from `watch_runs`, to choose from; runs of other graphs are
        ignored.
      predict: True to let the learner first mark the ops that will run; "Reveal" then
        scores the prediction.
      session: the session whose optimizer is meant; by default the default session, or
        the latest open one of the graph.
      unfolded: True to show the run without the optimizer; by default as the first of
        `runs`. May be assigned.
      options: as for `GraphView`.

    Attributes:
      guessed: the names of the marked ops.
      score: {"right": n, "wrong": n, "missed": n} once revealed, else None.

    Raises:
      TypeError: `graph` is neither a Graph nor a GraphDef.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> loss = tf.square(x, name="loss")
      >>> view = RunView(fetches=[loss], feeds=[x], predict=True)
      >>> view.needs().pruned
      [<tf.Operation 'x' type=Placeholder>]
    """

    _esm = STATIC / "run.js"
    _css = STATIC / "run.css"

    _run_list: Any = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)
    predict = traitlets.Bool(False).tag(sync=True)
    guessed: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)
    score = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        graph: Any = None,
        fetches: Names = (),
        feeds: Names = (),
        *,
        runs: Runs | None = None,
        predict: bool = False,
        session: Any = None,
        unfolded: bool | None = None,
        **options: Any,
    ) -> None:
        seen = [] if runs is None else runs.runs
        if graph is None and seen:
            graph = seen[0].graph
        seen = [run for run in seen if run.graph is graph]
        # The first that began; one that was refused has no fetches in the graph.
        chosen = next((i for i, run in enumerate(seen) if not run.refused), 0)
        if seen and not fetches:
            fetches, feeds = seen[chosen].fetches, seen[chosen].feeds
        super().__init__(graph, fetches, feeds, **options)
        self.predict = predict
        self.session = session
        self._seen = seen
        self._run_list = [row_of(run) for run in seen]
        self.chosen = chosen
        if unfolded is None:
            unfolded = bool(seen) and seen[chosen].unfolded
        self.unfolded = unfolded
        self._fold()
        self.observe(lambda _: self._fold(), ["fetches", "feeds", "chosen", "unfolded"])

    def folded(self) -> Folded:
        """The ops of the displayed run that the session's optimizer leaves out.

        Returns:
          A `Folded`; `print` it.
        """
        for run in self._seen[self.chosen : self.chosen + 1]:
            if self._shows(run):
                return run.folded
        graph = self.graph
        if not isinstance(graph, Graph):
            return NOTHING
        session = self.session or session_of_graph(graph)
        fetches = [f for f in self.fetches if graph.find_operation(op_name(f))]
        feeds = [f for f in self.feeds if graph.find_operation(op_name(f))]
        if session is None or not fetches:
            return NOTHING
        return explain_folding(session, fetches, feeds)

    def _fold(self) -> None:
        """Send what the session leaves out of the run to the page."""
        answer = _answer(self.folded(), self.unfolded)
        with self.hold_sync():
            self._folded, self._fates = answer["_folded"], answer["_fates"]

    def recorded_answers(self) -> Answers:
        """What is left out of the runs, and of the one whose fetches are shown."""
        runs = [
            ([row["fetches"], row["feeds"], number], run.folded)
            for number, (row, run) in enumerate(
                zip(self._run_list, self._seen, strict=True)
            )
        ]
        runs.append(([self.fetches, self.feeds, self.chosen], self.folded()))
        cases = [
            ([*run, unfolded], _answer(folded, unfolded))
            for run, folded in runs
            for unfolded in (False, True)
        ]
        graph = self.graph
        session = self.session
        if session is None and isinstance(graph, Graph):
            session = session_of_graph(graph)
        unknown = {"text": UNKNOWN, "button": "", "about": "", "unfolded": False}
        otherwise = {"_folded": {} if session is None else unknown, "_fates": {}}
        asked = ("fetches", "feeds", "chosen", "unfolded")
        return Answers(asked, cases, otherwise)

    def needs(self) -> RunNeeds:
        """The ops that the displayed run executes, as `explain_run` returns them.

        Returns:
          A `RunNeeds`; `print` it for a table.

        Raises:
          KeyError: a fetch or feed is not in the graph.
        """
        return explain_run(self.graph, self.fetches, self.feeds)

    def why(self, op: Operation | str) -> Why:
        """Explain why the displayed run executes an op, or skips it.

        Args:
          op: an operation of the graph, or its name.

        Returns:
          A `Why`; `print` it.

        Raises:
          KeyError: the graph has no op of that name.
        """
        found = self.needs().why(op)
        if not found.runs or self.unfolded:
            return found
        return found._replace(folded=self.folded().why(found.op))

    def _run_in_picture(self) -> tuple[list[str], list[str]]:
        """No fetches while the learner predicts: the picture would show the answer."""
        return ([], []) if self._is_guessing else super()._run_in_picture()

    def still(self) -> Still:
        still = super().still()
        failures = [run for run in self._seen if run.error]
        still.caption = [
            line
            for run in failures[:MOST_FAILURES]
            for line in wrap(f"✕ {title_of(run)}: {run.outcome}. {run.error}", WIDTH)
        ]
        if len(failures) > MOST_FAILURES:
            still.caption.append(f"... and {len(failures) - MOST_FAILURES} more")
        for run in self._seen[self.chosen : self.chosen + 1]:
            if not self._is_guessing and self._shows(run) and run.error:
                still.failed_at, still.verb = run.failed_at, "needed"
        if self._fates and not self._is_guessing:
            still.verb, still.paint = "needed", self._paint(still)
        if not self._is_guessing:
            said = self._folding_said()
            still.notes = [line for text in said for line in wrap(text, WIDTH)]
        return still

    def _folding_said(self) -> list[str]:
        """What the optimizer left out of the chosen run, if it left out something."""
        for run in self._seen[self.chosen : self.chosen + 1]:
            if self._shows(run):
                return [*filter(None, [run.folded.sentence(run.unfolded)])]
        return [*filter(None, [self.folded().sentence(self.unfolded)])]

    def _paint(self, still: Still) -> Paint:
        """The colours of ops that the optimizer leaves out."""
        fates = self._fates

        def paint(box: Box) -> tuple[str, str, str] | None:
            names = [still.rows[i].name for i in box.members]
            met = [fates[name][0] for name in names if name in fates]
            if not met or box.id in still.open:
                return None
            if len(names) == 1:
                return *LEFT_OUT, met[0]
            return *LEFT_OUT, f"{len(met)} left out"

        return paint

    def _shows(self, run: Run) -> bool:
        """True if the fetches and feeds are still those of the run."""
        names = [[element.name for element in run.fetches], [t.name for t in run.feeds]]
        return names == [self.fetches, self.feeds]

    @property
    def _is_guessing(self) -> bool:
        return self.predict and not self.revealed

    def to_text(self) -> str:
        """The runs, with a line each, then the graph as text."""
        lines = []
        for run in self._seen:
            lines.append(f"{title_of(run)}: {run.outcome}")
            lines += [f"  {run.error}"] if run.error else []
            said = run.folded.sentence(run.unfolded)
            lines += [f"  {said}"] if said else []
        if not lines and not self._is_guessing:
            said = self.folded().sentence(self.unfolded)
            lines += [said] if said else []
        return "\n".join([*lines, super().to_text()])

    def static_bundle(self) -> dict[str, str]:
        bundle = super().static_bundle()
        return {**bundle, "text/plain": self.to_text()}


def _answer(folded: Folded, unfolded: bool) -> dict[str, Any]:
    """What is left out of a run, as values of traits."""
    return {
        "_folded": notice_of(folded, unfolded),
        "_fates": fates_of(folded, unfolded),
    }


def title_of(run: Run) -> str:
    """The fetches of a run, and how often it was made."""
    return f"{run.label} x{run.count}" if run.count > 1 else run.label


def row_of(run: Run) -> dict[str, Any]:
    """A run for the page's list."""
    place, line, text = "", 0, ""
    if run.source is not None:
        place, line, _, text = display.where(run.source)
    return {
        "label": run.label,
        "where": f"{place} line {line}" if place else "",
        "text": text.strip(),
        "count": run.count,
        "needed": len(run.needs().needed),
        "ops": run.graph.version,
        "fetches": [fetch.name for fetch in run.fetches],
        "feeds": [feed.name for feed in run.feeds],
        "error": run.error,
        "failed_at": run.failed_at,
        "refused": bool(run.refused),
    }
