"""The buffer of a variable, as a session keeps it.

A value that flows along a reference edge (or a resource handle) is such a `Cell`.
Reading hands out the array itself; writing in place is allowed only while nobody else
holds that array, so every reader keeps what it read.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from tfteach.framework import errors
from tfteach.framework.dtypes import DType


class Cell:
    """One variable's buffer in one session.

    Attributes:
      value: the array; not set (FailedPreconditionError) before the first assignment.
      name: the variable's name, for messages.
      dtype: its element type.
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
            raise errors.FailedPreconditionError(
                None, None, f"Attempting to use uninitialized value {self.name}"
            )
        raise AttributeError(attribute)

    @property
    def shape(self) -> tuple[int, ...]:
        """A handle is a scalar, whatever the variable's shape."""
        return ()

    @property
    def is_initialized(self) -> bool:
        return _is_set(self)

    def assign(self, value: Any) -> None:
        """Replace the buffer; the array now belongs to the cell."""
        self.value = value

    def clear(self) -> None:
        """Forget the value: the variable is uninitialized again."""
        if self.is_initialized:
            del self.value

    def writable(self, xp: Any) -> Any:
        """The array, for writing in place: a copy of it if anybody else holds it."""
        value = self.value
        if not isinstance(value, xp.ndarray):
            value = xp.array(value)  # NumPy's scalars cannot be written
        elif (
            sys.getrefcount(value) > _OWN_REFERENCES
            or value.base is not None
            or (hasattr(value.flags, "writeable") and not value.flags.writeable)
        ):
            value = value.copy()
        self.value = value
        return value


def _is_set(cell: Cell) -> bool:
    try:
        _VALUE.__get__(cell, Cell)
    except AttributeError:
        return False
    return True


_VALUE: Any = Cell.__dict__["value"]


def _count_own_references() -> int:
    """What `sys.getrefcount(value)` says in `writable` when only the cell holds it."""

    class Holder:
        __slots__ = ("value",)
        value: Any

    holder = Holder()
    holder.value = object()
    value = holder.value
    return sys.getrefcount(value)


_OWN_REFERENCES = _count_own_references()
