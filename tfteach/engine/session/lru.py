"""A dict that keeps what was set last."""

from __future__ import annotations

import threading
from typing import TypeVar

# Programs a session keeps.  Who makes ops for each run (tf.assign in a loop) gets a
# program for each, too.
MAX_PROGRAMS = 1000

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(dict[_K, _V]):
    """A dict of at most `limit` items: the one that was set longest ago has to go.

    Reading is that of a dict, and does not count; set an item again to keep it.
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
