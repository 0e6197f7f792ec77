"""Devices and memory of tests/strict_card.py."""

from __future__ import annotations

import weakref
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

from tests import card_capture
from tests.card_capture import STATE
from tests.card_clock import CLOCKED, CURRENT
from tests.card_transfers import TRANSFERS


class OutOfMemoryError(MemoryError):
    """`cupy.cuda.memory.OutOfMemoryError`."""


class Arena:
    """What a pool has of a card.

    Attributes:
      limit, used: in bytes; without a limit (0) nothing is counted.
    """

    limit = 0
    used = 0

    def free(self, size: int) -> None:
        self.used -= size


class Pool:
    """CuPy's memory pool, which limits what it hands out of the current card.

    Attributes:
      waits: how often the host waited for a card, to read a value.
      ends: how often it waited for all that a card computes.
    """

    waits = 0
    ends = 0

    def __init__(self) -> None:
        self.arenas: dict[int, Arena] = defaultdict(Arena)

    @property
    def limit(self) -> int:
        return self.arenas[CURRENT.number].limit

    def wait(self) -> None:
        self.ends += 1

    def allocate(self, owner: Any, size: int) -> None:
        """Memory for an array, until it is collected."""
        arena = self.arenas[CURRENT.number]
        size = -(-size // 512) * 512
        if arena.used + size > arena.limit:
            raise OutOfMemoryError(
                f"Out of memory allocating {size:,} bytes (allocated so far: "
                f"{arena.used:,} bytes, limit set to: {arena.limit:,} bytes)."
            )
        arena.used += size
        weakref.finalize(owner, arena.free, size)

    def used_bytes(self) -> int:
        return self.arenas[CURRENT.number].used

    total_bytes = used_bytes

    def free_all_blocks(self) -> None:
        """It keeps none."""

    def set_limit(self, *, size: int) -> None:
        self.arenas[CURRENT.number].limit = size

    def get_limit(self) -> int:
        return self.limit


POOL = Pool()

STATE.wait = POOL.wait


class Device:
    """A card, as `cupy.cuda.Device`; the current one by default."""

    compute_capability = "90"

    def __init__(self, device: int | None = None) -> None:
        self.id = CURRENT.number if device is None else device
        if not 0 <= self.id < CLOCKED.clocks.cards:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.pci_bus_id = f"0000:0{self.id}:00.0"
        self._outer: list[int] = []

    def __enter__(self) -> Device:
        self._outer.append(CURRENT.number)
        CURRENT.number = self.id
        return self

    def __exit__(self, *error: object) -> None:
        CURRENT.number = self._outer.pop()


class Event:
    """`cupy.cuda.Event`."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: Any = 0
    ) -> None:
        self.clock: dict[Any, int] = {}

    def record(self, stream: Any = None) -> None:
        assert stream is not None, "the null stream, whatever the current one is"
        self.clock = CLOCKED.clocks.now(stream)

    @property
    def done(self) -> bool:
        """Never by itself, since the cards are as slow as the host allows."""
        return CLOCKED.clocks.is_over(self.clock)

    def synchronize(self) -> None:
        STATE.refuse_while_capturing("cudaEventSynchronize")
        POOL.waits += 1
        CLOCKED.clocks.reach(self.clock)
        TRANSFERS.transfers.end(CLOCKED.clocks.host)


def cuda(cards: int = 1) -> SimpleNamespace:
    """`cupy.cuda`."""
    facts = {"name": b"strict stand-in", "totalGlobalMem": 8 << 30}
    runtime = SimpleNamespace(
        getDeviceCount=lambda: cards, getDeviceProperties=lambda number: facts
    )
    return SimpleNamespace(
        Device=Device,
        Event=Event,
        Stream=card_capture.Stream,
        MemoryPool=card_capture.MemoryPool,
        runtime=runtime,
        get_current_stream=lambda: STATE.stream,
        using_allocator=card_capture.using_allocator,
    )
