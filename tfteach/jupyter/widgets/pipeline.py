"""`PipelineView`: the stages of an input pipeline as a river; who waits for whom."""

from __future__ import annotations

import threading
import time
from typing import Any

import traitlets

from tfteach.explain.pipelines.pipeline_rates import PipelineRun
from tfteach.explain.pipelines.pipeline_stages import Stage
from tfteach.explain.pipelines.pipeline_state import pipelines_now
from tfteach.explain.pipelines.pipeline_verdict import (
    Verdict,
    judge_river,
    text_of_rivers,
)
from tfteach.explain.pipelines.rivers import River
from tfteach.framework.graph import Graph
from tfteach.jupyter.display import place, where
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.pictures.pipeline_svg import pipeline_svg
from tfteach.jupyter.pipeline_rows import RiverFigures, figures_of
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView, token_of

LIVE_S = 0.1  # between two messages while the pipeline runs
LIVE_SHARE = 0.01  # of the time, for making them


class PipelineView(PlainView):
    """The stages between the data and the step as a river, with a verdict.

    A stage's bed is as wide as the stage is fast; the water is what flows; a basin is a
    buffer with its level. Each row has the elements per second, the share of the time
    in which the stage works, waits for its input or is not asked, and how full its
    buffer was. The verdict says whether the step waits for data or the data for the
    step, what would widen the narrowest stage, and who should have filled a queue that
    hangs.

    Args:
      run: a `PipelineRun` of `watch_pipelines`, which may still be open; or a session
        or a `tf.Graph`, of which the stages, queues and threads are shown as they are.
        By default the default graph.
      before: an earlier `PipelineRun` to compare with; by default that of `run`.

    Attributes:
      selected: the name of the selected stage's op; "" without one.

    Raises:
      TypeError: `run` is something else.

    Example:
      >>> data = tf.data.Dataset.range(100).shuffle(10).batch(4).prefetch(1)
      >>> batch = data.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess, watch_pipelines() as run:
      ...     _ = [sess.run(batch) for _ in range(20)]
      >>> PipelineView(run)
      PipelineView(OneShotIterator: 20 steps)
    """

    _esm = STATIC / "pipeline.js"
    _css = STATIC / "pipeline.css"

    _graph = traitlets.Unicode("").tag(sync=True)
    _rivers: Any = traitlets.List().tag(sync=True)
    _figures: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(self, run: Any = None, before: PipelineRun | None = None) -> None:
        self.run: PipelineRun | None = None
        if isinstance(run, PipelineRun):
            self.run = run
        elif run is not None and not isinstance(getattr(run, "graph", run), Graph):
            raise TypeError(
                "PipelineView shows a PipelineRun, a session or a tf.Graph, not "
                f"{run!r}: `with watch_pipelines() as run: ...; PipelineView(run)`."
            )
        self._where = run
        earlier = before or (None if self.run is None else self.run.before)
        self._before = [] if earlier is None else earlier.rivers()
        self._next_s = 0.0
        self._lock = threading.Lock()
        self._shown: list[tuple[River, RiverFigures, Verdict]] = []
        self._look()
        super().__init__(**self._contents())

    def __repr__(self) -> str:
        words = [
            f"{river.pipeline.name}: {plural(river.step.steps, 'step')}"
            for river, _, _ in self._shown
        ]
        return f"PipelineView({'; '.join(words)[:150]})"

    def _look(self) -> None:
        """Compute what is shown."""
        if self.run is None:
            rivers, history = pipelines_now(self._where), None
        else:
            rivers, history = self.run.rivers(), self.run.history
        self._shown = [
            (
                river,
                figures_of(river, history),
                judge_river(river, self._before, place),
            )
            for river in rivers
        ]

    def _contents(self) -> dict[str, Any]:
        """The traits of what is shown."""
        graphs = [river.pipeline.graph for river, _, _ in self._shown]
        return {
            "_graph": token_of(graphs[0]) if graphs else "",
            "_rivers": [_structure(river) for river, _, _ in self._shown],
            "_figures": [
                _figures(river, figures, verdict)
                for river, figures, verdict in self._shown
            ],
        }

    def refresh(self) -> None:
        """Show what the pipelines have done by now."""
        with self._lock:
            self._look()
            contents = self._contents()
            with self.hold_sync():
                for name, value in contents.items():
                    if getattr(self, name) != value:
                        setattr(self, name, value)

    def follow(self) -> None:
        """Refresh, if that is due: at most ten times a second, for 1% of the time."""
        if time.monotonic() < self._next_s:
            return
        began_s = time.thread_time()
        self.refresh()
        took_s = time.thread_time() - began_s
        self._next_s = time.monotonic() + max(LIVE_S, took_s / LIVE_SHARE)

    def headlines(self) -> list[str]:
        """One sentence for each pipeline, and why it is so."""
        return [" ".join([v.headline, *v.reasons]) for _, _, v in self._shown]

    def to_text(self) -> str:
        """A table of the stages, the state of the queues, and the verdict."""
        rivers = [river for river, _, _ in self._shown]
        verdicts = [verdict for _, _, verdict in self._shown]
        return text_of_rivers(rivers, verdicts, place)

    def to_svg(self) -> str:
        """The rivers as an SVG picture."""
        return pipeline_svg(self._shown)

    def static_bundle(self) -> dict[str, str]:
        """The picture as a dict from MIME types to SVG, HTML and text."""
        return bundle_with(self.to_text(), self.to_svg())


def _structure(river: River) -> dict[str, Any]:
    """What does not change while the pipeline runs."""
    pipeline = river.pipeline
    lanes = pipeline.lanes()
    number = {stage.key: i for i, stage in enumerate(pipeline.stages)}
    line = river.step.line
    return {
        "name": pipeline.name,
        "kind": pipeline.kind,
        "stages": [
            _stage(stage, lanes[stage.key], number) for stage in pipeline.stages
        ],
        "runs": [] if line is None else [place(line), line.text],
    }


def _stage(stage: Stage, lane: int, number: dict[str, int]) -> dict[str, Any]:
    source = stage.source
    return {
        "op": stage.op,
        "kind": stage.kind,
        "title": stage.title,
        "detail": stage.detail,
        "lane": lane,
        "inputs": [number[key] for key in stage.inputs if key in number],
        "at": "" if source is None else place(source),
        "text": "" if source is None else where(source)[3],
    }


def _figures(river: River, figures: RiverFigures, verdict: Verdict) -> dict[str, Any]:
    """What changes while the pipeline runs."""
    keys = [stage.key for stage in river.pipeline.stages]
    narrowest = verdict.narrowest
    return {
        "head": figures.head,
        "flow": figures.flow,
        "rows": [[*row[:-1], list(row.levels)] for row in figures.rows],
        "kind": verdict.kind,
        "headline": verdict.headline,
        "gain": verdict.gain,
        "factor": round(verdict.factor, 3),
        "reasons": list(verdict.reasons),
        "advice": list(verdict.advice),
        "narrowest": keys.index(narrowest) if narrowest in keys else -1,
    }
