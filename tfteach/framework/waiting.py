"""Kernels that wait for another run: a queue's, a barrier's, an accumulator's.

A kernel waits on a condition variable of its resource, and three things end the wait
early: its session closes, its run exceeds the time limit or has failed elsewhere, or
Ctrl-C interrupts the main thread.  Runs hold no lock while kernels compute, so a run
that waits never delays another one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tfteach.framework.errors import CancelledError, DeadlineExceededError
from tfteach.framework.threads import while_waiting


class Deadline:
    """The time limit of a run.

    As in TensorFlow an op that computes is not interrupted: the run fails after the op
    that exceeds the limit.  An op that waits, as for a queue, ends at the limit.

    Args:
      timeout_ms: from now on.
    """

    __slots__ = ("_end",)

    def __init__(self, timeout_ms: int) -> None:
        self._end = time.monotonic() + timeout_ms / 1000

    def left_s(self) -> float:
        """The remaining time in seconds, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise DeadlineExceededError if the time limit is exceeded."""
        if time.monotonic() >= self._end:
            raise DeadlineExceededError(
                None, None, "Timed out waiting for notification"
            )


# A Ctrl-C that comes just before the main thread falls asleep is noticed only when it
# wakes: it does so in between, in seconds.
MAIN_THREAD_WAKES_S = 0.25
_MAIN_THREAD = threading.main_thread().ident


def slice_s(left_s: float | None) -> float | None:
    """How long to sleep at once, of the time left; None for no limit."""
    if threading.get_ident() != _MAIN_THREAD:
        return left_s
    return MAIN_THREAD_WAKES_S if left_s is None else min(left_s, MAIN_THREAD_WAKES_S)


class Cancellation:
    """Ends the waits of a session's runs, or of one run, when it is cancelled.

    Attributes:
      is_cancelled: whether `cancel` was called; it stays so.
      condition_of_waits: the conditions on which threads wait now, with multiplicity.
    """

    __slots__ = ("_lock", "condition_of_waits", "is_cancelled")

    def __init__(self) -> None:
        self.is_cancelled = False
        self.condition_of_waits: list[threading.Condition] = []
        self._lock = threading.Lock()

    def add(self, condition: threading.Condition) -> None:
        with self._lock:
            self.condition_of_waits.append(condition)

    def remove(self, condition: threading.Condition) -> None:
        with self._lock:
            self.condition_of_waits.remove(condition)

    def cancel(self) -> None:
        """Wake all that wait; they and all later ones raise CancelledError."""
        with self._lock:
            self.is_cancelled = True
            waiting = list(self.condition_of_waits)
        # Not while holding our lock: a thread that begins to wait takes these first.
        for condition in waiting:
            with condition:
                condition.notify_all()


class WouldWait(Exception):
    """A kernel would have to wait, and was called only to try; see `trying`."""


class _RunLimits:
    """The limits of the run that this thread executes."""

    __slots__ = ("cancellation", "deadline", "may_wait")

    def __init__(
        self,
        deadline: Deadline | None,
        cancellation: Cancellation | None = None,
        may_wait: bool = True,
    ) -> None:
        self.deadline = deadline
        self.cancellation = cancellation
        self.may_wait = may_wait


_NO_LIMITS = _RunLimits(None)
# A context variable, so that the threads of a run's independent ops inherit it.
_limits: ContextVar[_RunLimits] = ContextVar("limits", default=_NO_LIMITS)


@contextmanager
def limited(
    deadline: Deadline | None, cancellation: Cancellation | None = None
) -> Iterator[None]:
    """A run: waits in it end at the deadline, or when it is cancelled."""
    token = _limits.set(_RunLimits(deadline, cancellation))
    try:
        yield
    finally:
        _limits.reset(token)


@contextmanager
def limited_by(cancellation: Cancellation) -> Iterator[None]:
    """A part of a run: as `limited`, with the run's deadline."""
    with limited(_limits.get().deadline, cancellation):
        yield


# Of the caller that this thread works for, such as a client of a server.
_caller: ContextVar[Cancellation | None] = ContextVar("caller", default=None)


@contextmanager
def on_behalf_of(caller: Cancellation) -> Iterator[None]:
    """In this block waits end when the caller gives up, whatever runs inside."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def caller_is_gone() -> bool:
    """Whether the caller that this thread works for gave up."""
    caller = _caller.get()
    return caller is not None and caller.is_cancelled


@contextmanager
def trying() -> Iterator[None]:
    """In this block a kernel that would have to wait raises `WouldWait` instead."""
    outer = _limits.get()
    limits = _RunLimits(outer.deadline, outer.cancellation, may_wait=False)
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


def has_deadline() -> bool:
    """Whether the run that this thread executes has a time limit."""
    return _limits.get().deadline is not None


def refuse_if_trying() -> None:
    """Raise `WouldWait` in a kernel that is about to change something and wait."""
    if not _limits.get().may_wait:
        raise WouldWait


def end_if_over() -> None:
    """End a computation of a run that failed elsewhere, or exceeds its time limit.

    Raises:
      CancelledError: the run is cancelled.
      DeadlineExceededError: the time limit is exceeded.
    """
    limits = _limits.get()
    if limits.cancellation is not None and limits.cancellation.is_cancelled:
        raise CancelledError(None, None, "The run has ended")
    if limits.deadline is not None:
        limits.deadline.check()


class OutsideLimits:
    """A block of user code in the middle of a run, which may run sessions itself."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _limits.set(_NO_LIMITS)

    def __exit__(self, *error: object) -> None:
        _limits.reset(self._token)


def wait_until(
    condition: threading.Condition,
    predicate: Callable[[], bool],
    cancelled_message: str,
    session: Cancellation,
    timeout_s: float | None = None,
) -> bool:
    """Wait until `predicate()`; see `KernelContext.wait_until`.

    Args:
      condition: held by the caller; notified whenever the predicate may have changed.
      predicate: called while the condition is held.
      cancelled_message: of the CancelledError.
      session: cancelled when the session closes.
      timeout_s: how long to wait at most, or None.

    Returns:
      Whether the predicate is true; False only after the timeout.
    """
    if predicate():
        return True
    limits = _limits.get()
    if not limits.may_wait:
        raise WouldWait
    scopes = [session]
    caller = _caller.get()
    scopes += [scope for scope in (limits.cancellation, caller) if scope is not None]
    end = None if timeout_s is None else time.monotonic() + timeout_s
    for scope in scopes:
        scope.add(condition)
    try:
        while not predicate():
            if any(scope.is_cancelled for scope in scopes):
                raise CancelledError(None, None, cancelled_message)
            left_s = None if end is None else end - time.monotonic()
            if left_s is not None and left_s <= 0:
                return False
            if limits.deadline is not None:
                limits.deadline.check()
                run_left_s = limits.deadline.left_s()
                left_s = run_left_s if left_s is None else min(left_s, run_left_s)
            with while_waiting():
                condition.wait(slice_s(left_s))
    finally:
        for scope in scopes:
            scope.remove(condition)
    return True
