"""The buffer of a variable, as a session keeps it.

A value that flows along a reference edge (or a resource handle) is such a `Cell`.
Reading returns the array itself; it is updated in place only while nobody else holds
it, so that every reader keeps what it read.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework import errors
from tfteach.framework.dtypes import DType
from tfteach.framework.transaction import UNSET, Transaction, running

# Below this many elements a new array costs less than an update in place.
IN_PLACE_FROM = 1024


class Cell:
    """One variable's buffer in one session.

    Attributes:
      value: the array; not set (FailedPreconditionError) before the first assignment.
      name: the variable's name, for messages.
      dtype: its element type.
      lock: held during updates.
    """

    __slots__ = ("dtype", "lock", "name", "value")

    value: Any

    def __init__(self, name: str, dtype: DType) -> None:
        self.name = name
        self.dtype = dtype
        self.lock = threading.RLock()

    def __getattr__(self, attribute: str) -> Any:
        # Reached only while the slot `value` is unset: a set one costs no call.
        if attribute == "value":
            value = self._wait()
            if value is not UNSET:
                return value
            raise errors.FailedPreconditionError(
                None, None, f"Attempting to use uninitialized value {self.name}"
            )
        raise AttributeError(attribute)

    def _wait(self) -> Any:
        """The value once no other thread updates it in place; UNSET if there is none.

        An update takes the array out of the slot, so that nobody reads a part of it.
        """
        with self.lock:
            return _read_slot(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """A handle is a scalar, whatever the variable's shape."""
        return ()

    @property
    def is_initialized(self) -> bool:
        return _read_slot(self) is not UNSET or self._wait() is not UNSET

    def assign(self, value: Any) -> None:
        """Replace the buffer; the array now belongs to the cell."""
        with self.lock:
            if running.transaction is not None:
                running.transaction.record(self, _read_slot(self), value)
            self.value = value

    def clear(self) -> None:
        """Forget the value: the variable is uninitialized again."""
        with self.lock:
            if self.is_initialized:
                if running.transaction is not None:
                    running.transaction.record(self, self.value, UNSET)
                del self.value

    def restore(self, old: Any, new: Any) -> None:
        """Put `old` back if the cell still holds `new`, or lost it halfway."""
        with self.lock:
            value = _read_slot(self)
            if value is not new and value is not UNSET:
                return
            if old is not UNSET:
                self.value = old
            elif value is not UNSET:
                del self.value

    def take(self, xp: Any, holders: int) -> Any:
        """Remove the array from the slot, to be updated in place; a copy if shared.

        Args:
          xp: the array's module.
          holders: how many references to the array the caller knows of.
        """
        value = self.value
        del self.value  # from now on no other thread can come to hold it
        try:
            if not isinstance(value, xp.ndarray):
                return xp.array(value)  # NumPy's scalars cannot be written
            if (
                sys.getrefcount(value) > _OWN_REFERENCES + holders
                or value.base is not None
                or not value.flags.c_contiguous
                or not getattr(value.flags, "writeable", True)
            ):
                return value.copy()
        except BaseException:
            self.value = value
            raise
        return value


_SLOT: Any = Cell.__dict__["value"]


def _read_slot(cell: Cell) -> Any:
    try:
        return _SLOT.__get__(cell, Cell)
    except AttributeError:
        return UNSET


def _count_own_references() -> int:
    """What `sys.getrefcount(value)` returns in `take` when only the cell held it."""

    class Holder:
        __slots__ = ("value",)
        value: Any

    holder = Holder()
    holder.value = object()
    value = holder.value
    del holder.value
    return sys.getrefcount(value)


_OWN_REFERENCES = _count_own_references()

Update = Callable[[list[Any]], None]


def update_in_place(
    cells: Sequence[Cell], xp: Any, update: Update, may_defer: bool = False
) -> None:
    """Update the arrays of variables; all of them, or none if the run fails.

    Args:
      cells: the variables.
      xp: their arrays' module.
      update: writes into a list of arrays, C-contiguous, one for each cell.  It must
        not fail: check the arguments before.
      may_defer: nothing in the rest of the run observes these variables.
    """
    transaction = running.transaction
    if cells[0].value.size < IN_PLACE_FROM:  # all have one shape
        _locked(cells, lambda: _replace(cells, xp, update))
    elif transaction is None:
        _locked(cells, lambda: _overwrite(cells, xp, update))
    elif may_defer and transaction.may_defer:
        transaction.defer(lambda: _locked(cells, lambda: _overwrite(cells, xp, update)))
    else:
        _locked(cells, lambda: _update_undoably(cells, xp, update, transaction))


def _locked(cells: Sequence[Cell], run: Callable[[], None]) -> None:
    """Call `run` while all cells are locked; in one order everywhere, so that threads
    never wait for each other."""
    if len(cells) == 1:
        with cells[0].lock:
            run()
        return
    first, *rest = sorted(cells, key=id)
    with first.lock:
        _locked(rest, run)


def _replace(cells: Sequence[Cell], xp: Any, update: Update) -> None:
    """For small arrays: update copies of them."""
    arrays = [xp.array(cell.value, order="C") for cell in cells]
    update(arrays)
    for cell, array in zip(cells, arrays, strict=True):
        cell.assign(array)


def _overwrite(cells: Sequence[Cell], xp: Any, update: Update) -> None:
    arrays: list[Any] = []
    try:
        for cell in cells:
            arrays.append(cell.take(xp, 0))
        update(arrays)
    finally:
        for cell, array in zip(cells, arrays, strict=False):
            cell.value = array


def _update_undoably(
    cells: Sequence[Cell], xp: Any, update: Update, transaction: Transaction
) -> None:
    """Update the arrays that this run has made in place, and copies of the others."""
    arrays: list[Any] = []
    taken: list[Cell] = []
    try:
        for cell in cells:
            if transaction.owns(cell, cell.value):
                arrays.append(cell.take(xp, 1))
                taken.append(cell)
            else:
                arrays.append(xp.array(cell.value, order="C"))
        update(arrays)
    except BaseException:
        for cell, array in zip(cells, arrays, strict=False):
            if cell in taken:
                cell.value = array
        raise
    for cell, array in zip(cells, arrays, strict=True):
        if cell in taken:
            cell.value = array
        else:
            cell.assign(array)
