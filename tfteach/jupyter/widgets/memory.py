"""`MemoryView`: the memory of devices, over one run and over many."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Mapping
from typing import Any

import traitlets

from tfteach.explain.profiling.memory import MemoryCurve, MemoryWatch, memory_of
from tfteach.framework.graph import Graph
from tfteach.jupyter.cell_events import at_cell_end, weakly
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.pictures.timeline_svg import memory_svg
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView, session_for, token_of_run

INTERVAL_S = 0.25
MOST_POINTS = 1500
LONGEST_WAIT = 0.04  # longest pause shown between runs, as a share of the time in runs


class MemoryView(PlainView):
    """The memory of devices over time: in use, reserved, and allocations that failed.

    For a traced run it shows the lifetime of each array, and what is alive at the peak.
    For sessions it follows their simulated GPUs over all runs from now on, so that
    `allow_growth` can be compared with `per_process_gpu_memory_fraction`.

    Args:
      subject: the RunMetadata of a run with full tracing; a session; a dict from names
        to sessions, to compare; a `MemoryWatch`; by default the default session.
      graph: the graph of the traced run; by default the default graph, if it has the
        ops. All views of a graph on a page share the selection.

    Attributes:
      selected: the name of the selected op; "" without one.

    Raises:
      ValueError: there is no session.
      TypeError: `subject` is something else.

    Example:
      >>> tf.simulate_gpus(1, memory="8MiB")
      >>> with tf.Session() as sess:
      ...     view = MemoryView({"all at once": sess})
      >>> [curve.title for curve in view.curves]
      ['GPU:0']
      >>> tf.simulate_gpus(0)
    """

    _esm = STATIC / "memory.js"
    _css = STATIC / "memory.css"

    _graph = traitlets.Unicode("").tag(sync=True)
    _curves: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(self, subject: Any = None, graph: Graph | None = None) -> None:
        self.watch: MemoryWatch | None = None
        self._timer: threading.Timer | None = None
        self._sent_s = 0.0
        self._lock = threading.RLock()
        self._traced: list[MemoryCurve] = []
        super().__init__()
        if hasattr(subject, "step_stats") or hasattr(subject, "dev_stats"):
            self._traced = memory_of(subject)
            held = (holder.name for curve in self._traced for holder in curve.holders)
            self._graph = token_of_run(graph, held)
        elif isinstance(subject, MemoryWatch):
            self.watch = subject
        else:
            self.watch = MemoryWatch(_named(subject), weakly(self._changed))
            weakref.finalize(self, self.watch.close)
        self.refresh()
        at_cell_end(self.refresh)

    @property
    def curves(self) -> list[MemoryCurve]:
        """A `MemoryCurve` for each device that is shown."""
        return self._traced if self.watch is None else self.watch.curves

    def __repr__(self) -> str:
        return f"MemoryView({plural(len(self.curves), 'device')})"

    def close(self) -> None:
        """Stop following the sessions and remove the view."""
        if self.watch is not None:
            self.watch.close()
        super().close()

    def _changed(self) -> None:
        """Something was noted: tell the page, at most four times a second."""
        with self._lock:
            if self._timer is None:
                wait = max(0.0, INTERVAL_S - (time.monotonic() - self._sent_s))
                self._timer = threading.Timer(wait, self._on_time)
                self._timer.daemon = True
                self._timer.start()

    def _on_time(self) -> None:
        self._timer = None
        self.refresh()

    def refresh(self) -> None:
        """Send the current state to the page now."""
        with self._lock:
            self._sent_s = time.monotonic()
            if self._is_closed:
                return
            self._curves = [_row(curve) for curve in self.curves]

    def to_text(self) -> str:
        """Peaks, the ops that hold the memory, and failed allocations, as text."""
        if self.curves:
            return "\n".join(str(curve) for curve in self.curves)
        return str(self.watch) if self.watch else "The run made no arrays."

    def static_bundle(self) -> dict[str, str]:
        svg = memory_svg(self.curves) if self.curves else None
        return bundle_with(self.to_text(), svg)


def _named(subject: Any) -> dict[str, Any]:
    """Sessions by name."""
    if subject is None:
        subject = session_for(None, "MemoryView", "memory belongs to one")
    named = dict(subject) if isinstance(subject, Mapping) else {"session": subject}
    for session in named.values():
        if not hasattr(session, "devices"):
            raise TypeError(
                f"MemoryView shows tf.Sessions or a tf.RunMetadata, not {session!r}"
            )
    return named


def _row(curve: MemoryCurve) -> dict[str, Any]:
    """A curve as JSON; the time between runs is cut short."""
    cut = _Clock(curve)
    points = curve.points
    stride = -(-len(points) // MOST_POINTS)
    if stride > 1:
        parts = [points[i : i + stride] for i in range(0, len(points), stride)]
        points = [max(part, key=lambda point: point.taken_bytes) for part in parts]
    return {
        "title": curve.title,
        "simulated": curve.is_simulated,
        "policy": curve.policy,
        "limit": curve.limit_bytes,
        "peak": curve.peak.taken_bytes,
        "points": [[cut(p.at_us), p.taken_bytes, p.reserved_bytes] for p in points],
        "holders": [list(holder) for holder in curve.holders],
        "runs": [
            [cut(run.start_us), cut(run.end_us), ", ".join(run.fetches), run.error]
            for run in curve.runs[-200:]
        ],
        "exhausted": [
            [cut(moment.at_us), moment.needed_bytes, moment.message]
            for moment in curve.exhausted
        ],
    }


class _Clock:
    """Time without the pauses between runs."""

    def __init__(self, curve: MemoryCurve) -> None:
        runs = sorted(curve.runs)
        spent = sum(run.end_us - run.start_us for run in runs)
        longest = spent * LONGEST_WAIT
        self._cuts: list[
            tuple[float, float, float]
        ] = []  # (start, end, total time cut before)
        total = last = 0.0
        for run in runs:
            excess = max(0.0, run.start_us - last - longest)
            if excess:
                self._cuts.append((last + longest, run.start_us, total))
                total += excess
            last = max(last, run.end_us)
        self._total, self._last = total, last
        self._end = last + longest if runs else float("inf")

    def __call__(self, at_us: float) -> float:
        if at_us > self._last:
            return round(min(at_us, self._end) - self._total, 1)
        before = 0.0
        for start, stop, total in self._cuts:
            if start <= at_us < stop:
                return round(start - total, 1)
            if at_us >= stop:
                before = total + stop - start
        return round(at_us - before, 1)
