"""Which memory of tests/strict_card.py is on which card, and what is ordered there.

Kernels of one card's stream run one after the other; those of two do so only where one
waits for an event of the other, or the host has waited in between.  Each access is
therefore dated, and two that could happen at the same time are refused, if one of them
writes.  The memory of an array that is freed is used again by the stream that took it
from CuPy's pool, which must not happen before others have read it.
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

Queue = tuple[int, Any]  # the number of a card, and one of its streams
Clock = dict[Queue, int]  # what is known to be over


class Current(threading.local):
    """The current card of a thread."""

    number = 0


CURRENT = Current()


class _Memory:
    """The memory of an array.

    Attributes:
      card: the number of the card that has it.
      owner: the queue that took it from the pool.
      written: when it was written last.
      used: when each queue last read or wrote it.
    """

    def __init__(self, owner: Queue, used: Clock) -> None:
        self.card, self.owner = owner[0], owner
        self.written: tuple[Queue, int] | None = None
        self.used = used


def root_of(host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory."""
    while isinstance(host.base, np.ndarray):
        host = host.base
    return host


class Clocks:
    """What is known of the cards' memory.

    Attributes:
      cards: how many there are.
      copies: copies between cards: from, to, and how many bytes.
    """

    def __init__(self, cards: int = 1) -> None:
        self.cards = cards
        self.copies: list[tuple[int, int, int]] = []
        self._memory: dict[int, _Memory] = {}
        self._freed: dict[Queue, Clock] = defaultdict(dict)  # by owner
        self._known: dict[Queue, Clock] = defaultdict(dict)
        self.host: Clock = {}

    def made(self, host: np.ndarray[Any, Any], stream: Any) -> None:
        """Account for an array; views share the memory that they are of."""
        root = root_of(host)
        if id(root) in self._memory:
            return
        owner = CURRENT.number, stream
        self._memory[id(root)] = _Memory(owner, self._freed[owner].copy())
        weakref.finalize(root, self._free, id(root))

    def _free(self, number: int) -> None:
        memory = self._memory.pop(number)
        _merge(self._freed[memory.owner], memory.used)

    def card_of(self, host: np.ndarray[Any, Any]) -> int:
        """The card that has an array's memory."""
        memory = self._memory.get(id(root_of(host)))
        return 0 if memory is None else memory.card

    def check_card(self, arrays: Iterable[np.ndarray[Any, Any]]) -> None:
        """Raise ValueError for an array that the current card does not have."""
        for array in arrays:
            card = self.card_of(array)
            if card != CURRENT.number:
                raise ValueError(
                    "Array device must be same as the current device: array device = "
                    f"{card} while current = {CURRENT.number}"
                )

    # ---- what happens

    def access(
        self,
        stream: Any,
        reads: Iterable[np.ndarray[Any, Any]],
        writes: Iterable[np.ndarray[Any, Any]] = (),
    ) -> None:
        """A kernel or a copy on a stream of the current card.

        Raises:
          AssertionError: another one may still write what it reads, or use what it
            writes.
        """
        queue = CURRENT.number, stream
        known = self._known[queue]
        _merge(known, self.host)
        now = known[queue] = known.get(queue, 0) + 1
        for array in reads:
            memory = self._memory.get(id(root_of(array)))
            if memory is not None:
                if memory.written is not None:
                    self._check_over(known, *memory.written)
                memory.used[queue] = now
        for array in writes:
            memory = self._memory.get(id(root_of(array)))
            if memory is not None:
                for user, time in memory.used.items():
                    if user != queue:
                        self._check_over(known, user, time)
                memory.used[queue] = now
                memory.written = queue, now

    @staticmethod
    def _check_over(known: Clock, queue: Queue, time: int) -> None:
        if known.get(queue, 0) < time:
            raise AssertionError(f"card {queue[0]} may still use that memory")

    def now(self, stream: Any) -> Clock:
        """What an event of a stream of the current card stands for."""
        return self._known[CURRENT.number, stream].copy()

    def wait(self, stream: Any, event: Clock) -> None:
        """A stream of the current card waits for an event."""
        _merge(self._known[CURRENT.number, stream], event)

    def synchronize(self, stream: Any) -> None:
        """The host waits for a stream of the current card."""
        _merge(self.host, self._known[CURRENT.number, stream])

    def reach(self, event: Clock) -> None:
        """The host waits for an event."""
        _merge(self.host, event)

    def is_over(self, event: Clock) -> bool:
        """Whether the host has waited for it."""
        return all(self.host.get(queue, 0) >= time for queue, time in event.items())


def _merge(clock: Clock, other: Clock) -> None:
    for queue, time in other.items():
        clock[queue] = max(clock.get(queue, 0), time)


class Clocked:
    """The clocks of the cards that are installed."""

    clocks = Clocks()


CLOCKED = Clocked()
