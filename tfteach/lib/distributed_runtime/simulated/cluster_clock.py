"""The modelled clock of a cluster that trains with parameter servers.

A worker reads all parameters, computes a gradient, and sends it; the parameter servers
apply it at once.  They hold equal parts of the parameters, so that their links act as
one of their sum; its users share it equally, each up to the rate of its own link.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np


class Network(NamedTuple):
    """How parameters are transferred.

    Attributes:
      model_bytes: of all parameters, and so of a gradient.
      ps: the number of parameter servers.
      bytes_per_s: of each machine's link, in one direction.
      latency_s: until a message arrives, besides its bytes.
    """

    model_bytes: float
    ps: int
    bytes_per_s: float
    latency_s: float


class Stragglers(NamedTuple):
    """How long workers compute a gradient.

    Attributes:
      compute_s: when nothing slows them down.
      share: of the gradients, those that take longer.
      slowdown: how many times as long.
      slow_workers: worker -> how many times as long it always takes.
    """

    compute_s: float
    share: float = 0.0
    slowdown: float = 1.0
    slow_workers: Mapping[int, float] = {}

    def times_s(self, worker: int, seed: int) -> Iterator[float]:
        """The successive compute times of one worker's gradients."""
        random = np.random.RandomState([seed, worker])
        usual_s = self.compute_s * self.slow_workers.get(worker, 1.0)
        while True:
            is_slow = self.share > 0 and random.random_sample() < self.share
            yield usual_s * (self.slowdown if is_slow else 1.0)


class Gradient(NamedTuple):
    """A gradient that reached the parameter servers.

    Attributes:
      at_s: when.
      worker: who computed it.
      number: how many this worker had computed before.
      read: the version of the parameters that it was computed at.
      version: that of the parameters when it arrives.
      is_used: False if it came too late for its step.
      full_s: how long until then the links of the parameter servers were full.
    """

    at_s: float
    worker: int
    number: int
    read: int
    version: int
    is_used: bool = True
    full_s: float = 0.0

    @property
    def staleness(self) -> int:
        """The staleness: updates applied since its parameters were read."""
        return self.version - self.read


class _Link:
    """One direction of the parameter servers' links, shared equally by its users."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._now_s = 0.0
        self._sent_bytes = 0.0  # to someone who uses it all the time
        self._users: deque[tuple[float, int]] = deque()  # what that is at the end

    @property
    def is_full(self) -> bool:
        return len(self._users) >= self._network.ps

    def begin(self, at_s: float, worker: int) -> None:
        self._advance(at_s)
        self._users.append((self._sent_bytes + self._network.model_bytes, worker))

    def next_s(self) -> float:
        """The time at which the next transfer ends."""
        if not self._users:
            return float("inf")
        return self._now_s + (self._users[0][0] - self._sent_bytes) / self._rate()

    def end(self) -> int:
        """Complete that transfer, and return its user."""
        self._advance(self.next_s())
        self._sent_bytes, worker = self._users.popleft()
        return worker

    def _rate(self) -> float:
        _, ps, bytes_per_s, _ = self._network
        return bytes_per_s * min(1.0, ps / len(self._users))

    def _advance(self, at_s: float) -> None:
        if self._users:
            self._sent_bytes += (at_s - self._now_s) * self._rate()
        self._now_s = at_s


def _interval_s(network: Network, stragglers: Stragglers, workers: int) -> float:
    """Between the starts of asynchronous workers.

    If all began at once, they would read at once and send at once for a long time, and
    leave the other direction of the links idle.
    """
    size, ps, bytes_per_s, latency_s = network
    cycle_s = 2 * (latency_s + size / bytes_per_s) + stragglers.compute_s
    return max(cycle_s / workers, size / bytes_per_s / ps)


def gradients(
    network: Network,
    stragglers: Stragglers,
    workers: int,
    needed: int | None,
    seed: int,
) -> Iterator[Gradient]:
    """The gradients in order of arrival, an infinite iterator.

    Args:
      network: how parameters travel.
      stragglers: how long a gradient takes.
      workers: their number.
      needed: how many gradients a synchronous step waits for: the others are dropped
        when they arrive.  None for asynchronous training, where each is an update.
      seed: of the random choice of slow gradients.
    """
    reading, sending = _Link(network), _Link(network)
    times_s = [stragglers.times_s(worker, seed) for worker in range(workers)]
    order = itertools.count()
    computing: list[tuple[float, int, int, bool]] = []
    starting = deque(
        (0.0 if needed else worker * _interval_s(network, stragglers, workers), worker)
        for worker in range(workers)
    )
    read, number = [0] * workers, [0] * workers
    waiting: list[int] = []
    version = arrived = 0
    full_s = last_s = 0.0
    while True:
        computed_s = computing[0][0] if computing else float("inf")
        now_s = min(reading.next_s(), sending.next_s(), computed_s)
        if starting:
            now_s = min(now_s, starting[0][0])
        full_s += now_s - last_s if reading.is_full or sending.is_full else 0.0
        last_s = now_s
        if starting and starting[0][0] == now_s:
            _, worker = starting.popleft()
            read[worker] = version
            reading.begin(now_s, worker)
            continue
        if reading.next_s() == now_s:
            worker = reading.end()
            done_s = now_s + network.latency_s + next(times_s[worker])
            heapq.heappush(computing, (done_s, next(order), worker, False))
            continue
        if computed_s != now_s:
            worker = sending.end()
            arrives_s = now_s + network.latency_s
            heapq.heappush(computing, (arrives_s, next(order), worker, True))
            continue
        _, _, worker, has_arrived = heapq.heappop(computing)
        if not has_arrived:
            sending.begin(now_s, worker)
            continue
        is_used = needed is None or read[worker] == version
        made, at = number[worker], read[worker]
        yield Gradient(now_s, worker, made, at, version, is_used, full_s)
        number[worker] += 1
        waiting.append(worker)
        if is_used:
            arrived += 1
            if needed is None or arrived == needed:
                version, arrived = version + 1, 0
        if needed is None or not is_used or not arrived:
            free = waiting if not arrived else [worker]
            for each in free:
                read[each] = version
                reading.begin(now_s, each)
            waiting = [each for each in waiting if each not in free]
