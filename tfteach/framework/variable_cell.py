"""The buffer of a variable in a session.

A value on a reference edge (or referred to by a resource handle) is such a `Cell`.
Reading returns the array itself; it is updated in place only if nothing else references
it, so that every reader's array is unchanged.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from tfteach.framework import errors
from tfteach.framework.dtypes import DType
from tfteach.framework.transaction import Transaction, Uninterrupted, running

# Below this many elements a new array of the host is cheaper than an update in place.
IN_PLACE_FROM = 1024


class _Unset:
    """The value of an uninitialized variable."""

    def __repr__(self) -> str:
        return "<uninitialized>"


UNSET = _Unset()


class Cell:
    """One variable's buffer in one session.

    Attributes:
      value: the array; not set (FailedPreconditionError) before the first assignment.
      name: the variable's name, for messages.
      dtype: its element type.
      lock: held during updates.
      writer: the transaction that stored the array, while it runs.
    """

    __slots__ = ("dtype", "lock", "name", "value", "writer")

    value: Any

    def __init__(self, name: str, dtype: DType) -> None:
        self.name = name
        self.dtype = dtype
        self.lock = threading.RLock()
        self.writer: Transaction | None = None

    def __getattr__(self, attribute: str) -> Any:
        # Reached only while the slot `value` is unset: a set slot costs no call.
        if attribute == "value":
            value = self._wait()
            if value is not UNSET:
                return value
            raise errors.FailedPreconditionError(
                None, None, f"Attempting to use uninitialized value {self.name}"
            )
        raise AttributeError(attribute)

    def _wait(self) -> Any:
        """The value, once no other thread is updating it in place; UNSET if none.

        An update removes the array from the slot, so that no thread reads a torn value.
        """
        with self.lock:
            return _read_slot(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """A handle is a scalar, independent of the variable's shape."""
        return ()

    @property
    def is_initialized(self) -> bool:
        return _read_slot(self) is not UNSET or self._wait() is not UNSET

    @property
    def is_array_shared(self) -> bool:
        """Whether others than the cell hold the array."""
        value = self.value
        return sys.getrefcount(value) > _OWN_REFERENCES + 1

    def own_array(self) -> Any:
        """The array, after a copy if others hold it, or it is a part of another."""
        with self.lock:
            self.value = value = self.take()
            return value

    def assign(self, value: Any) -> None:
        """Replace the buffer; the array now belongs to the cell."""
        with self.lock:
            self.put(value)

    def put(self, value: Any) -> None:
        """`assign` for a caller that holds the lock."""
        transaction = running.transaction
        if self.writer is not transaction:
            if transaction is not None:
                try:
                    old = _get_value(self, Cell)
                except AttributeError:
                    old = UNSET
                transaction.append((self, old, None))
            self.writer = transaction
        self.value = value

    def clear(self) -> None:
        """Remove the value: the variable is uninitialized again."""
        with self.lock:
            if self.is_initialized:
                self.put(None)
                del self.value

    def undo(self, transaction: Transaction, old: Any, rows: Any) -> None:
        """Restore a value that the transaction replaced, unless others wrote since.

        Args:
          transaction: the failed run's.
          old: the previous value, or some rows of it.
          rows: the rows' indices, or None.
        """
        with self.lock:
            if rows is not None:
                with _card_of(old):
                    _overwrite(
                        (self,), lambda a: _put_rows(a[0], rows, old), transaction
                    )
            elif self.writer is transaction:
                self.writer = None
                if old is not UNSET:
                    self.value = old
                elif self.is_initialized:
                    del self.value

    def take(self) -> Any:
        """Remove the array from the slot to update it in place; a copy if shared."""
        value = self.value
        del self.value  # no other thread can reference it from now on
        try:
            if (
                sys.getrefcount(value) > _OWN_REFERENCES
                or value.base is not None
                or not value.flags.c_contiguous
                or not getattr(value.flags, "writeable", True)
            ):
                return value.copy()
        except BaseException:
            self.value = value
            raise
        return value


class SharedBuffer(Cell):
    """A variable's cell in a step in which reads share memory with the variable.

    As in TensorFlow, a write is visible in earlier reads: it modifies the array that
    reads return.  The array is private to the run, so that the variable can be restored
    if the run fails.

    Args:
      cell: the variable's.
    """

    __slots__ = ("cell",)

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.name, self.dtype, self.lock = cell.name, cell.dtype, cell.lock

    @property
    def value(self) -> Any:
        with self.lock:
            if self.cell.writer is not running.transaction:
                self.cell.put(_own_array(self.cell.value))
            return self.cell.value

    @value.setter
    def value(self, value: Any) -> None:
        self.put(value)

    @property
    def writer(self) -> Transaction | None:
        return self.cell.writer

    @writer.setter
    def writer(self, writer: Transaction | None) -> None:
        self.cell.writer = writer

    @property
    def is_initialized(self) -> bool:
        return self.cell.is_initialized

    def put(self, value: Any) -> None:
        """Write into the buffer if the size matches; otherwise replace it."""
        if not self.is_initialized or self.value.size != value.size:
            self.cell.put(_own_array(value))
            return
        buffer = self.value
        if buffer.shape != value.shape:
            buffer = buffer.reshape(value.shape)
            self.cell.put(buffer)
        if value is not buffer:
            buffer[...] = value

    def take(self) -> Any:
        """The buffer, for an update in place."""
        return self.value

    def clear(self) -> None:
        """Remove the value: the variable is uninitialized again."""
        self.cell.clear()


def _card_of(value: Any) -> AbstractContextManager[Any]:
    """Makes the card that holds an array the current one."""
    on_host = isinstance(value, np.generic | np.ndarray)
    return nullcontext() if on_host else value.device


def _own_array(value: Any) -> Any:
    """A copy in C order; an array, even for a scalar."""
    if isinstance(value, np.generic | np.ndarray):
        return np.array(value, order="C")
    return value.copy(order="C")


# Unlike `cell.value`, it does not fall back to `__getattr__` if the slot is unset.
_get_value: Any = Cell.__dict__["value"].__get__


def _read_slot(cell: Cell) -> Any:
    try:
        return _get_value(cell, Cell)
    except AttributeError:
        return UNSET


def _count_own_references() -> int:
    """`sys.getrefcount(value)` in `take` if the cell holds the only reference."""

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
    cells: Sequence[Cell],
    update: Update,
    may_defer: bool = False,
    rows: Any = None,
) -> None:
    """Update the arrays of variables; all of them, or none if the run fails.

    Args:
      cells: the variables, of one shape.
      update: writes into a list of C-contiguous arrays, one per cell.  It must not
        fail: check the arguments first.
      may_defer: whether the rest of the run never observes these variables.
      rows: (index, shape): the rows it writes, in an array of rows of that shape; None
        if it writes more.
    """
    transaction = running.transaction
    value = cells[0].value
    if value.size < IN_PLACE_FROM and isinstance(value, np.ndarray | np.generic):
        _replace(cells, update)
        return
    del value  # `take` counts references

    if transaction is not None and may_defer and transaction.may_defer:

        def deferred() -> None:
            with _card_of(cells[0].value):
                _locked(cells, _overwrite, cells, update, None)

        transaction.defer(deferred)
        return
    with Uninterrupted():  # the cells are empty meanwhile
        if transaction is None:
            _locked(cells, _overwrite, cells, update, None)
        else:
            _locked(cells, _overwrite_undoably, cells, update, rows, transaction)


def _replace(cells: Sequence[Cell], update: Update) -> None:
    """For small arrays: updates copies of them."""
    with cells[0].lock:
        arrays = [writable_copy(cell.value) for cell in cells]
        update(arrays)
        for cell, array in zip(cells, arrays, strict=True):
            cell.put(array)


def _locked(cells: Sequence[Cell], run: Callable[..., None], *arguments: Any) -> None:
    """Call `run` with all cells locked, in a fixed order to avoid deadlocks."""
    if len(cells) == 1:
        with cells[0].lock:
            run(*arguments)
        return
    first, *rest = sorted(cells, key=id)
    with first.lock:
        _locked(rest, run, *arguments)


def _overwrite(
    cells: Sequence[Cell], update: Update, transaction: Transaction | None
) -> None:
    arrays: list[Any] = []
    try:
        for cell in cells:
            arrays.append(cell.take())
        update(arrays)
    finally:
        for cell, array in zip(cells, arrays, strict=False):
            cell.value = array
            if cell.writer is not transaction:
                cell.writer = None  # its undo would also undo this one


def _overwrite_undoably(
    cells: Sequence[Cell], update: Update, rows: Any, transaction: Transaction
) -> None:
    """Log overwritten values, or update a copy; private arrays need neither."""
    for cell in cells:
        if cell.writer is transaction:
            continue
        if (
            rows is not None
            and 2 * len(rows[0]) * math.prod(rows[1]) <= cell.value.size
        ):
            transaction.append((cell, _get_rows(cell.value, rows), rows))
        else:
            cell.put(cell.value.copy())
    _overwrite(cells, update, transaction)


def writable_copy(value: Any) -> Any:
    """A writable copy; NumPy's scalars are not writable."""
    return np.array(value) if isinstance(value, np.generic) else value.copy()


def _get_rows(array: Any, rows: Any) -> Any:
    index, shape = rows
    table = array.reshape((-1, *shape))
    if isinstance(table, np.ndarray):
        return table.take(index, axis=0, mode="clip")  # "raise" would copy twice
    return table.take(index, axis=0)


def _put_rows(array: Any, rows: Any, old: Any) -> None:
    index, shape = rows
    array.reshape((-1, *shape))[index] = old
