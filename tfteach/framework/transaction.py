"""A run's writes to variables: all of them take effect, or none.

An exception can end a run between any two of its writes: an op fails, a time limit is
reached, the user interrupts.  What the run has replaced by then is put back.  Updates
in place of large arrays cannot be put back without a copy of the array, so the compiler
defers those that the rest of the run cannot observe (runtime/deferral.py) to the run's
last instruction, `commit`, which Ctrl-C does not interrupt.
"""

from __future__ import annotations

import _signal  # `signal` spends 14 us on turning handlers into enums and back
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tfteach.framework.errors import DeadlineExceededError

if TYPE_CHECKING:
    from tfteach.framework.resource import Cell

T = TypeVar("T")


class _Unset:
    """Stands for the value of an uninitialized variable."""

    def __repr__(self) -> str:
        return "<uninitialized>"


UNSET = _Unset()


class Deadline:
    """The end of the time that a run may take.

    As in TensorFlow no op is cut short: the run fails once the op that is too late has
    ended.

    Args:
      timeout_ms: from now on.
    """

    __slots__ = ("_end",)

    def __init__(self, timeout_ms: int) -> None:
        self._end = time.monotonic() + timeout_ms / 1000

    def check(self) -> None:
        """Raise DeadlineExceededError if the time is over."""
        if time.monotonic() > self._end:
            raise DeadlineExceededError(
                None, None, "Timed out waiting for notification"
            )


class Transaction:
    """What one run has written so far.

    Attributes:
      may_defer: False in runs whose ops are timed or stepped through one by one.
      deadline: the time limit of the run, or None.
    """

    __slots__ = ("_deferred", "_replaced", "deadline", "may_defer")

    def __init__(self, may_defer: bool = True, deadline: Deadline | None = None):
        self.may_defer = may_defer
        self.deadline = deadline
        self._deferred: list[Callable[[], None]] = []
        # cell -> [what it held before the run, what the run wrote last]
        self._replaced: dict[Cell, list[Any]] = {}

    def record(self, cell: Cell, old: Any, new: Any) -> None:
        """Note, before it happens, that `new` replaces `old` in the cell."""
        entry = self._replaced.get(cell)
        if entry is None:
            self._replaced[cell] = [old, new]
        else:
            entry[1] = new

    def owns(self, cell: Cell, value: Any) -> bool:
        """Whether the run itself put `value` into the cell, and may overwrite it."""
        entry = self._replaced.get(cell)
        return entry is not None and entry[1] is value

    def defer(self, update: Callable[[], None]) -> None:
        """Run `update`, which must not fail, when the run commits."""
        self._deferred.append(update)

    def commit(self) -> None:
        """Run the deferred updates; from here on the writes cannot be undone.

        Raises:
          DeadlineExceededError: it is too late, and nothing is committed.
        """
        if self.deadline is not None:
            self.deadline.check()
        with Uninterrupted():
            for update in self._deferred:
                update()
            self._deferred.clear()
            self._replaced.clear()

    def roll_back(self) -> None:
        """Restore what the run replaced; other threads' later writes stay."""
        with Uninterrupted():
            self._deferred.clear()
            for cell, (old, new) in self._replaced.items():
                cell.restore(old, new)
            self._replaced.clear()


class _Running(threading.local):
    """The transaction of the run that this thread executes."""

    transaction: Transaction | None = None


running = _Running()


def commit() -> None:
    """Commit the transaction of the run that this thread executes."""
    assert running.transaction is not None
    running.transaction.commit()


def atomically(
    run: Callable[..., T], arguments: tuple[Any, ...], transaction: Transaction
) -> T:
    """`run(*arguments)` as a transaction, rolled back if it ends with an exception."""
    outer = running.transaction  # of a run whose py_func runs a session
    running.transaction = transaction
    try:
        result = run(*arguments)
        if transaction.deadline is not None:
            transaction.commit()
        return result
    except BaseException:
        transaction.roll_back()
        raise
    finally:
        running.transaction = outer


_MAIN_THREAD = threading.main_thread().ident


class Uninterrupted:
    """A block that Ctrl-C does not interrupt: it is delivered at the block's end."""

    __slots__ = ("_caught", "_handler")

    def __enter__(self) -> None:
        self._caught: tuple[Any, ...] | None = None
        self._handler: Any = None
        if threading.get_ident() != _MAIN_THREAD:
            return  # Python interrupts its main thread only
        handler = _signal.getsignal(_signal.SIGINT)
        if callable(handler):  # else the system's own action, or nothing
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
