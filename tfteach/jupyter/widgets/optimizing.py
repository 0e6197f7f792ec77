"""`OptimizingView`: what the optimizer does to a run, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tfteach.explain.graphs.scope_tree import Box
from tfteach.explain.runs.folding import explain_folding
from tfteach.explain.runs.optimizer_stages import Staged, Stages, stages_of
from tfteach.explain.runs.optimizing import OptimizerLog, explain_optimizing
from tfteach.jupyter import display
from tfteach.jupyter.graph_stream import packed
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import Still
from tfteach.jupyter.widgets.difference import ADDED, CHANGED, REMOVED
from tfteach.jupyter.widgets.graph import STATIC, Names, names_of
from tfteach.jupyter.widgets.planned_run_view import NOTHING, PlannedView
from tfteach.jupyter.widgets.view_base import session_for

MOST_ROWS = 12_000  # of all stages; with more, only the first and last stages are sent
UNFOLDED_HERE = "Unfolded, the run is the graph before all passes."
# The fate of an op in a static picture: word, fill and line.
FATES = {
    "inline_functions": ("inlined", *CHANGED),
    "remove_identities": ("removed", *REMOVED),
    "fold_constants": ("folded", *CHANGED),
    "merge_duplicates": ("merged", *CHANGED),
    "remove_dead": ("removed", *REMOVED),
    "specialize": ("folded", *CHANGED),
    "fusion": ("fused", *ADDED),
}


class OptimizingView(PlannedView):
    """The graph of a run before and after each of the optimizer's passes, and why.

    The passes are listed with the number of ops left to compute; a click or the arrow
    keys choose one. Below are the graphs before and after it, which pan and expand
    together, then the ops that were folded, merged, removed or fused, with the reasons.
    Nothing is executed.

    Args:
      session: the session whose options determine which passes run; by default the
        default session.
      fetches: a tensor, an operation, a name, or an iterable of these.
      feeds: the tensors, or their names, that the run would be fed.
      feed_shapes: a tuple of sizes for each feed, as for `explain_optimizing`.
      unfolded: True for a run without the optimizer: the graph that its passes begin
        with.

    Attributes:
      optimizer_log: the `OptimizerLog`, to `print`; None without fetches.
      problem: why there is nothing to show, or "".
      chosen: the number of the displayed pass; 0 is all of them.

    Raises:
      ValueError: there is no session, or the number of shapes differs from that of
        feeds.

    Example:
      >>> x = tf.placeholder(tf.float32, [2, 3], name="x")
      >>> rows = tf.cast(tf.shape(x)[0], tf.float32, name="rows")
      >>> with tf.Session() as sess:
      ...     view = OptimizingView(sess, tf.reduce_sum(x) / rows, [x])
      >>> print(view.optimizer_log.summary)
      4 ops asked for, 2 kernels called
    """

    _esm = STATIC / "optimizing.js"
    _css = STATIC / "optimizing.css"

    _stages: Any = traitlets.List().tag(sync=True)
    _passes: Any = traitlets.List().tag(sync=True)
    _folded = traitlets.Unicode("").tag(sync=True)
    chosen = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(
        self,
        session: Any = None,
        fetches: Names = (),
        feeds: Names = (),
        feed_shapes: Sequence[tuple[int, ...]] | None = None,
        unfolded: bool = False,
    ) -> None:
        self.session = session_for(session, "OptimizingView", "options belong to one")
        count = len(names_of(feeds))
        if feed_shapes is not None and len(feed_shapes) != count:
            raise ValueError(f"{count} feeds, but {len(feed_shapes)} shapes")
        self._shapes, self._unfolded = feed_shapes, unfolded
        self.optimizer_log: OptimizerLog | None = None
        self._found = Stages([], [], [])
        super().__init__(self.session.graph, fetches, feeds)

    def look(self, fetches: list[str], feeds: list[str]) -> dict[str, Any]:
        """The effect of the passes on a run, as values of traits.

        Args:
          fetches: names.
          feeds: names.

        Returns:
          A dict from traits to values.
        """
        shapes = self._shapes
        if shapes is not None and len(shapes) != len(feeds):
            shapes = None  # the feeds have changed since
        log, found, problem = None, Stages([], [], []), NOTHING
        if fetches:
            log = explain_optimizing(
                self.session, fetches, feeds, shapes, self._unfolded
            )
            found = stages_of(log, self.graph, display.where)
            problem = "" if log.passes else log.summary
        self.optimizer_log, self._found = log, found
        passes = found.passes
        if sum(map(len, found.rows)) > MOST_ROWS:
            passes = passes[:1]  # the log has the individual passes
        sent = {n for staged in passes for n in (staged.before, staged.after)}
        rows = [part if n in sent else [] for n, part in enumerate(found.rows)]
        return {
            "problem": problem,
            "_summary": "" if log is None else log.summary,
            "_folded": self._notice(fetches, feeds) if log and log.passes else "",
            "_stages": [
                {**packed(part), "fetched": fetched}
                for part, fetched in zip(rows, found.fetched, strict=True)
            ],
            "_passes": [_row(staged) for staged in passes],
        }

    def _notice(self, fetches: list[str], feeds: list[str]) -> str:
        """The sentence about an unfolded run, or one of which nothing is left."""
        folded = explain_folding(self.session, fetches, feeds)
        if self._unfolded:
            return folded.sentence(unfolded=True)
        return f"{folded.summary} {UNFOLDED_HERE}" if folded.is_whole else ""

    def to_text(self) -> str:
        """The effect of each pass, as text."""
        return "\n".join([*filter(None, [self._folded]), super().to_text()])

    def explanation(self) -> OptimizerLog | None:
        """The `OptimizerLog`; None without fetches."""
        return self.optimizer_log

    # ---- static pictures: the graph as it was asked for, with what becomes of its ops

    def still(self) -> Still | None:
        """The static picture of the graph before all passes; None without fetches."""
        if not self._found.passes:
            return None
        whole = self._found.passes[0]
        number = whole.before
        still = Still(self._found.rows[number], fetches=self._found.fetched[number])
        fate: dict[str, str] = {}
        for change in whole.done.changes:
            fate.setdefault(change.node, change.pass_name)
        for staged in self._found.passes[1:]:
            if (
                staged.done.name == "fusion"
            ):  # reported once, for the last op of a chain
                gone = dict.fromkeys(staged.done.removed, "fusion")
                fate = {**gone, **fate}

        def paint(box: Box) -> tuple[str, str, str] | None:
            names = [still.rows[i].name for i in box.members]
            met = [FATES[fate[name]] for name in names if name in fate]
            if not met:
                return None
            word, fill, line = met[0]
            count = sum(other[0] == word for other in met)
            return fill, line, word if len(names) == 1 else f"{count} {word}"

        still.paint = paint
        return still

    def static_bundle(self) -> dict[str, str]:
        still = self.still()
        return bundle_with(self.to_text(), None if still is None else svg_of(still))


def _row(staged: Staged) -> dict[str, Any]:
    """A pass as JSON."""
    done = staged.done
    return {
        "name": done.name,
        "about": done.about,
        "before": staged.before,
        "after": staged.after,
        "from": done.asked,
        "to": done.left,
        "changes": staged.changes,
        "reasons": staged.reasons,
    }
