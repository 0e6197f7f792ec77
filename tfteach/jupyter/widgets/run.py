"""`RunView`: the session runs of a piece of code, and which ops each one needs."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import traitlets

from tfteach.explain.pruning import RunNeeds, Why, explain_run
from tfteach.explain.runs import Run, Runs
from tfteach.framework.graph import Operation
from tfteach.jupyter import display
from tfteach.jupyter.picture_contents import Still
from tfteach.jupyter.widgets.graph import STATIC, GraphView, Names

MOST_FAILURES = 6  # below a static picture
WIDTH = 96  # of the lines there, in characters


class RunView(GraphView):
    """The ops that `Session.run` needs, traced back from the fetches, and why.

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
        self._seen = seen
        self._run_list = [row_of(run) for run in seen]
        self.chosen = chosen

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
        return self.needs().why(op)

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
            if not self._is_guessing and self._shows(run):
                still.failed_at = run.failed_at
        return still

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
        return "\n".join([*lines, super().to_text()])

    def static_bundle(self) -> dict[str, str]:
        bundle = super().static_bundle()
        return {**bundle, "text/plain": self.to_text()}


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
