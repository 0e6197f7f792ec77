"""What uses the memory of a device: op by op in one run, and over many runs.

Figures of a single run come from the lifetimes of arrays in its RunMetadata. Figures of
many runs come from the allocators of a session's simulated GPUs, which reserve memory
as TensorFlow's do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import LedgerEvent, show_bytes
from tfteach.explain.profiling.timing import half_of_copy
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.framework.graph import OpAdded, SessionRun

__all__ = [
    "Exhausted",
    "Holder",
    "MemoryCurve",
    "MemoryWatch",
    "Point",
    "RunSpan",
    "memory_of",
    "watch_memory",
]

MOST_POINTS = 4000
MOST_LISTED = 12


class Point(NamedTuple):
    """The memory of a device from one moment on.

    Attributes:
      at_us: the time in microseconds.
      taken_bytes: the memory in use.
      reserved_bytes: the memory that the allocator holds; None in a traced run.
    """

    at_us: float
    taken_bytes: int
    reserved_bytes: int | None = None


class Holder(NamedTuple):
    """An op whose output is alive.

    Attributes:
      name: the op's name.
      size_bytes: the size of its output.
    """

    name: str
    size_bytes: int


class Exhausted(NamedTuple):
    """An allocation that failed.

    Attributes:
      at_us: the time in microseconds.
      needed_bytes: the size of the allocation.
      message: the error message.
    """

    at_us: float
    needed_bytes: int
    message: str


class RunSpan(NamedTuple):
    """One `Session.run`.

    Attributes:
      start_us: its start in microseconds.
      end_us: its end in microseconds.
      fetches: the names of the fetches.
      error: the class of the exception that ended it; "" without one.
    """

    start_us: float
    end_us: float
    fetches: tuple[str, ...]
    error: str


@dataclass
class MemoryCurve:
    """The memory of one device over time; `print` it.

    Attributes:
      title: the device, such as "GPU:0", preceded by the session if there are several.
      is_simulated: True for a simulated GPU.
      policy: how memory is reserved; "" in a traced run.
      limit_bytes: the memory available; None in a traced run.
      points: a `Point` for each change, in order of time.
      holders: a `Holder` for each op whose output is alive at the peak, the largest
        first; empty for sessions.
      runs: a `RunSpan` for each run; empty for a traced run.
      exhausted: an `Exhausted` for each allocation that failed.
    """

    title: str
    is_simulated: bool = False
    policy: str = ""
    limit_bytes: int | None = None
    points: list[Point] = field(default_factory=list)
    holders: list[Holder] = field(default_factory=list)
    runs: list[RunSpan] = field(default_factory=list)
    exhausted: list[Exhausted] = field(default_factory=list)

    @property
    def peak(self) -> Point:
        """The first `Point` with the most memory in use."""
        return max(self.points, key=lambda p: p.taken_bytes, default=Point(0.0, 0, 0))

    @property
    def summary(self) -> str:
        """One line: the peak, the limit, and the memory reserved."""
        name = f"{self.title}{' (simulated)' if self.is_simulated else ''}"
        words = f"{name}: peak {show_bytes(self.peak.taken_bytes)}"
        if self.limit_bytes is not None:
            words += f" of {show_bytes(self.limit_bytes)}"
        reserved = [p.reserved_bytes for p in self.points if p.reserved_bytes]
        if reserved:
            words += f", reserved {show_bytes(reserved[-1])}"
        if self.policy:
            words += f" ({self.policy})"
        if self.exhausted:
            words += f"; ran out {_times(len(self.exhausted))}"
        return words

    def __str__(self) -> str:
        lines = [self.summary]
        for holder in self.holders[:MOST_LISTED]:
            lines.append(f"  {show_bytes(holder.size_bytes):>11}  {holder.name}")
        if len(self.holders) > MOST_LISTED:
            lines.append(f"  and {len(self.holders) - MOST_LISTED} more")
        for moment in self.exhausted:
            lines.append(f"  {moment.message.splitlines()[0]}")
        return "\n".join(lines)


def memory_of(run_metadata: Any) -> list[MemoryCurve]:
    """The memory that the arrays of one traced run use, per device.

    Variables, constants and fed arrays exist before the run and do not count.

    Args:
      run_metadata: the RunMetadata of a run with full tracing, or its step_stats.

    Returns:
      A list of `MemoryCurve`, one per device that was used.

    Example:
      >>> x = tf.placeholder(tf.float32, [64, 64], name="x")
      >>> loss = tf.reduce_sum(tf.matmul(x, x, name="product"))
      >>> metadata = tf.RunMetadata()
      >>> with tf.Session() as sess:
      ...     _ = sess.run(
      ...         loss,
      ...         {x: np.ones([64, 64])},
      ...         options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
      ...         run_metadata=metadata,
      ...     )
      >>> print(memory_of(metadata)[0])
      CPU:0: peak 16.00 KiB
          16.00 KiB  product
    """
    stats = getattr(run_metadata, "step_stats", run_metadata)
    starts = [
        node.all_start_micros for dev in stats.dev_stats for node in dev.node_stats
    ]
    first = min(starts, default=0)
    # Copies between devices are in the rows of threads, which name the device.
    changes: dict[str, list[tuple[int, int, str]]] = {
        device.device: []
        for device in stats.dev_stats
        if not device.device.startswith("/host")
    }
    for device in stats.dev_stats:
        for node in device.node_stats:
            half, name, where = half_of_copy(node), node.node_name, device.device
            if half is not None:
                name, where = half.name, half.device
            changes.setdefault(where, []).extend(
                (record.alloc_micros - first, record.alloc_bytes, name)
                for memory in node.memory
                for record in memory.allocation_records
            )
    simulated = {device.device for device in stats.dev_stats if _is_simulated(device)}
    curves = []
    for where, found in changes.items():
        if found:
            title = label_of(where) or where
            curve = MemoryCurve(title, "GPU" in title and where in simulated)
            _add_up(curve, found)
            curves.append(curve)
    return curves


def _add_up(curve: MemoryCurve, changes: list[tuple[int, int, str]]) -> None:
    """Fill in the points, and the ops alive at the peak."""
    # Within a microsecond, frees precede allocations.
    changes.sort(key=lambda change: change[:2])
    alive: dict[str, int] = {}
    at_peak: dict[str, int] = {}
    total = most = 0
    curve.points.append(Point(0.0, 0))
    for at_us, size_bytes, name in changes:
        total += size_bytes
        alive[name] = alive.get(name, 0) + size_bytes
        curve.points.append(Point(float(at_us), total))
        if total > most:
            most, at_peak = total, {n: size for n, size in alive.items() if size > 0}
    ranked = sorted(at_peak.items(), key=lambda item: -item[1])
    curve.holders = [Holder(*item) for item in ranked]


def _is_simulated(device: Any) -> bool:
    return any(n.startswith("simulated") for n in device.thread_names.values())


class MemoryWatch:
    """Records the memory of sessions' simulated GPUs, until `close()`; `print` it.

    Args:
      sessions: a dict from names to sessions.
      note: a function without arguments, called after each change in the thread that
        made it; or None.

    Attributes:
      curves: a `MemoryCurve` for each device of each session.

    Example:
      >>> with tf.Session() as sess:
      ...     watch = MemoryWatch({"sess": sess})
      ...     watch.close()
      >>> print(watch)
      No memory is counted: the session has no simulated GPU.
    """

    def __init__(self, sessions: Mapping[str, Any], note: Any = None) -> None:
        self._start_ns = time.time_ns()
        self._record = note
        self._lock = threading.RLock()
        self._closing: list[Any] = []
        self.curves: list[MemoryCurve] = []
        several = len(sessions) > 1
        for name, session in sessions.items():
            mine = [
                self._follow(device, f"{name} · " if several else "")
                for device in session.devices
                if device.ledger is not None
            ]
            if mine:
                self._follow_runs(session, mine)

    def _now_us(self) -> float:
        return (time.time_ns() - self._start_ns) / 1000

    def _follow(self, device: Any, prefix: str) -> MemoryCurve:
        ledger = device.ledger
        grows = "allow_growth: reserved as it is needed"
        policy = grows if ledger.allow_growth else "reserved all at once"
        curve = MemoryCurve(
            f"{prefix}{label_of(device.name)}",
            device.is_simulated,
            policy,
            ledger.limit_bytes,
        )
        curve.points.append(Point(0.0, ledger.current_bytes, ledger.reserved_bytes))
        self.curves.append(curve)

        def recorded(event: LedgerEvent) -> None:
            with self._lock:
                at_us = self._now_us()
                point = Point(at_us, event.current_bytes, event.reserved_bytes)
                curve.points.append(point)
                if len(curve.points) > MOST_POINTS:
                    curve.points = thinned(curve.points)
                if event.complaint:
                    curve.exhausted.append(
                        Exhausted(at_us, event.needed_bytes, event.complaint)
                    )
            if self._record is not None:
                self._record()

        ledger.watchers.append(recorded)
        self._closing.append(lambda: ledger.watchers.remove(recorded))
        return curve

    def _follow_runs(self, session: Any, curves: list[MemoryCurve]) -> None:
        def began(event: OpAdded | SessionRun) -> None:
            if not isinstance(event, SessionRun) or event.session is not session:
                return
            start_us = self._now_us()
            names = tuple(fetch.name for fetch in event.fetches)

            def ended(error: BaseException | None) -> None:
                words = "" if error is None else type(error).__name__
                span = RunSpan(start_us, self._now_us(), names, words)
                for curve in curves:
                    curve.runs.append(span)
                    if len(curve.runs) > MOST_POINTS:
                        del curve.runs[0]
                if self._record is not None:
                    self._record()

            event.at_end.append(ended)

        self._closing.append(session.graph.observe(began).close)

    def close(self) -> None:
        """Stop recording. What was recorded remains available."""
        for close in self._closing:
            close()
        self._closing.clear()

    def __str__(self) -> str:
        if not self.curves:
            return "No memory is counted: the session has no simulated GPU."
        return "\n".join(str(curve) for curve in self.curves)


@contextmanager
def watch_memory(*sessions: Any, **named: Any) -> Iterator[MemoryWatch]:
    """Record the memory of sessions' simulated GPUs inside a `with` block.

    Args:
      sessions: sessions, reported as "session 1" and so on.
      named: sessions with the names under which to report them.

    Returns:
      A context manager; `with` assigns a `MemoryWatch`, which is closed at the end of
      the block.

    Example:
      >>> tf.simulate_gpus(1, memory="8MiB")
      >>> config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
      >>> x = tf.placeholder(tf.float32, [256, 256])
      >>> with tf.Session(config=config) as sess, watch_memory(grows=sess) as watch:
      ...     _ = sess.run(tf.reduce_sum(tf.matmul(x, x)), {x: np.ones([256, 256])})
      >>> print(watch)
      GPU:0 (simulated): peak 512.00 KiB of ...
      >>> tf.simulate_gpus(0)
    """
    numbered = {f"session {session.number}": session for session in sessions}
    watch = MemoryWatch({**numbered, **named})
    try:
        yield watch
    finally:
        watch.close()


def thinned(points: list[Point]) -> list[Point]:
    """Half as many points; the one with more memory in use remains of each pair."""
    pairs = zip(points[::2], points[1::2], strict=False)
    kept = [max(pair, key=lambda point: point.taken_bytes) for pair in pairs]
    return [*kept, points[-1]] if kept[-1] is not points[-1] else kept


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
