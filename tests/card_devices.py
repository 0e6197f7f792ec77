"""Devices and memory of tests/strict_card.py."""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any

from tests import card_capture
from tests.card_capture import STATE


class OutOfMemoryError(MemoryError):
    """`cupy.cuda.memory.OutOfMemoryError`."""


class Pool:
    """CuPy's memory pool, which limits what it hands out.

    Attributes:
      limit, used: in bytes; without a limit (0) nothing is counted.
      waits: how often the host waited for the card, to read a value.
      ends: how often it waited for all that the card computes.
    """

    limit = 0
    used = 0
    waits = 0
    ends = 0

    def wait(self) -> None:
        self.ends += 1

    def allocate(self, owner: Any, size: int) -> None:
        """Memory for an array, until it is collected."""
        size = -(-size // 512) * 512
        if self.used + size > self.limit:
            raise OutOfMemoryError(
                f"Out of memory allocating {size:,} bytes (allocated so far: "
                f"{self.used:,} bytes, limit set to: {self.limit:,} bytes)."
            )
        self.used += size
        weakref.finalize(owner, self.free, size)

    def free(self, size: int) -> None:
        self.used -= size

    def used_bytes(self) -> int:
        return self.used

    total_bytes = used_bytes

    def free_all_blocks(self) -> None:
        """It keeps none."""

    def set_limit(self, *, size: int) -> None:
        self.limit = size

    def get_limit(self) -> int:
        return self.limit


POOL = Pool()

STATE.wait = POOL.wait


class Device:
    """The only card, as `cupy.cuda.Device`."""

    compute_capability = "90"
    pci_bus_id = "0000:00:00.0"

    def __init__(self, number: int = 0) -> None:
        self.id = number

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def cuda() -> SimpleNamespace:
    """`cupy.cuda`."""
    facts = {"name": b"strict stand-in", "totalGlobalMem": 8 << 30}
    runtime = SimpleNamespace(
        getDeviceCount=lambda: 1, getDeviceProperties=lambda number: facts
    )
    return SimpleNamespace(
        Device=Device,
        Stream=card_capture.Stream,
        MemoryPool=card_capture.MemoryPool,
        runtime=runtime,
        get_current_stream=lambda: STATE.stream,
        using_allocator=card_capture.using_allocator,
    )
