"""Queues of a session: who waits for what, in the order in which they came.

An op that cannot proceed leaves an attempt in one of two lines, for enqueuing and for
dequeuing.  Whoever changes the queue advances the first attempts of both lines; only
the first may proceed, so that none is overtaken.
Source: core/kernels/queue_base.cc (semantics and messages).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from tfteach.framework import pipeline_meters
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import (
    CancelledError,
    OpError,
    OutOfRangeError,
    invalid_argument,
)
from tfteach.framework.operation import Operation
from tfteach.framework.resource_names import ReferencedResource
from tfteach.framework.shape import Shape
from tfteach.framework.transaction import Uninterrupted
from tfteach.framework.type_aliases import KernelContext
from tfteach.framework.waiting import refuse_if_trying

UNLIMITED = 2**31 - 1

Element = tuple[Any, ...]  # an array for each component


class Progress(Enum):
    """What an attempt has achieved."""

    NONE = "has to wait"
    SOME = "has to wait, but has changed the queue"
    DONE = "has ended"


class Attempt:
    """An op in line.

    Attributes:
      condition: notified when the attempt has ended; its lock is the queue's.
      is_done: whether it has ended.
      error: why it failed, or None.
      result: the dequeued arrays.
      op: the op that waits; None before it does.
      since_ns: when it began to wait.
    """

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.op: Operation | None = None
        self.since_ns = 0
        self.condition = threading.Condition(queue.lock)
        self.is_done = False
        self.error: OpError | None = None
        self.result: Any = None

    def advance(self) -> Progress:
        """Do what is possible now."""
        raise NotImplementedError

    def end(self) -> None:
        self.is_done = True
        self.condition.notify()

    def give_back(self) -> None:
        """Return what was taken, after Ctrl-C."""

    def drop(self) -> None:
        """Release what was taken, after the end of the run."""


class _Enqueue(Attempt):
    def __init__(self, queue: Queue, rows: Sequence[Any], count: int | None) -> None:
        super().__init__(queue)
        self.rows, self.count, self.start = rows, count, 0

    def advance(self) -> Progress:
        queue = self.queue
        if queue.is_closed:
            self.error = queue.closed_error()
            return Progress.DONE
        space = queue.capacity - queue.size
        if space <= 0:
            return Progress.NONE
        if self.count is None:
            queue.push(tuple(self.rows))
            return Progress.DONE
        stop = min(self.count, self.start + space)
        queue.push_rows(self.rows, self.start, stop)
        self.start = stop
        return Progress.DONE if stop == self.count else Progress.SOME


class _Dequeue(Attempt):
    def advance(self) -> Progress:
        queue = self.queue
        if queue.available() > 0:
            self.result = queue.pop()
            return Progress.DONE
        if queue.is_closed and not queue.size:
            self.error = queue.empty_error(1, 0, queue.kind)
            return Progress.DONE
        return Progress.NONE


class _DequeueMany(Attempt):
    def __init__(self, queue: Queue, count: int, allows_fewer: bool) -> None:
        super().__init__(queue)
        self.count, self.allows_fewer = count, allows_fewer
        self.left = count
        self.taken: list[Any] = []

    def advance(self) -> Progress:
        queue = self.queue
        if queue.is_closed and queue.size < self.left:
            found = queue.size
            queue.restore(self.taken)
            self.taken = []
            if not (self.allows_fewer and queue.size):
                self.error = queue.empty_error(self.left, found, queue.kind_of_batches)
                return Progress.DONE
            self.count = self.left = queue.size
        count = min(self.left, queue.available())
        if count <= 0:
            return Progress.NONE
        self.taken += queue.pop_many(count)
        self.left -= count
        if self.left:
            return Progress.SOME
        self.result = queue.batch(self.taken, self.count)
        return Progress.DONE

    def give_back(self) -> None:
        self.queue.restore(self.taken)

    def drop(self) -> None:
        self.queue.forget(self.taken)


class _Close(Attempt):
    """Closes the queue once the enqueue ops before it have ended."""

    def advance(self) -> Progress:
        queue = self.queue
        if queue.is_closed:
            self.error = queue.already_closed_error()
        queue.is_closed = True
        return Progress.DONE


ENQUEUE_CANCELLED = "Enqueue operation was cancelled"
DEQUEUE_CANCELLED = "Dequeue operation was cancelled"


class Queue(ReferencedResource):
    """A queue of a session.

    Subclasses store the elements.

    Attributes:
      kind: its type, for messages; `kind_of_batches` in those of several elements.
      name: its `shared_name`, or one of its own.
      dtypes, shapes: of the components; no shapes if unknown.
      capacity: the largest number of elements.
      size: the number of elements.
      is_closed: whether it takes no more elements.
      enqueues, dequeues: the attempts in line.
    """

    kind = kind_of_batches = ""
    attempt_at_many: type[_DequeueMany] = _DequeueMany

    def __init__(
        self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape], capacity: int
    ) -> None:
        self.name = name
        self.dtypes, self.shapes = tuple(dtypes), tuple(shapes)
        self.capacity = UNLIMITED if capacity < 0 else capacity
        self.is_closed = False
        self.lock = threading.Lock()
        self.enqueues: deque[Attempt] = deque()
        self.dequeues: deque[Attempt] = deque()
        self.dtype_of_components = [dtype.numpy_dtype for dtype in self.dtypes]

    # Its handle is a scalar, which `from_list` stacks and gathers.
    shape: tuple[int, ...] = ()
    ndim = 0
    dtype = np.dtype(object)

    # ---- elements, for subclasses; the caller holds the lock

    @property
    def size(self) -> int:
        raise NotImplementedError

    def available(self) -> int:
        """The number of elements that may be dequeued now."""
        return self.size

    def push(self, element: Element) -> None:
        raise NotImplementedError

    def push_rows(self, rows: Sequence[Any], start: int, stop: int) -> None:
        """Store the rows from `start` to `stop` of each component."""
        for i in range(start, stop):
            self.push(tuple(component[i] for component in rows))

    def pop(self) -> Element:
        raise NotImplementedError

    def pop_many(self, count: int) -> list[Any]:
        return [self.pop() for _ in range(count)]

    def restore(self, taken: list[Any]) -> None:
        """Return the elements that `pop_many` has taken."""
        raise NotImplementedError

    def forget(self, taken: list[Any]) -> None:
        """Release what `pop_many` has taken and nobody receives."""

    def batch(self, taken: list[Any], count: int) -> Element:
        """The elements that `pop_many` has taken as an array for each component."""
        columns = zip(*taken, strict=True)
        return tuple(
            stack(column, shape, dtype)
            for column, shape, dtype in zip(
                columns, self.shapes, self.dtype_of_components, strict=True
            )
        )

    # ---- ops

    def enqueue(self, ctx: KernelContext, element: Element) -> None:
        """Add an element, or wait until there is space."""
        self.check_element(element)
        with self.lock:
            if not self.enqueues and not self.is_closed and self.size < self.capacity:
                self.push(element)
                if self.dequeues:
                    self.advance_all()
            else:
                self.stand_in_line(
                    ctx, self.enqueues, _Enqueue(self, element, None), ENQUEUE_CANCELLED
                )
        if (watch := pipeline_meters.watch()) is not None:
            watch.passed(ctx, self, 1)

    def enqueue_many(self, ctx: KernelContext, rows: Element) -> None:
        """Add the rows of the components, and wait whenever there is no space."""
        count = self.check_rows(rows)
        if not count:
            return
        with self.lock:
            free = self.capacity - self.size
            if not self.enqueues and not self.is_closed and count <= free:
                self.push_rows(rows, 0, count)
                if self.dequeues:
                    self.advance_all()
            else:
                self.stand_in_line(
                    ctx, self.enqueues, _Enqueue(self, rows, count), ENQUEUE_CANCELLED
                )
        if (watch := pipeline_meters.watch()) is not None:
            watch.passed(ctx, self, count)

    def dequeue(self, ctx: KernelContext) -> Element:
        """Remove and return an element, or wait for one."""
        with self.lock:
            if not self.dequeues and self.available() > 0:
                element = self.pop()
                if self.enqueues:
                    self.advance_all()
            else:
                element = self.stand_in_line(
                    ctx, self.dequeues, _Dequeue(self), DEQUEUE_CANCELLED
                )
        if (watch := pipeline_meters.watch()) is not None:
            watch.passed(ctx, self, -1)
        return element

    def dequeue_many(
        self, ctx: KernelContext, count: int, allows_fewer: bool
    ) -> Element:
        """Remove and return elements, or wait for them.

        Args:
          ctx: the op's.
          count: how many.
          allows_fewer: whether a closed queue may return the fewer that it has.
        """
        if not self.has_shapes():
            raise invalid_argument(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to "
                "have specified shapes."
            )
        if not count:
            return tuple(
                np.zeros((0, *(n or 0 for n in shape or ())), dtype)
                for shape, dtype in zip(
                    self.shapes, self.dtype_of_components, strict=True
                )
            )
        with self.lock:
            if not self.dequeues and self.available() >= count:
                element = self.batch(self.pop_many(count), count)
                if self.enqueues:
                    self.advance_all()
            else:
                attempt = self.attempt_at_many(self, count, allows_fewer)
                element = self.stand_in_line(
                    ctx, self.dequeues, attempt, DEQUEUE_CANCELLED
                )
        if (watch := pipeline_meters.watch()) is not None:
            watch.passed(ctx, self, -len(element[0]))
        return element

    def close(self, ctx: KernelContext, cancels_enqueues: bool) -> None:
        """Close the queue, at once or after the enqueue ops that wait."""
        with self.lock:
            if not cancels_enqueues and self.enqueues:
                self.stand_in_line(ctx, self.enqueues, _Close(self), ENQUEUE_CANCELLED)
                return
            if not cancels_enqueues and self.is_closed:
                raise self.already_closed_error()
            self.is_closed = True
            while self.enqueues:
                attempt = self.enqueues.popleft()
                attempt.error = CancelledError(None, None, ENQUEUE_CANCELLED)
                attempt.end()
            self.advance_all()

    def clear(self) -> None:
        """Forget the elements, as the session's container does.

        Attempts that wait leave the lines: the space is not for them, their runs end
        with the session.
        """
        with self.lock:
            self.enqueues.clear()
            self.dequeues.clear()
            self.forget(self.pop_many(self.size))

    def stand_in_line(
        self,
        ctx: KernelContext,
        line: deque[Attempt],
        attempt: Attempt,
        cancelled_message: str,
    ) -> Any:
        """Wait until the attempt has ended; the caller holds the lock."""
        refuse_if_trying()
        attempt.op, attempt.since_ns = ctx.op, pipeline_meters.clock_ns()
        line.append(attempt)
        try:
            self.advance_all()
            ctx.wait_until(
                attempt.condition, lambda: attempt.is_done, cancelled_message
            )
        except BaseException as error:
            if attempt in line:
                line.remove(attempt)
                # TensorFlow loses what a cancelled op has taken.
                if isinstance(error, KeyboardInterrupt):
                    attempt.give_back()
                else:
                    attempt.drop()
                self.advance_all()
            raise
        finally:
            if (watch := pipeline_meters.watch()) is not None:
                elapsed_ns = pipeline_meters.clock_ns() - attempt.since_ns
                watch.waited(ctx, self, elapsed_ns)
        if attempt.error is not None:
            raise attempt.error
        return attempt.result

    def advance_all(self) -> None:
        """Let the attempts in both lines proceed as far as they can."""
        changed = True
        with Uninterrupted():
            while changed:
                changed = _advance(self.enqueues)
                changed = _advance(self.dequeues) or changed

    # ---- checks

    def has_shapes(self) -> bool:
        return bool(self.shapes)

    def check_element(self, element: Element) -> None:
        if not self.shapes:
            return
        for i, (value, shape) in enumerate(zip(element, self.shapes, strict=True)):
            if value.shape != shape and not fits(value.shape, shape):
                raise _mismatch(i, shape, value.shape)

    def check_rows(self, rows: Element) -> int:
        """The number of rows."""
        count: int | None = None
        for i, component in enumerate(rows):
            found = component.shape
            if not found:
                shape = self.shapes[i] if self.shapes else None
                raise _mismatch(i, (count or 0, *(shape or ())), found)
            if count is None:
                count = found[0]
            shape = self.shapes[i] if self.shapes else found[1:]
            if found[0] != count or not fits(found[1:], shape):
                raise _mismatch(i, None if shape is None else (count, *shape), found)
        return count or 0

    def closed_error(self) -> OpError:
        return CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")

    def already_closed_error(self) -> OpError:
        return CancelledError(None, None, f"Queue '{self.name}' is already closed.")

    def empty_error(self, requested: int, found: int, kind: str) -> OpError:
        return OutOfRangeError(
            None,
            None,
            f"{kind} '{self.name}' is closed and has insufficient elements (requested "
            f"{requested}, current size {found})",
        )


def fits(found: tuple[int, ...], shape: Shape) -> bool:
    """Whether a value of this shape may be stored under a perhaps partial one."""
    if shape is None:
        return True
    return len(found) == len(shape) and all(
        n is None or n == m for n, m in zip(shape, found, strict=True)
    )


def _mismatch(index: int, expected: Shape, found: tuple[int, ...]) -> OpError:
    return invalid_argument(
        f"Shape mismatch in tuple component {index}. Expected {shapes.text(expected)}, "
        f"got {shapes.text(found)}"
    )


def stack(
    column: Sequence[Any], shape: Sequence[int | None] | None, dtype: np.dtype[Any]
) -> Any:
    """The arrays of one component, all of one shape, as one array."""
    if not shape and not dtype.hasobject:
        return np.array(column, dtype)
    size = np.shape(column[0]) if shape is None else tuple(n or 0 for n in shape)
    rows = np.empty((len(column), *size), dtype)
    for i, value in enumerate(column):
        rows[i, ...] = value
    return rows


def _advance(line: deque[Attempt]) -> bool:
    """Advance the first attempts of a line; returns whether anything changed."""
    changed = False
    while line:
        attempt = line[0]
        progress = attempt.advance()
        if progress is not Progress.DONE:
            return changed or progress is Progress.SOME
        changed = True
        line.popleft()
        attempt.end()
    return changed
