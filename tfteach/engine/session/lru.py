"""A dict that evicts the least recently set items."""

from __future__ import annotations

import threading
from typing import TypeVar

# Programs cached by a session.  Code that adds ops for each run (tf.assign in a loop)
# creates a program for each, too.
MAX_PROGRAMS = 1000

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(dict[_K, _V]):
    """A dict of at most `limit` items, which evicts the least recently set one.

    Reading costs as much as in a dict, and does not count as a use.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._lock = threading.Lock()

    def __setitem__(self, key: _K, value: _V) -> None:
        with self._lock:
            self.pop(key, None)
            super().__setitem__(key, value)
            while len(self) > self._limit:
                del self[next(iter(self))]
