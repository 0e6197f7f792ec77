"""Copies between the host and a card that the host does not wait for.

They go through pinned memory, which CUDA reads and writes by itself.  Large arrays are
copied to the card on a stream of their own, beside the kernels that do not need them.
What a run returns is copied behind its kernels; the host waits once, for all of it.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any

import numpy as np

from tfteach.framework.type_aliases import ArrayModule

# A smaller array is on the card before two streams have been told of each other.
OWN_STREAM_BYTES = 256 << 10


class CardCopies:
    """The copies of one card.

    Args:
      xp: CuPy.
      card: CuPy's device; it is the current one in all calls.
    """

    def __init__(self, xp: ArrayModule, card: Any) -> None:
        self._xp = xp
        self._card = card
        self._stream: Any = None
        # Pinned memory, and the events after which it may be used again.
        self._staged: deque[tuple[Any, Any]] = deque()
        # Arrays that `_stream` has filled, until kernels that read them have ended.
        self._uploaded: list[weakref.ref[Any]] = []
        self._lock = threading.Lock()

    def upload(self, value: np.ndarray[Any, Any]) -> Any:
        """A copy on the card.  Kernels that are launched from now on may read it."""
        if value.nbytes < OWN_STREAM_BYTES:
            return self._xp.array(value)
        import cupyx

        staging = cupyx.empty_pinned(value.shape, value.dtype)
        staging[...] = value
        with self._lock:
            return self._copied_beside(staging)

    def _copied_beside(self, staging: Any) -> Any:
        cuda = self._xp.cuda
        kernels = cuda.get_current_stream()
        if self._stream is None:
            self._stream = cuda.Stream(non_blocking=True)
        # CuPy's pool keeps the memory of each stream apart: this copy can get only the
        # memory of an earlier one, which kernels may not have read yet.
        if freed := self._freed():
            self._stream.wait_event(kernels.record(cuda.Event(disable_timing=True)))
            self._forget(freed)
        with self._stream:
            made = self._xp.empty(staging.shape, staging.dtype)
            made.set(staging, stream=self._stream)
            copied = self._stream.record(cuda.Event(disable_timing=True))
        kernels.wait_event(copied)
        self._hold(copied, staging)
        self._uploaded.append(weakref.ref(made))
        return made

    def finish(self) -> None:
        """Wait until the card has computed everything."""
        with self._lock:
            freed = self._freed()
        self._xp.cuda.get_current_stream().synchronize()
        with self._lock:
            self._forget(freed)
            self._release()

    def _freed(self) -> list[weakref.ref[Any]]:
        """The uploaded arrays that no later kernel can read."""
        return [array for array in self._uploaded if array() is None]

    def _forget(self, freed: list[weakref.ref[Any]]) -> None:
        known = set(map(id, freed))  # equality is that of the arrays
        self._uploaded = [a for a in self._uploaded if id(a) not in known]

    def download(self, value: Any) -> Download:
        """A copy on the host, as soon as it is waited for."""
        import cupyx

        staging = cupyx.empty_pinned(value.shape, value.dtype)
        value.get(out=staging, blocking=False)
        kernels = self._xp.cuda.get_current_stream()
        copied = kernels.record(self._xp.cuda.Event(disable_timing=True))
        with self._lock:
            self._hold(copied, staging)
        return Download(self._card, kernels, copied, staging)

    def _hold(self, copied: Any, staging: Any) -> None:
        """Keep pinned memory, which a failed run may drop, until it has been copied."""
        self._release()
        self._staged.append((copied, staging))

    def _release(self) -> None:
        while self._staged and self._staged[0][0].done:
            self._staged.popleft()


class Download:
    """An array of a card on its way to the host.

    Args:
      card: the card.
      stream: where it is copied.
      copied: the event after which it is there.
      staging: where it will be.
    """

    def __init__(self, card: Any, stream: Any, copied: Any, staging: Any) -> None:
        self._card, self._stream = card, stream
        self._copied, self._staging = copied, staging

    def wait(self) -> Any:
        """The array; a number if it has no axes."""
        if not self._copied.done:
            with self._card:  # all, so that later copies need not be waited for
                self._stream.synchronize()
        return self._staging.copy() if self._staging.ndim else self._staging[()]
