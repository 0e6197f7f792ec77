"""Elements that other threads draw and compute ahead of their consumer.

`prefetch`, `map(num_parallel_calls=...)` and parallel `interleave` share this class.
Source: core/kernels/data/{prefetch,parallel_map,parallel_interleave}_dataset_op.cc.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfteach.framework.threads import thread_count
from tfteach.ops.data.dataset import BoundFunction, Running
from tfteach.ops.data.elements import Element

AUTOTUNE = -1
CANCELLED = "Operation was cancelled"
# The time per element from which handing it from thread to thread pays.
_PAYS_S = 300e-6
_MEASURED = 8  # elements
_END: Any = object()


class Threads:
    """The condition variables and the limit that some `Background`s share.

    The lock is reentrant because the garbage collector may drop a `Background` in any
    thread at any time.

    Attributes:
      has_room: notified when a thread may have work.
      has_elements: notified when an element may be ready.
      free: how many more threads may draw at the same time.
    """

    def __init__(self, limit: int) -> None:
        lock = threading.RLock()
        self.has_room = threading.Condition(lock)
        self.has_elements = threading.Condition(lock)
        self.free = limit


class _Slot:
    """The place of an element in the order: (an element or an exception) once done."""

    __slots__ = ("content", "is_done")

    def __init__(self) -> None:
        self.is_done = False
        self.content: Any = None


class _Buffer:
    """What the threads and their consumer share.

    Attributes:
      slots: elements in order, some of which are being computed.
      size: the most slots; at 0, an element is drawn when the consumer waits for it.
      is_ordered: whether the consumer receives elements in the order of the slots.
      is_wanted: whether the consumer waits.
      is_drawing: whether a thread is drawing from the source.
      threads, idle: the numbers of threads, and of those that wait for work.
      has_ended: no more slots follow.
      is_dropped: there is no consumer any more.
    """

    def __init__(self, threads: Threads, size: int, is_ordered: bool) -> None:
        self.shared = threads
        self.size, self.is_ordered = size, is_ordered
        self.slots: deque[_Slot] = deque()
        self.is_wanted = self.is_drawing = False
        self.threads = self.idle = 0
        self.has_ended = self.is_dropped = False

    def may_draw(self) -> bool:
        """Whether a thread may draw an element from the source."""
        if self.is_drawing or not self.shared.free:
            return False
        count = len(self.slots)
        return count < self.size or (self.is_wanted and not count)

    def is_over(self) -> bool:
        """Whether threads have nothing to do any more."""
        return self.has_ended or self.is_dropped

    def is_ready(self) -> bool:
        """Whether the consumer need not wait."""
        slots = self.slots
        if not slots:
            return self.is_over()
        return slots[0].is_done or (
            not self.is_ordered and any(slot.is_done for slot in slots)
        )

    def take(self) -> Any:
        """The next element or exception, `_END` if there is none; when ready."""
        slots = self.slots
        if not slots:
            return _END
        if slots[0].is_done:
            return slots.popleft().content
        number = next(i for i, slot in enumerate(slots) if slot.is_done)
        slot = slots[number]
        del slots[number]
        return slot.content

    def drop(self) -> None:
        """End the threads."""
        with self.shared.has_room:
            self.is_dropped = True
            self.slots.clear()
            self.shared.has_room.notify_all()


class Background:
    """An iterator over the elements that threads draw from another one.

    The threads start with the first request, or with `start`.  They end with the
    elements, with the initialization of the dataset's iterator, or with this object, to
    which they refer weakly while they wait: it refers to the session.

    Args:
      source: an iterator; only one thread at a time draws from it.
      running: the initialization of the dataset's iterator.
      size: the most elements to prepare, or 0 to draw one on request.
      work: a function of each element, which threads call concurrently; or None.
      count: the most threads.
      threads: what it shares with others; by default nothing.
      is_ordered: whether the elements come in the source's order.
      name: of the threads.
      cancelled_message: of the CancelledError when the session closes meanwhile.
    """

    def __init__(
        self,
        source: Iterator[Element],
        running: Running,
        size: int,
        *,
        work: Callable[[Element], Element] | None = None,
        count: int = 1,
        threads: Threads | None = None,
        is_ordered: bool = True,
        name: str = "tfteach-prefetch",
        cancelled_message: str = CANCELLED,
    ) -> None:
        self.source = source
        self.running = running
        self.work = work
        self.count = count
        self.buffer = _Buffer(threads or Threads(count), size, is_ordered)
        self._name = name
        self._cancelled_message = cancelled_message
        running.add_buffer(self.buffer)

    def __del__(self) -> None:
        self.buffer.drop()

    @property
    def buffered(self) -> tuple[int, int]:
        """The number of prepared elements, and the most there may be."""
        ready = sum(slot.is_done for slot in tuple(self.buffer.slots))
        return ready, self.buffer.size

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        buffer = self.buffer
        shared = buffer.shared
        with shared.has_elements:
            self.start()
            if not buffer.is_ready():
                self._wait()
            found = buffer.take()
            shared.has_room.notify_all()
        return self.unpacked(found)

    def start(self) -> None:
        """Start the first thread, unless it was started."""
        buffer = self.buffer
        with buffer.shared.has_room:
            if not buffer.threads and not buffer.is_over():
                self._start_thread()

    def _start_thread(self) -> None:
        self.buffer.threads += 1
        threading.Thread(
            target=_produce,
            args=(self.buffer, weakref.ref(self)),
            daemon=True,
            name=self._name,
        ).start()

    def _wait(self) -> None:
        buffer = self.buffer
        buffer.is_wanted = True
        buffer.shared.has_room.notify_all()
        try:
            self.running.wait_until(
                buffer.shared.has_elements, buffer.is_ready, self._cancelled_message
            )
        finally:
            buffer.is_wanted = False

    @staticmethod
    def unpacked(found: Any) -> Element:
        """What `__next__` does with the content of a slot."""
        if found is _END:
            raise StopIteration
        if isinstance(found, BaseException):
            raise found
        return found  # type: ignore[no-any-return]

    def produce(self) -> None:
        """Draw one element and compute its result, in a thread that may draw."""
        buffer, shared = self.buffer, self.buffer.shared
        found = _outcome(self.source.__next__)
        is_done = self.work is None or isinstance(found, BaseException)
        slot = _Slot()
        with shared.has_elements:
            buffer.is_drawing = False
            if found is _END:
                buffer.has_ended = True
                is_done = True
            elif not buffer.is_dropped:
                buffer.slots.append(slot)
                if is_done:
                    slot.content, slot.is_done = found, True
                elif not buffer.idle and buffer.threads < self.count:
                    self._start_thread()
            if is_done:
                shared.free += 1
                shared.has_elements.notify_all()
            shared.has_room.notify_all()
        if is_done or self.work is None:
            return
        work = self.work
        result = _outcome(lambda: work(found))
        with shared.has_elements:
            slot.content, slot.is_done = result, True
            shared.free += 1
            shared.has_elements.notify_all()
            shared.has_room.notify_all()


def _produce(buffer: _Buffer, background: weakref.ref[Background]) -> None:
    """The work of a thread."""
    shared = buffer.shared
    while True:
        with shared.has_room:
            buffer.idle += 1
            while not (buffer.is_over() or buffer.may_draw()):
                shared.has_room.wait()
            buffer.idle -= 1
            if buffer.is_over():
                buffer.threads -= 1
                return
            buffer.is_drawing = True
            shared.free -= 1
        alive = background()
        if alive is None:
            with shared.has_room:
                shared.free += 1
                shared.has_room.notify_all()
            return
        alive.produce()
        del alive


def _outcome(function: Callable[[], Element]) -> Any:
    """What a function returns, `_END` for StopIteration, or the exception it raises."""
    try:
        return function()
    except StopIteration:
        return _END
    except BaseException as error:
        return error


class Measured:
    """Draws elements in the calling thread as long as these take little time.

    Args:
      elements: an iterator.
      make_background: returns the iterator over the rest that uses other threads.
    """

    def __init__(
        self, elements: Iterator[Element], make_background: Callable[[], Any]
    ) -> None:
        self._elements = elements
        self._make: Callable[[], Any] | None = make_background
        self._count = self._slow = 0

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if self._make is None:
            return next(self._elements)
        start_s = time.perf_counter()
        element = next(self._elements)
        # Not the mean: a first call also compiles the function.
        self._slow += time.perf_counter() - start_s > _PAYS_S
        self._count += 1
        if self._count == _MEASURED:
            if self._slow > _MEASURED // 2:
                self._elements, self._make = self._make(), None
            self._count = self._slow = 0
        return element


def thread_limit(
    running: Running, calls: int, functions: Sequence[BoundFunction]
) -> int:
    """How many threads to use for a value of `num_parallel_calls`.

    Functions that only compute use as many threads as there are cores.  Those whose
    random numbers are seeded use one: the order of the calls determines their results.
    """
    count = thread_count() if calls == AUTOTUNE else calls
    if running.most_threads is not None:
        count = min(count, running.most_threads)
    if any(function.may_block for function in functions):
        return count
    if any(function.is_seeded for function in functions):
        return 1
    return min(count, thread_count())
