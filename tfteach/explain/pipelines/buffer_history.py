"""How full the buffers of a pipeline were, over the time of a run."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Level"]

MOST_LEVELS = 160  # of a buffer; then every second one is dropped


class Level(NamedTuple):
    """The contents of a buffer at one time.

    Attributes:
      at_s: seconds since the watch began.
      held: the number of elements.
      capacity: how many fit.
    """

    at_s: float
    held: int
    capacity: int


class BufferHistory:
    """The levels of each buffer, at ever larger distances in long runs.

    Example:
      >>> history = BufferHistory()
      >>> history.add("shuffle", 1_000_000, 3, 10)
      >>> history.levels("shuffle")
      [Level(at_s=0.001, held=3, capacity=10)]
    """

    def __init__(self) -> None:
        self._levels: dict[str, list[Level]] = {}
        self._every: dict[str, int] = {}
        self._skipped: dict[str, int] = {}

    def add(self, key: str, at_ns: int, held: int, capacity: int) -> None:
        """Record a level, unless the buffer's levels are farther apart by now.

        Args:
          key: the key of the stage.
          at_ns: nanoseconds since the watch began.
          held: the number of elements.
          capacity: how many fit.
        """
        skipped = self._skipped.get(key, 0) + 1
        every = self._every.get(key, 1)
        if skipped < every and key in self._levels:
            self._skipped[key] = skipped
            return
        self._skipped[key] = 0
        levels = self._levels.setdefault(key, [])
        levels.append(Level(at_ns / 1e9, held, capacity))
        if len(levels) >= MOST_LEVELS:
            self._levels[key] = levels[::2]
            self._every[key] = 2 * every

    def levels(self, key: str) -> list[Level]:
        """The levels of a buffer, in order of time.

        Args:
          key: the key of the stage.
        """
        return list(self._levels.get(key, ()))
