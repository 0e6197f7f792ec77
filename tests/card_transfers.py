"""Copies between the host and tests/strict_card.py that the host does not wait for.

They are copies of pinned memory, and over once the host has waited for their stream, or
for one that has waited for it.  Until then what is copied to the card must not change,
what comes from there has no values, and neither may be freed.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from tests.card_clock import CLOCKED, CURRENT, Clock, Queue

_UNKNOWN = 0xA5  # each byte of memory whose values have not arrived


class _Copy:
    """A copy that was begun.

    Args:
      queue, time: where and when.
      pinned: the memory of the host.
      target: the array that is written: the card's, or the host's.
      values: what it will have.
    """

    def __init__(
        self, queue: Queue, time: int, pinned: Any, target: Any, values: Any
    ) -> None:
        self.queue, self.time = queue, time
        self.pinned, self.target = weakref.ref(pinned), weakref.ref(target)
        self.values = values
        self.is_upload = pinned is not target
        self.has_arrived = False

    def is_over(self, clock: Clock) -> bool:
        return clock.get(self.queue, 0) >= self.time

    def arrive(self) -> None:
        """Write the values."""
        target = self.target()
        if target is not None and not self.has_arrived:
            target[...] = self.values
        self.has_arrived = True

    def check(self) -> None:
        """Raises AssertionError: what the copy reads or writes was taken from it."""
        pinned = self.pinned()
        assert pinned is not None, "pinned memory was freed before its copy had ended"
        if self.is_upload:
            same = pinned.tobytes() == self.values.tobytes()
            assert same, "pinned memory was changed before its copy had ended"


class Transfers:
    """The copies that are not known to be over."""

    def __init__(self) -> None:
        self._begun: list[_Copy] = []
        self._pinned: weakref.WeakValueDictionary[int, Any] = (
            weakref.WeakValueDictionary()
        )

    def empty_pinned(self, shape: Any, dtype: Any = float, order: str = "C") -> Any:
        """`cupyx.empty_pinned`."""
        self.check()
        made = np.empty(shape, dtype, order)
        self._pinned[id(made)] = made
        return made

    def is_pinned(self, array: Any) -> bool:
        return self._pinned.get(id(array)) is array

    def upload(self, source: Any, target: Any, stream: Any, current: Any) -> None:
        """Copy to the current card, on a stream or on its current one."""
        queue = stream or current
        is_pinned = self.is_pinned(source)
        assert is_pinned or stream is None, "the host waits: memory is not pinned"
        CLOCKED.clocks.access(queue, [], [target])
        if is_pinned:
            self._begin(queue, source, target, source)
            if queue is current:  # whose kernels come after it
                self.arrive(CLOCKED.clocks.now(queue))
        else:
            target[...] = source

    def download(self, source: Any, target: Any, stream: Any) -> None:
        """Copy from the current card."""
        assert self.is_pinned(target), "the host waits: memory is not pinned"
        self._begin(stream, target, target, source)

    def _begin(self, stream: Any, pinned: Any, target: Any, values: Any) -> None:
        queue = CURRENT.number, stream
        time = CLOCKED.clocks.now(stream)[queue]
        if target.flags.c_contiguous:
            target.reshape(-1).view(np.uint8)[...] = _UNKNOWN
        self._begun.append(_Copy(queue, time, pinned, target, values.copy()))

    def arrive(self, clock: Clock) -> None:
        """A stream has waited for this: what was copied to the card is there."""
        for copy in self._begun:
            if copy.is_upload and copy.is_over(clock):
                copy.arrive()

    def check(self) -> None:
        for copy in self._begun:
            copy.check()

    def end(self, clock: Clock) -> None:
        """The host has waited for this."""
        self.check()
        over = [copy for copy in self._begun if copy.is_over(clock)]
        for copy in over:
            copy.arrive()
            self._begun.remove(copy)


class Installed:
    """The copies of the cards that are installed."""

    transfers = Transfers()


TRANSFERS = Installed()
