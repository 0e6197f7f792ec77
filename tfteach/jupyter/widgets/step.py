"""`StepView`: a recorded run, op by op, with its values on the graph's edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from tfteach.explain.eager.eager_recording import EagerRecording
from tfteach.explain.graphs.scope_tree import Box, is_variable, own_constants, visible
from tfteach.explain.steps.recording import Recording
from tfteach.explain.steps.step_recorder import When
from tfteach.explain.steps.stepping import record
from tfteach.framework.defaults import get_default_session
from tfteach.jupyter.eager_rows import NO_ROWS, eager_rows
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import Still, plural
from tfteach.jupyter.saved_page import Answers
from tfteach.jupyter.step_wire import StepWire, as_text, clipped
from tfteach.jupyter.widgets.graph import STATIC, GraphView, Names, names_of
from tfteach.jupyter.widgets.unfoldable import BothWays, Unfoldable, fates_of

MOST_LINES = 60  # in a saved notebook
MOST_SVG = 50_000  # characters; HTML holds it a second time
DONE = ("#e2f5ec", "#3c9a73")
NOW = ("#dbe9fb", "#0b63ce")
WRONG = ("#fbe4dc", "#b83208")


class StepView(GraphView, Unfoldable):
    """A recorded run to step through, forward and backward, without the kernel.

    The arrow keys (or the buttons) go one op forward or backward, with Shift one
    iteration of a loop. `n` and `p` go to the next and the previous breakpoint. The
    graph shows which ops have run, and the latest values on its edges; the panel shows
    the inputs and outputs of the op, the arrays alive, and the line that built it.
    Click a box to go to the step at which it ran; `b` sets a breakpoint there.

    Args:
      run: a `Recording`, from `record`; or an `EagerRecording`, from `record_eager`,
        whose lines are shown, too.
      break_on: names of ops to stop at; * matches any part.
      break_nan: True to stop where a NaN or an infinity originates.
      at: the number of the step to begin with; by default the first breakpoint, else
        the op that failed, else the first step.
      again: records the run again, `again(unfolded)`, when `unfolded` changes; as
        `StepView.of` has it. None for a view that does not run anything.
      options: as for `GraphView`.

    Attributes:
      run: the recording.
      at: the number of the displayed step; the length of the run stands for the op that
        failed.
      unfolded: True if the run was made without the optimizer; assigning it makes the
        run again.

    Raises:
      TypeError: `run` is not a recording.

    Example:
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> loss = tf.reduce_sum(tf.log(x, name="log"), name="loss")
      >>> with tf.Session() as sess:
      ...     view = StepView(record(sess, loss, {x: [1.0, 0.0]}), break_nan=True)
      >>> view.stops()
      [0]
    """

    _esm = STATIC / "step.js"
    _css = STATIC / "step.css"

    # As text: ipywidgets would traverse each element of lists.
    _values: Any = traitlets.List().tag(sync=True, to_json=as_text)
    _steps: Any = traitlets.List().tag(sync=True, to_json=as_text)
    _loops: Any = traitlets.List().tag(sync=True, to_json=as_text)
    _words: Any = traitlets.Dict().tag(sync=True)
    # Of an eager program; see `eager_rows`.
    _code: Any = traitlets.List().tag(sync=True, to_json=as_text)
    _taped: Any = traitlets.Dict().tag(sync=True)
    _gradient_of: Any = traitlets.Dict().tag(sync=True)
    _inner: Any = traitlets.Dict().tag(sync=True)
    _when: Any = traitlets.List().tag(sync=True)
    _spoilers: Any = traitlets.List().tag(sync=True)
    _shown = traitlets.Int(0).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    break_on: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    break_nan = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        run: Recording | EagerRecording,
        *,
        break_on: Names = (),
        break_nan: bool = False,
        at: int | None = None,
        again: Callable[[bool], Recording] | None = None,
        **options: Any,
    ) -> None:
        self._lines = NO_ROWS
        if isinstance(run, EagerRecording):
            self._lines = eager_rows(run)
            run = run.run
        if not isinstance(run, Recording):
            raise TypeError(
                "StepView shows a Recording, from tfteach.explain.record, not "
                f"{type(run).__name__}. To run and show: StepView.of(sess, fetches)"
            )
        self._ways = BothWays(run, again, lambda run: (run.folded, run.unfolded))
        feeds = [seen.name for seen in run.fed]
        super().__init__(run.graph, run.fetches, feeds, **options)
        self.break_on = [name.partition(":")[0] for name in names_of(break_on)]
        self.break_nan = break_nan
        self._show(at)
        self.observe(lambda change: self._turn(change["new"]), "unfolded")

    @property
    def run(self) -> Recording:
        """The recording that is shown."""
        return self._ways.run

    def _show(self, at: int | None = None, problem: str = "") -> None:
        """Send the recording to the page."""
        values = self._contents(at, problem)
        with self.hold_sync():
            for name, value in values.items():
                setattr(self, name, value)

    def _contents(self, at: int | None = None, problem: str = "") -> dict[str, Any]:
        """The recording, as values of traits."""
        run = self.run
        wire = StepWire(run, {row.name: i for i, row in enumerate(self._rows)})
        return {
            "_values": wire.values,
            "_steps": wire.steps,
            "_loops": wire.loops,
            "_words": wire.words,
            **self._lines,
            "_when": list(run.stops),
            "_spoilers": run.spoilers(),
            "at": self._first_look() if at is None else at,
            "_folded": self._ways.notice(problem),
            "_fates": fates_of(run.folded, run.unfolded),
            "unfolded": run.unfolded,
            "_shown": self._shown + 1,
        }

    def recorded_answers(self) -> Answers:
        """The run folded and unfolded, if both were recorded."""
        cases = [([way], self._contents()) for way in self._ways.each()]
        return Answers(("unfolded",), cases, {})

    def _turn(self, unfolded: bool) -> None:
        """Show the run unfolded, or as the session runs it."""
        if unfolded == self.run.unfolded:
            return
        problem = ""
        try:
            self._ways.turn(unfolded)
        except Exception as error:  # otherwise the reader would not see it
            problem = f"It cannot run again: {error}"
        self._show(problem=problem)

    @classmethod
    def of(
        cls,
        session: Any,
        fetches: Any,
        feed_dict: Any = None,
        *,
        when: When | None = None,
        unfolded: bool = False,
        **options: Any,
    ) -> StepView:
        """Run once, and show the recording.

        Args:
          session: an open session; None for the default session.
          fetches: as for `session.run`.
          feed_dict: as for `session.run`.
          when: as for `tfteach.explain.record`.
          unfolded: True to run every op, constants included, without the optimizer.
          options: as for `StepView`.

        Returns:
          A `StepView`.

        Raises:
          ValueError: there is no session; or as for `session.run`.
        """
        session = get_default_session() if session is None else session
        if session is None:
            raise ValueError("No session: pass one, StepView.of(sess, fetches)")

        def run(unfolded: bool) -> Recording:
            return record(session, fetches, feed_dict, when=when, unfolded=unfolded)

        return cls(run(unfolded), again=run, **options)

    def __repr__(self) -> str:
        return f"StepView({plural(len(self.run), 'step')})"

    @traitlets.validate("at")
    def _within(self, proposal: Any) -> int:
        last = len(self.run) - (self.run.error is None)
        return max(0, min(int(proposal["value"]), last))

    def stops(self) -> list[int]:
        """The breakpoints.

        Returns:
          A list of step numbers, ascending.
        """
        found = self.run.breakpoints(*self.break_on, nan=self.break_nan)
        return sorted({*found, *self.run.stops})

    def _first_look(self) -> int:
        stops = self.stops()
        if stops:
            return stops[0]
        return len(self.run) if self.run.error is not None else 0

    # ---- static pictures

    def _moment(self) -> int:
        """The step of the static picture: the current one, else the end of the run."""
        return self.at or len(self.run)

    def still(self) -> Still:
        still = super().still()
        number = self._moment()
        ran = {step.op for step in self.run.steps[: number + 1]}
        steps = (*self.run.steps, self.run.failed)
        now = steps[number] if number < len(steps) else None
        if now is not None and self.expanded is None:
            still.open |= _scopes_of(now.op, still)
            still.boxes = list(visible(still.root, still.open))
        known = self.run.values_at(number)
        # A closed scope counts as run once any of its ops ran, as in the page.
        spoiled = {self.run[n].op for n in self._spoilers if n <= number}

        def paint(box: Box) -> tuple[str, str, str] | None:
            names = {still.rows[i].name for i in box.members}
            if now is not None and now.op in names:
                if now is self.run.failed:
                    return *WRONG, "failed here"
                if now.op in spoiled:
                    return *WRONG, "now: makes NaN or ∞"
                return *NOW, "now"
            if names & spoiled:
                return *WRONG, "makes NaN or ∞"
            return (*DONE, "") if names & ran else None

        def values(base: list[tuple[int, int, int]]) -> str:
            tensors = {f"{still.rows[op].name}:{port}" for op, port, _ in base}
            found = [known[name] for name in tensors if name in known]
            return clipped(found[0].short) if len(found) == len(tensors) == 1 else ""

        still.paint, still.values = paint, values
        return still

    def to_text(self, most: int = 200) -> str:
        """The steps as a table, with breakpoints marked.

        Args:
          most: the number of lines.

        Returns:
          A string of several lines.
        """
        fetches = ", ".join(self.run.fetches)
        count = plural(len(self.run), "step")
        lines = [f"{count} for {fetches}" if fetches else count]
        return "\n".join([*lines, self.run.to_text(most, self.stops())])

    def static_bundle(self) -> dict[str, str]:
        """The table of steps, and the graph with its values unless it is large."""
        svg = svg_of(self.still())
        if svg is not None and len(svg) > MOST_SVG:
            svg = None
        return bundle_with(self.to_text(MOST_LINES), svg, beside=True)


def _scopes_of(op: str, still: Still) -> set[str]:
    """The scopes that hide an op; none for variables and ops with own constants."""
    found: set[str] = set()
    inside = still.root.children or ()
    while True:
        box = next((b for b in inside if b.is_scope and op.startswith(b.id)), None)
        if box is None or is_variable(box, still.rows):
            return found
        if own_constants(box, still.rows):
            return found
        found.add(box.id)
        inside = box.children or ()
