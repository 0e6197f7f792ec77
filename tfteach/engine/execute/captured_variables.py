"""Variables of a CUDA graph, which reads and writes them at fixed addresses."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tfteach.framework.variable_cell import Cell


class CapturedVariable:
    """A variable, and the memory in which a graph expects its value.

    That memory is kept, whatever becomes of the array: a value that another step
    assigns is copied there.  The graph must not write into an array that others hold,
    though, because arrays do not change once read.

    Args:
      cell: the variable's.
      is_written: whether the step assigns it.

    Attributes:
      captured: the cell that takes the place of the variable's during the capture, so
        that nobody sees values that are not computed yet.
    """

    def __init__(self, cell: Cell, is_written: bool) -> None:
        self.is_written = is_written
        self._cell = cell
        array = cell.own_array()
        self._array = weakref.ref(array)
        self._pointer = array.data
        self._kind = array.shape, array.dtype, type(array)
        self.captured = Cell(cell.name, cell.dtype)
        self.captured.value = self._view()

    @property
    def memory(self) -> Any:
        """The memory, which no other memory is."""
        return self._pointer.mem

    def _view(self) -> Any:
        """A new array object on that memory."""
        shape, dtype, kind = self._kind
        return kind(shape, dtype, memptr=self._pointer)

    # ---- during the capture

    def keep_apart(self, others: Sequence[CapturedVariable]) -> None:
        """Copy a new value that shares memory with a variable: it may change."""
        if self._is_replaced():
            self.captured.value = copied_back(self.captured.value, others)

    def copy_back(self) -> None:
        """Put a new array's elements where the graph reads them."""
        if self._is_replaced():
            self._view()[...] = self.captured.value
        self.captured.value = None

    def _is_replaced(self) -> bool:
        return bool(self.captured.value.data.ptr != self._pointer.ptr)

    # ---- in a run

    def is_current(self) -> bool:
        """Whether the value is where the graph expects it; it is copied there if not.

        Returns:
          False if others hold that memory, or the value has another shape or type.

        Raises:
          FailedPreconditionError: the variable has no value.
        """
        cell = self._cell
        if cell.value is self._array():
            return not (self.is_written and cell.is_array_shared)
        with cell.lock:
            value = cell.value
            same = (value.shape, value.dtype) == self._kind[:2]
            if not same or self._array() is not None:
                return False
            view = self._view()
            view[...] = value
            cell.value = view
            self._array = weakref.ref(view)
        return True

    def was_updated(self) -> None:
        """The graph has written the variable."""
        if self.is_written:
            self._cell.writer = None  # its undo would undo this one, too


def copied_back(value: Any, variables: Sequence[CapturedVariable]) -> Any:
    """The value; a copy, if it is in the memory of a variable that is written."""
    memory = value.data.mem
    if any(v.is_written and v.memory is memory for v in variables):
        return value.copy()
    return value
