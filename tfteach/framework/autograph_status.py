"""Whether AutoGraph converts what runs now, for the messages of Tensors.

Source: python/autograph/core/ag_ctx.py.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Status(enum.Enum):
    """What the function that runs now has asked for."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Current(threading.local):
    status = Status.UNSPECIFIED


_current = _Current()


def status() -> Status:
    """That of this thread."""
    return _current.status


@contextmanager
def under(new: Status) -> Iterator[None]:
    """Set the status of this thread within the block."""
    old, _current.status = _current.status, new
    try:
        yield
    finally:
        _current.status = old
