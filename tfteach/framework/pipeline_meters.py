"""Meters of input pipelines: what datasets and queues report while they are watched.

Kernels ask `watch()`; while it is None, as nearly always, they report nothing.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from operator import length_hint
from typing import Any, NamedTuple, Protocol

clock_ns = time.perf_counter_ns

_ALL = 1 << 62  # a counter counts down from here
_PAUSE = 3  # a burst that takes so many times longer than usual was interrupted
_NEW = 0.1  # of a burst, in the mean of the bursts so far


class Totals(NamedTuple):
    """What a stage did so far.

    Attributes:
      elements: the number of elements that it gave.
      elapsed_ns: the time of all calls for an element, those that it made itself for
        elements of its inputs included.  Of fast stages some calls are estimated.
      calls_ns: the time of a parallel stage's function, over all threads.
      epochs: how often its elements began.
      is_estimated: whether some calls were not timed.
      usual_ns: the time without pauses of the thread, as when another one has Python's
        lock; `elapsed_ns` if it is not known.
    """

    elements: int = 0
    elapsed_ns: float = 0.0
    calls_ns: float = 0.0
    epochs: int = 0
    is_estimated: bool = False
    usual_ns: float = 0.0

    def since(self, earlier: Totals) -> Totals:
        """What was added after `earlier`."""
        return Totals(
            self.elements - earlier.elements,
            self.elapsed_ns - earlier.elapsed_ns,
            self.calls_ns - earlier.calls_ns,
            self.epochs - earlier.epochs,
            self.is_estimated,
            self.usual_ns - earlier.usual_ns,
        )


class StageMeter:
    """What one stage of a dataset does: elements, time, how full its buffer is.

    Several iterators may share a meter: those of its epochs, or of a dataset that a
    function returns again and again.

    Attributes:
      thread: the thread that last requested an element.
      asked_ns: since when a call for an element lasts; 0 for none.
      calls_ns: the time of a parallel stage's function, over all threads.
      epochs: how often its elements began.
    """

    def __init__(self) -> None:
        self.thread = 0
        self.asked_ns = 0
        self.calls_ns = 0
        self.epochs = 0
        self._lock = threading.Lock()
        self._timed_ns = 0
        self._untimed_ns = 0.0  # an estimate
        self._is_estimated = False
        self._usual_ns = 0.0  # of an element
        self._ended = 0  # the elements of counters that are no longer needed
        self._counters: list[Iterator[int]] = []
        self._buffer: weakref.ref[Any] | None = None
        self._last_buffered: tuple[int, int] | None = None

    def counter(self) -> Iterator[int]:
        """A new iterator of which each item counts one element."""
        found = iter(range(1, _ALL))
        self._counters.append(found)
        return found

    def release(self, counter: Iterator[int]) -> None:
        """No more elements come from a counter."""
        if counter in self._counters:
            self._counters.remove(counter)
            self._ended += counted(counter)

    def add(self, count: int) -> None:
        """Count elements that no counter counts."""
        self._ended += count

    def timed(self, elapsed_ns: int) -> None:
        """Add the time of a call."""
        self._timed_ns += elapsed_ns

    def usual(self, mean_ns: float) -> None:
        """Add the mean time of an element in a burst; a pause in it hardly counts."""
        known = self._usual_ns
        step = min(mean_ns, _PAUSE * known) - known if known else mean_ns
        self._usual_ns += step * (_NEW if known else 1)

    def untimed(self, calls: int, mean_ns: float, passed_ns: int) -> None:
        """Add calls that were not timed.

        A pause of the thread in a timed call counts once: what it adds to the mean adds
        no more to other calls than the time that passed while they were made.

        Args:
          calls: their number.
          mean_ns: the time of one, as far as is known from those timed before.
          passed_ns: the time in which they were made.
        """
        self._is_estimated = True
        self._untimed_ns += min(calls * mean_ns, passed_ns)

    def called(self, elapsed_ns: int) -> None:
        """Add the time of a call of a parallel stage's function."""
        with self._lock:
            self.calls_ns += elapsed_ns

    def holds(self, buffer: Any) -> None:
        """From now on the stage's buffer is that of this iterator."""
        self._buffer = weakref.ref(buffer)

    @property
    def count(self) -> int:
        """The number of elements so far."""
        return self._ended + sum(map(counted, list(self._counters)))

    @property
    def buffered(self) -> tuple[int, int] | None:
        """The number of elements in the buffer, and how many fit; None without one.

        Of an iterator that exists no longer, as they were when somebody last asked.
        """
        buffer = None if self._buffer is None else self._buffer()
        if buffer is not None:
            self._last_buffered = buffer.buffered
        return self._last_buffered

    def totals(self) -> Totals:
        """What the stage did so far."""
        elapsed_ns = self._timed_ns + self._untimed_ns
        count = self.count
        return Totals(
            count,
            elapsed_ns,
            self.calls_ns,
            self.epochs,
            self._is_estimated,
            self._usual_ns * count if self._usual_ns else elapsed_ns,
        )


def counted(counter: Iterator[int]) -> int:
    """The number of items that a counter of a meter has given."""
    return _ALL - 1 - length_hint(counter)


class Watch(Protocol):
    """Receives what pipelines report."""

    def stage(self, pipeline: Hashable, stage: str) -> StageMeter:
        """The meter of a stage."""

    def draw(self, context: Any, iterator: Any) -> Any:
        """The iterator's next element, drawn by the op of a kernel's context."""

    def passed(self, context: Any, queue: Any, count: int) -> None:
        """An op added `count` elements to a queue, or removed them if negative."""

    def waited(self, context: Any, queue: Any, elapsed_ns: int) -> None:
        """An op ended its wait for a queue."""


_lock = threading.Lock()
_watch: Watch | None = None


def watch() -> Watch | None:
    """The observers of pipelines; None nearly always."""
    return _watch


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Within it, pipelines report to `watch`.

    Raises:
      RuntimeError: somebody watches already.
    """
    global _watch
    with _lock:
        if _watch is not None:
            raise RuntimeError("Pipelines are being watched already.")
        _watch = watch
    try:
        yield
    finally:
        _watch = None
