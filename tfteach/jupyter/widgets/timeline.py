"""`TimelineView`: when and where each op of a run ran, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from tfteach.explain.profiling.critical_path import CriticalPath, critical_path_of
from tfteach.explain.profiling.timing import StepTimes, Total, lane_of, timed, times_of
from tfteach.framework.graph import Graph
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.pictures.timeline_svg import timeline_svg
from tfteach.jupyter.saved_page import Answers
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.unfoldable import BothWays, Unfoldable, unknown_folding
from tfteach.jupyter.widgets.view_base import PlainView, session_for, token_of_run

MOST_OPS = 20_000
MOST_PARTS = 4_000


class TimelineView(PlainView, Unfoldable):
    """The ops of a run over time, with a lane for each device and thread.

    A thick line below the bars is the critical path: what the end of the run had to
    wait for. The strip above the lanes shows what it is due to; click a part of it to
    mark its ops. Curves from lane to lane are copies between devices; below a device's
    name is the share of the run in which it is busy. The wheel zooms, dragging pans.
    Click an op to select it; the arrow keys go from op to op. Beside the lanes are
    totals by op type or by scope; click a total to mark its ops. All views of a graph
    on a page share the selection.

    Args:
      run: the RunMetadata of a run with full tracing, or a `StepTimes`.
      height: of the totals, in pixels; 0 fits them.
      graph: the graph that ran; by default the default graph, if it has the ops.
      again: times the run again, `again(unfolded)`, when `unfolded` changes; as
        `TimelineView.of` has it. None for a view that does not run anything.

    Attributes:
      selected: the name of the selected op; "" without one.
      times: the `StepTimes`.
      path: their `CriticalPath`.
      unfolded: True if the run was made without the optimizer; assigning it makes the
        runs again.

    Raises:
      TypeError: `run` is something else.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 2])
      >>> with tf.Session() as sess:
      ...     view = TimelineView.of(sess, tf.matmul(x, [[1.0], [2.0]]), {x: [[1, 2]]})
      >>> [total.name for total in view.times.by_type()]
      ['MatMul']
    """

    _esm = STATIC / "timeline.js"
    _css = STATIC / "timeline.css"

    _graph = traitlets.Unicode("").tag(sync=True)
    _lanes: Any = traitlets.List().tag(sync=True)
    _ops: Any = traitlets.List().tag(sync=True)
    _types: Any = traitlets.List().tag(sync=True)
    _scopes: Any = traitlets.List().tag(sync=True)
    _copies: Any = traitlets.List().tag(sync=True)
    _models: Any = traitlets.Dict().tag(sync=True)
    _path: Any = traitlets.Dict().tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)

    _shown = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        run: Any,
        height: int = 0,
        graph: Graph | None = None,
        again: Callable[[bool], StepTimes] | None = None,
    ) -> None:
        if not isinstance(run, StepTimes):
            stats = getattr(run, "step_stats", run)
            if not hasattr(stats, "dev_stats"):
                raise TypeError(
                    f"TimelineView shows a tf.RunMetadata or StepTimes, not {run!r}"
                )
            run = times_of(stats)
        self._known: tuple[StepTimes, CriticalPath] | None = None
        self._ways: BothWays[StepTimes] = BothWays(
            run, again, lambda run: (run.folded, run.unfolded), len(run.wall_us) + 1
        )
        super().__init__(
            height=height,
            _graph=token_of_run(graph, (op.name for op in run.ops)),
            **self._contents(),
        )
        self.observe(lambda change: self._turn(change["new"]), "unfolded")

    @property
    def times(self) -> StepTimes:
        """The times that are shown."""
        return self._ways.run

    @property
    def path(self) -> CriticalPath:
        """The critical path of the run that is shown."""
        if self._known is None or self._known[0] is not self.times:
            self._known = self.times, critical_path_of(self.times)
        return self._known[1]

    def _contents(self, problem: str = "") -> dict[str, Any]:
        """The times, as values of traits."""
        run = self.times
        lanes = sorted({(op.device, op.thread) for op in run.ops})
        number = {lane: i for i, lane in enumerate(lanes)}
        threads = {device: sum(d == device for d, _ in lanes) for device, _ in lanes}
        first = {(op.device, op.thread): op for op in reversed(run.ops)}
        known = bool(run.ops or run.folded.needed)
        place = {op.name: i for i, op in enumerate(run.ops[:MOST_OPS])}
        return {
            "_summary": run.summary,
            "_lanes": [
                {
                    "label": lane_of(first[lane]),
                    "name": lane[0],
                    "simulated": first[lane].is_simulated,
                    "model": run.cards.get(lane[0], ""),
                    "busy": round(run.busy_share(lane[0]), 3),
                    "thread": lane[1] if threads[lane[0]] > 1 else 0,
                }
                for lane in lanes
            ],
            "_ops": [
                [
                    op.name, op.op_type, number[op.device, op.thread],
                    round(op.start_us, 2), round(op.elapsed_us, 2), op.size_bytes,
                ]
                for op in run.ops[:MOST_OPS]
            ],
            "_copies": [
                [place[send.name], place[receive.name]]
                for send, receive in run.copies()
                if send.name in place and receive.name in place
            ],
            "_path": _wire_path(self.path, place),
            "_models": {op.name: op.model for op in run.ops[:MOST_OPS] if op.model},
            "_types": [_row(total) for total in run.by_type()],
            "_scopes": [_row(total) for total in run.by_scope()],
            "_folded": self._ways.notice(problem) if known else unknown_folding(),
            "unfolded": run.unfolded,
            "_shown": self._shown + 1,
        }  # fmt: skip

    def recorded_answers(self) -> Answers:
        """The run folded and unfolded, if both were timed."""
        cases = [([way], self._contents()) for way in self._ways.each()]
        return Answers(("unfolded",), cases, {})

    def _turn(self, unfolded: bool) -> None:
        """Show the run unfolded, or as the session runs it."""
        if unfolded == self.times.unfolded:
            return
        problem = ""
        try:
            self._ways.turn(unfolded)
        except Exception as error:  # otherwise the reader would not see it
            problem = f"It cannot run again: {error}"
        with self.hold_sync():
            for name, value in self._contents(problem).items():
                setattr(self, name, value)

    @classmethod
    def of(
        cls,
        session: Any,
        fetches: Any,
        feed_dict: Any = None,
        runs: int = 5,
        unfolded: bool = False,
    ) -> TimelineView:
        """Run several times with full tracing, and show the fastest run.

        Args:
          session: an open session; None for the default session.
          fetches: as for `session.run`. The runs have their usual effects: a training
            op trains.
          feed_dict: as for `session.run`.
          runs: the number of timed runs; one more precedes them to warm up.
          unfolded: True to run every op, constants included, without the optimizer.

        Returns:
          A `TimelineView`.

        Raises:
          ValueError: there is no session, or `runs` is less than 1.
        """
        session = session_for(session, "TimelineView.of", "a run belongs to one")

        def run(unfolded: bool) -> StepTimes:
            return timed(session, fetches, feed_dict, runs, unfolded)

        return cls(run(unfolded), graph=session.graph, again=run)

    def __repr__(self) -> str:
        return f"TimelineView({plural(len(self.times.ops), 'op')})"

    def to_text(self) -> str:
        """What bounds the step, and the totals by op type, as text."""
        path = self.path
        summary, *totals = str(self.times).split("\n")
        said = filter(None, [path.sentence, path.idle_sentence])
        return "\n".join([summary, *said, *totals])

    def static_bundle(self) -> dict[str, str]:
        # The picture has no line for what the optimizer left out; the text begins so.
        beside = "text" in self._folded
        picture = timeline_svg(self.times, self.path)
        return bundle_with(self.to_text(), picture, beside)


def _wire_path(path: CriticalPath, place: dict[str, int]) -> dict[str, Any]:
    """The critical path for the page; of long ones the parts that take time."""
    number = {
        bound.of: i for i, bound in enumerate(path.bounds) if bound.of == bound.name
    }
    parts = [part for part in path.parts if part.op.name in place]
    if len(parts) > MOST_PARTS:
        parts = sorted(parts, key=lambda part: -part.elapsed_us)[:MOST_PARTS]
        parts.sort(key=lambda part: part.start_us)
    return {
        "sentence": path.sentence,
        "idle": path.idle_sentence,
        "shared": path.is_shared,
        "bounds": [
            {
                "name": bound.name,
                "label": bound.label,
                "kind": bound.kind,
                "elapsed": round(bound.elapsed_us, 2),
                "share": round(bound.share, 7),
                "of": number.get(bound.of, i),
            }
            for i, bound in enumerate(path.bounds)
        ],
        "parts": [
            [
                place[part.op.name], round(part.start_us, 2), round(part.elapsed_us, 2),
                number.get(part.bound, -1), part.is_wait,
            ]
            for part in parts
        ],
        "because": {part.op.name: part.because for part in parts if part.because},
    }  # fmt: skip


def _row(total: Total) -> list[Any]:
    return [
        total.name,
        total.calls,
        round(total.elapsed_us, 2),
        total.size_bytes,
        round(total.share, 5),
    ]
