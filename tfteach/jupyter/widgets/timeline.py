"""`TimelineView`: when each op of a run ran, where, and what takes the time."""

from __future__ import annotations

from typing import Any

import traitlets

from tfteach.explain.timing import StepTimes, Total, lane_of, timed, times_of
from tfteach.framework.graph import Graph
from tfteach.jupyter.mime_bundle import bundle_with
from tfteach.jupyter.static_picture import plural
from tfteach.jupyter.timeline_svg import timeline_svg
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView, token_of_run

MOST_OPS = 20_000


class TimelineView(PlainView):
    """The ops of a run over time, a lane for each device and thread.

    The wheel zooms, dragging pans; a click on an op selects it, the arrow keys go from
    op to op. Beside the lanes stand totals by op type or by scope; a click there marks
    the ops that it counts. An op that is selected here is so in all views of the graph
    in the page.

    Args:
      run: a RunMetadata of a run with full tracing, or `StepTimes`.
      height: of the totals beside the lanes, in pixels; 0 fits.
      graph: that ran; without it the default graph, if it has the ops.

    Attributes:
      selected: the name of the chosen op; "" for none.
      times: what it shows, as data.

    Raises:
      TypeError: `run` is something else.

    Example:
      >>> view = TimelineView(run_metadata)
      >>> view = TimelineView.of(sess, train_op, {x: batch})   # runs it six times
    """

    _esm = STATIC / "timeline.js"
    _css = STATIC / "timeline.css"

    _graph = traitlets.Unicode("").tag(sync=True)
    _lanes: Any = traitlets.List().tag(sync=True)
    _ops: Any = traitlets.List().tag(sync=True)
    _types: Any = traitlets.List().tag(sync=True)
    _scopes: Any = traitlets.List().tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, run: Any, height: int = 0, graph: Graph | None = None) -> None:
        if not isinstance(run, StepTimes):
            stats = getattr(run, "step_stats", run)
            if not hasattr(stats, "dev_stats"):
                raise TypeError(
                    f"TimelineView shows a tf.RunMetadata or StepTimes, not {run!r}"
                )
            run = times_of(stats)
        self.times: StepTimes = run
        lanes = list(dict.fromkeys((op.device, op.thread) for op in run.ops))
        number = {lane: i for i, lane in enumerate(lanes)}
        threads = {device: sum(d == device for d, _ in lanes) for device, _ in lanes}
        first = {(op.device, op.thread): op for op in reversed(run.ops)}
        super().__init__(
            height=height,
            _graph=token_of_run(graph, (op.name for op in run.ops)),
            _summary=run.summary,
            _lanes=[
                {
                    "label": lane_of(first[lane]),
                    "name": lane[0],
                    "simulated": first[lane].is_simulated,
                    "thread": lane[1] if threads[lane[0]] > 1 else 0,
                }
                for lane in lanes
            ],
            _ops=[
                [
                    op.name, op.op_type, number[op.device, op.thread],
                    round(op.start_us, 2), round(op.elapsed_us, 2), op.size_bytes,
                ]
                for op in run.ops[:MOST_OPS]
            ],
            _types=[_row(total) for total in run.by_type()],
            _scopes=[_row(total) for total in run.by_scope()],
        )  # fmt: skip

    @classmethod
    def of(
        cls, session: Any, fetches: Any, feed_dict: Any = None, runs: int = 5
    ) -> TimelineView:
        """Run `fetches` with full tracing, and show the fastest run.

        Args: as for `tfteach.explain.timing.timed`; a training op trains.
        """
        return cls(timed(session, fetches, feed_dict, runs), graph=session.graph)

    def __repr__(self) -> str:
        return f"TimelineView({plural(len(self.times.ops), 'op')})"

    def to_text(self) -> str:
        """The totals by op type."""
        return str(self.times)

    def static_bundle(self) -> dict[str, str]:
        return bundle_with(self.to_text(), timeline_svg(self.times))


def _row(total: Total) -> list[Any]:
    return [
        total.name,
        total.calls,
        round(total.elapsed_us, 2),
        total.size_bytes,
        round(total.share, 5),
    ]
