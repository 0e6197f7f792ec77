"""Transactions: a run's writes to variables take effect together or not at all.

An exception can end a run between any two of its writes: an op fails, a time limit is
exceeded, the user interrupts.  The values replaced so far are then restored from an
undo log.  An update in place of a large array cannot be undone without a copy, so the
compiler defers those that the rest of the run does not observe to the run's last
instruction, `commit` (engine/execute/deferred_updates.py), which Ctrl-C does not
interrupt.
"""

from __future__ import annotations

import _signal  # `signal` spends 14 us on converting handlers to enums and back
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tfteach.framework.waiting import Deadline, OutsideLimits, limited

if TYPE_CHECKING:
    from tfteach.framework.variable_cell import Cell

T = TypeVar("T")


class Transaction(list["tuple[Cell, Any, Any]"]):
    """Undo log of one run: the arguments of `Cell.undo`, in order.

    It is a list, with its defaults on the class, because every training step makes one.

    Attributes:
      may_defer: False in runs whose ops are timed or stepped through.
      deadline: the time limit of the run, or None.
    """

    may_defer = True
    deadline: Deadline | None = None
    _deferred: list[Callable[[], None]] | None = None
    _clean_ups: list[Callable[[], None]] | None = None

    def on_failure(self, clean_up: Callable[[], None]) -> None:
        """Call `clean_up`, which must not fail, if the run fails."""
        if self._clean_ups is None:
            self._clean_ups = []
        self._clean_ups.append(clean_up)

    def defer(self, update: Callable[[], None]) -> None:
        """Call `update`, which must not fail, when the run commits."""
        if self._deferred is None:
            self._deferred = []
        self._deferred.append(update)

    def expect_threads(self) -> None:
        """Allow several threads to write in this run."""
        self._deferred = self._deferred or []
        self._clean_ups = self._clean_ups or []

    def commit(self) -> None:
        """Run the deferred updates; afterwards the writes cannot be undone.

        Raises:
          DeadlineExceededError: the time limit is exceeded, and nothing is committed.
        """
        if self.deadline is not None:
            self.deadline.check()
        with Uninterrupted():
            self.perform_deferred()
            self.clear()

    def perform_deferred(self) -> None:
        """Run the deferred updates."""
        for update in self._deferred or ():
            update()
        self._deferred = None

    def roll_back(self) -> None:
        """Undo the run's writes; later writes of other threads are preserved."""
        with Uninterrupted():
            self._deferred = None
            for cell, old, rows in reversed(self):
                cell.undo(self, old, rows)
            self.clear()
            for clean_up in self._clean_ups or ():
                clean_up()
            self._clean_ups = None


class _Running(threading.local):
    """The transaction of the run that this thread executes."""

    transaction: Transaction | None = None


running = _Running()


def commit() -> None:
    """Commit the transaction of the run that this thread executes."""
    assert running.transaction is not None
    running.transaction.commit()


def atomically(
    run: Callable[..., T],
    arguments: tuple[Any, ...],
    may_defer: bool = True,
    deadline: Deadline | None = None,
) -> T:
    """`run(*arguments)` as a transaction; see `Transaction`.

    Raises:
      DeadlineExceededError: the time limit was exceeded.
      Exception: raised by `run`; its writes are undone.
    """
    transaction = running.transaction = Transaction()
    if not may_defer:
        transaction.may_defer = False
    try:
        if deadline is None:
            return run(*arguments)
        transaction.deadline = deadline
        with limited(deadline):
            result = run(*arguments)
        transaction.commit()
        return result
    except BaseException:
        transaction.roll_back()
        raise
    finally:
        running.transaction = None
        transaction.clear()


class outside_transactions(OutsideLimits):
    """A block of user code in the middle of a run, which may run sessions itself."""

    __slots__ = ("_outer",)

    def __enter__(self) -> None:
        super().__enter__()
        self._outer, running.transaction = running.transaction, None

    def __exit__(self, *error: object) -> None:
        running.transaction = self._outer
        super().__exit__()


_MAIN_THREAD = threading.main_thread().ident


class Uninterrupted:
    """A block that Ctrl-C does not interrupt: it is delivered at the block's end."""

    __slots__ = ("_caught", "_handler")

    def __enter__(self) -> None:
        self._caught: tuple[Any, ...] | None = None
        self._handler: Any = None
        if threading.get_ident() != _MAIN_THREAD:
            return  # Python interrupts only its main thread
        handler = _signal.getsignal(_signal.SIGINT)
        if callable(handler):  # otherwise the system's default action, or none
            self._handler = handler
            _signal.signal(_signal.SIGINT, self._postpone)

    def _postpone(self, *arguments: Any) -> None:
        self._caught = arguments

    def __exit__(self, *error: object) -> None:
        handler = self._handler
        if handler is None:
            return
        _signal.signal(_signal.SIGINT, handler)
        if self._caught is not None:
            handler(*self._caught)
