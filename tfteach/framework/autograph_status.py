"""Whether AutoGraph converts what runs now, for the messages of Tensors.

Source: python/autograph/core/ag_ctx.py (API).
"""

from __future__ import annotations

import enum
import threading
from typing import Any, Self


class Status(enum.Enum):
    """What the program has asked for where it runs now."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A context manager, within which a status holds for the thread.

    Args:
      status: the status.
      options: further options of who asked, for who asks.
    """

    def __init__(self, status: Status, options: Any = None) -> None:
        self.status = status
        self.options = options

    def __enter__(self) -> Self:
        self._outer, _current.context = _current.context, self
        return self

    def __exit__(self, *error: object) -> None:
        _current.context = self._outer

    def __repr__(self) -> str:
        return f"ControlStatusCtx[status={self.status}, options={self.options}]"


class _Current(threading.local):
    context = ControlStatusCtx(Status.UNSPECIFIED)


_current = _Current()


def control_status_ctx() -> ControlStatusCtx:
    """The innermost context of this thread."""
    return _current.context
