"""What takes a device's memory: over one run, op by op, and over many runs.

One run: from the lives of arrays in a RunMetadata. Many runs: from the ledgers of a
session's simulated GPUs, which reserve memory as TensorFlow's allocator does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import LedgerEvent, show_bytes
from tfteach.explain.placement import label_of
from tfteach.explain.timing import half_of_copy
from tfteach.framework.graph import OpAdded, SessionRun

MOST_POINTS = 4000
MOST_LISTED = 12


class Point(NamedTuple):
    """What was taken and reserved from a moment on."""

    at_us: float
    taken_bytes: int
    reserved_bytes: int | None = None


class Holder(NamedTuple):
    """An op whose output takes memory."""

    name: str
    size_bytes: int


class Exhausted(NamedTuple):
    """A moment at which there was no room."""

    at_us: float
    needed_bytes: int
    message: str


class RunSpan(NamedTuple):
    """One `Session.run`."""

    start_us: float
    end_us: float
    fetches: tuple[str, ...]
    error: str


@dataclass
class MemoryCurve:
    """The memory of one device over time.

    Attributes:
      title: what it is about, such as "GPU:0" or a session's name and that.
      is_simulated: whether the device is a GPU that is none.
      policy: how its memory is reserved, in words; "" where nobody reserves.
      limit_bytes: how much there is; None if nobody says.
      points: in the order of time.
      holders: what is alive at the peak, the largest first; empty if nobody noted it.
      runs: the runs on the way.
      exhausted: where there was no room.
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
        """The first moment at which most was taken."""
        return max(self.points, key=lambda p: p.taken_bytes, default=Point(0.0, 0, 0))

    @property
    def summary(self) -> str:
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
    """The memory that the arrays of one traced run took, per device.

    Variables, constants and what is fed are there before and do not count.

    Args:
      run_metadata: of a run with full tracing (or its step_stats).

    Example:
      >>> print(memory_of(run_metadata)[0])
      CPU:0: peak 1.53 MiB
          784.00 KiB  layer1/MatMul
      ...
    """
    stats = getattr(run_metadata, "step_stats", run_metadata)
    starts = [
        node.all_start_micros for dev in stats.dev_stats for node in dev.node_stats
    ]
    first = min(starts, default=0)
    # Copies between devices stand in the rows of the threads, with their device.
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
    """Fill in the points, and what lives at the peak."""
    # Frees come before allocations of the same microsecond.
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
    return "simulated" in set(device.thread_names.values())


class MemoryWatch:
    """Follows the simulated GPUs of sessions, run by run; `close()` ends it.

    Args:
      sessions: names and sessions.
      note: called when something was noted, in any thread; may be None.
    """

    def __init__(self, sessions: Mapping[str, Any], note: Any = None) -> None:
        self._start_ns = time.time_ns()
        self._note = note
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

        def noted(event: LedgerEvent) -> None:
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
            if self._note is not None:
                self._note()

        ledger.watchers.append(noted)
        self._closing.append(lambda: ledger.watchers.remove(noted))
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
                if self._note is not None:
                    self._note()

            event.at_end.append(ended)

        self._closing.append(session.graph.observe(began).close)

    def close(self) -> None:
        for close in self._closing:
            close()
        self._closing.clear()

    def __str__(self) -> str:
        if not self.curves:
            return "No memory is counted: the session has no simulated GPU."
        return "\n".join(str(curve) for curve in self.curves)


@contextmanager
def watch_memory(*sessions: Any, **named: Any) -> Iterator[MemoryWatch]:
    """A context manager that follows the memory of sessions' simulated GPUs.

    Example:
      >>> with watch_memory(grows=sess_a, half=sess_b) as watch:
      ...     sess_a.run(loss); sess_b.run(loss)
      >>> print(watch)
      grows · GPU:0 (simulated): peak 1.00 MiB of 8.00 MiB, reserved 1.00 MiB ...
    """
    numbered = {f"session {session.number}": session for session in sessions}
    watch = MemoryWatch({**numbered, **named})
    try:
        yield watch
    finally:
        watch.close()


def thinned(points: list[Point]) -> list[Point]:
    """Half as many points; of two neighbours the one with more taken stays."""
    pairs = zip(points[::2], points[1::2], strict=False)
    kept = [max(pair, key=lambda point: point.taken_bytes) for pair in pairs]
    return [*kept, points[-1]] if kept[-1] is not points[-1] else kept


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
