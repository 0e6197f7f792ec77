"""Watching input pipelines: what each stage gives per second, who waits for whom."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.explain.pipelines.buffer_history import BufferHistory
from tfteach.explain.pipelines.dataset_river import Draws, dataset_river
from tfteach.explain.pipelines.pipeline_reports import PipelineReports
from tfteach.explain.pipelines.pipeline_stages import STEP, Pipeline
from tfteach.explain.pipelines.pipeline_verdict import (
    Verdict,
    judge_river,
    text_of_rivers,
)
from tfteach.explain.pipelines.pipelines import explain_pipelines
from tfteach.explain.pipelines.queue_river import queue_river
from tfteach.explain.pipelines.queue_waits import Wait, queue_states, waits_for
from tfteach.explain.pipelines.rivers import River
from tfteach.framework.graph import Graph, SessionClosed, observe_lifetimes
from tfteach.framework.observers import Lived
from tfteach.framework.pipeline_meters import clock_ns, watching

__all__ = ["PipelineRun", "watch_pipelines"]

SAMPLE_S = 0.05  # between two looks at the buffers
STUCK_S = 0.15  # after which a wait is part of the report of an interrupted run


class PipelineRun:
    """What pipelines did while they were watched; `print` it for a report.

    Elements are counted as they pass; stages that are fast are timed for a part of
    their elements. Sessions and iterators are kept alive until the watch ends.

    Args:
      before: an earlier run to compare with, or None.

    Attributes:
      before: as given.
      is_open: whether pipelines are still watched.
      history: a `BufferHistory`: how full the buffers were.

    Example:
      >>> data = tf.data.Dataset.range(1000).map(lambda i: i * i).batch(10)
      >>> squares = data.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess, watch_pipelines() as run:
      ...     for _ in range(50):
      ...         _ = sess.run(squares)
      >>> (river,) = run.rivers()
      >>> [(s.kind, river.rates[s.key].elements) for s in river.pipeline.stages]
      [('source', 500), ('map', 500), ('batch', 50), ('step', 50)]
    """

    def __init__(self, before: PipelineRun | None = None) -> None:
        self.before = before
        self.is_open = True
        self.history = BufferHistory()
        self._began_ns = clock_ns()
        self._reports = PipelineReports()
        self._known: dict[Graph, tuple[int, list[Pipeline]]] = {}
        self._ended: list[River] = []  # of sessions that were closed
        self._rivers: list[River] = []  # the last ones in which something waited long
        self._progress = -1
        self._progress_ns = self._began_ns

    # ---- figures

    def rivers(self) -> list[River]:
        """The figures of each pipeline that was seen to work or to wait.

        Returns:
          A list of `River`; after the watch, as they were at its end.
        """
        if not self.is_open:
            return self._rivers
        found = []
        reports = self._reports
        for each in reports.draws():
            pipeline = self._pipeline_of(each)
            if pipeline is not None:
                found.append(dataset_river(pipeline, each))
        for session in list(open_sessions()):
            found += self._queues_of(session)
        return [*found, *self._ended]

    def _queues_of(self, session: Any) -> list[River]:
        """The pipelines of queues that a session uses."""
        reports = self._reports
        waits, meters = waits_for(session), reports.meters_in(session)
        if not waits and not meters:
            return []
        queues, lines = queue_states(session), reports.lines_in(session)
        found = []
        for pipeline in self._pipelines(session.graph):
            keys = {stage.key for stage in pipeline.stages}
            used = {op for stage in pipeline.stages for op in stage.takes} | keys
            ours = [wait for wait in waits if wait.queue in keys]
            if pipeline.kind == "queues" and (ours or used & meters.keys()):
                found.append(
                    queue_river(pipeline, meters, queues, ours, self._began_ns, lines)
                )
        return found

    def lived(self, event: Lived) -> None:
        """Keep the figures of a session that is about to be closed.

        Args:
          event: what happened to any graph or session.
        """
        if isinstance(event, SessionClosed) and self.is_open:
            for session in self._reports.sessions():
                if session.number == event.number:
                    self._ended += self._queues_of(session)

    def verdicts(self) -> list[Verdict]:
        """A `Verdict` for each of `rivers()`, compared with the run before."""
        earlier = [] if self.before is None else self.before.rivers()
        return [judge_river(river, earlier) for river in self.rivers()]

    def __str__(self) -> str:
        return text_of_rivers(self.rivers(), self.verdicts())

    def _pipelines(self, graph: Graph) -> list[Pipeline]:
        known = self._known.get(graph)
        if known is None or known[0] != graph.version:
            known = self._known[graph] = graph.version, explain_pipelines(graph)
        return known[1]

    def _pipeline_of(self, draws: Draws) -> Pipeline | None:
        """The pipeline whose dataset an iterator has now."""
        if not isinstance(draws.session, BaseSession):
            return None  # an eager program's: its stages are in no graph
        same = [
            pipeline
            for pipeline in self._pipelines(draws.session.graph)
            if pipeline.kind == "dataset" and pipeline.name == draws.name
        ]
        met = [p for p in same if {s.key for s in p.stages} & draws.meters.keys()]
        return next(iter(met or same), None)

    # ---- the life of the watch

    def sample(self) -> None:
        """Look at the buffers, and whether anything moved."""
        now_ns = clock_ns()
        at_ns = now_ns - self._began_ns
        reports = self._reports
        for key, held, capacity in reports.buffers():
            self.history.add(key, at_ns, held, capacity)
        progress = reports.progress()
        if progress != self._progress:
            self._progress, self._progress_ns = progress, now_ns
        if self.stuck_s > STUCK_S:
            self._rivers = self.rivers()

    @property
    def stuck_s(self) -> float:
        """For how long a step has waited while no element moved; 0 if none waits."""
        if not self.is_open:
            return 0.0
        waits = any(draws.asked_ns for draws in self._reports.draws()) or any(
            self._is_step(session.graph, wait)
            for session in list(open_sessions())
            for wait in waits_for(session)
        )
        return (clock_ns() - self._progress_ns) / 1e9 if waits else 0.0

    def _is_step(self, graph: Graph, wait: Wait) -> bool:
        """Whether the program itself waits, and not a thread of a QueueRunner."""
        stages = [s for pipeline in self._pipelines(graph) for s in pipeline.stages]
        if wait.is_enqueue:
            return any(s.op == wait.op and not s.threads for s in stages)
        return any(s.key == STEP and wait.op in s.takes for s in stages)

    def close(self, is_interrupted: bool = False) -> None:
        """End the watch, and release the sessions.

        Args:
          is_interrupted: whether the run was ended while it waited: the figures are
            those of the wait then, if it lasted.
        """
        if not self.is_open:
            return
        if not (is_interrupted and self._rivers):
            self._rivers = self.rivers()
        self.is_open = False
        self._reports, self._known = PipelineReports(), {}


@contextmanager
def watch_pipelines(
    before: PipelineRun | None = None,
    sampled: Callable[[], Any] | None = None,
) -> Iterator[PipelineRun]:
    """Watch the input pipelines of all sessions within a `with` block.

    An iterator's stages are measured if it is initialized in the block; of one that was
    initialized before, only the step's waiting is known.

    Args:
      before: an earlier run, with which the report compares.
      sampled: called in another thread, at most 20 times a second; or None.

    Returns:
      A `PipelineRun`; `print` it, also from another thread while the block runs.

    Raises:
      RuntimeError: pipelines are being watched already.

    Example:
      >>> data = tf.data.Dataset.range(100).shuffle(10).batch(4)
      >>> batch = data.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess, watch_pipelines() as run:
      ...     _ = [sess.run(batch) for _ in range(20)]
      >>> print(run)
      OneShotIterator: 20 steps, ... steps/s
      ...
    """
    run = PipelineRun(before)
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_S):
            run.sample()
            if sampled is not None:
                sampled()

    thread = threading.Thread(target=sample, daemon=True, name="tfteach-pipelines")
    is_interrupted = False
    try:
        with watching(run._reports), observe_lifetimes(run.lived):
            thread.start()
            yield run
    except BaseException:
        is_interrupted = True
        raise
    finally:
        ended.set()
        thread.join()
        run.close(is_interrupted)
