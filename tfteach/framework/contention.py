"""Notices that other processes take the cores on which BLAS computes.

A thread of BLAS that waits for another yields its core again and again, and the system
then prefers any process that has something to do: a product of 0.2 ms can take 20.
Nothing tells in advance, so products are timed.  When much time is lost, BLAS gets one
thread for a while; then its threads are tried again.
"""

from __future__ import annotations

from math import exp
from time import perf_counter

# Shorter delays are no stalls: the system's time slices are 3 ms.
MIN_STALL_S = 1e-3
# So much time lost within about so long, by several products or by one.  A garbage
# collection, or a thread that holds the GIL, costs one product 5 ms now and then.
MAX_LOST_S = 8e-3
MAX_LOST_BY_ONE_S = 20e-3
WINDOW_S = 0.25
# How long BLAS gets one thread: at first, and at most.
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
# The time allowed for an element that is read or written; a new page costs most.
ELEMENT_S = 2e-9


class Contention:
    """What the times of products say about the machine.

    Attributes:
      until_s: when BLAS's threads are tried again, by `time.perf_counter`.
    """

    def __init__(self) -> None:
        self.until_s = 0.0
        self._pause_s = 0.0
        self._tried_s = 0.0  # the time of the products since the last pause
        self._lost_s = 0.0  # recently: it decays
        self._last_stall_s = 0.0
        self._fastest_s = float("inf")  # of one multiplication

    def is_likely(self) -> bool:
        """Whether BLAS's threads have lost much time recently."""
        return perf_counter() < self.until_s

    def record(
        self, multiplications: int, elements: int, elapsed_s: float, now_s: float
    ) -> None:
        """Judge a product that BLAS's threads have computed.

        Args:
          multiplications: of the product.
          elements: of the factors and the result.
          elapsed_s: how long it took.
          now_s: when it ended, by `time.perf_counter`.
        """
        self._tried_s += elapsed_s
        if elapsed_s < multiplications * self._fastest_s:
            self._fastest_s = elapsed_s / multiplications
        elif elapsed_s > MIN_STALL_S:
            # Thin matrices and other types take up to four times as long.
            expected_s = 4 * multiplications * self._fastest_s + elements * ELEMENT_S
            if elapsed_s > expected_s + MIN_STALL_S:
                self._stalled(elapsed_s - expected_s, now_s)

    def _stalled(self, lost_s: float, now_s: float) -> None:
        earlier_s = self._lost_s * exp((self._last_stall_s - now_s) / WINDOW_S)
        self._lost_s = earlier_s + lost_s
        self._last_stall_s = now_s
        is_repeated = earlier_s > MIN_STALL_S
        if self._lost_s < (MAX_LOST_S if is_repeated else MAX_LOST_BY_ONE_S):
            return
        # Double the pause if the last trial was shorter: the machine remains busy.
        was_short = self._tried_s < self._pause_s / 2
        pause_s = 2 * self._pause_s if was_short else FIRST_PAUSE_S
        self._pause_s = min(pause_s, LONGEST_PAUSE_S)
        self.until_s = now_s + self._pause_s
        self._tried_s = self._lost_s = 0.0


contention = Contention()
