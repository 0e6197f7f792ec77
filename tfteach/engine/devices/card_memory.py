"""The memory of a real card: what CuPy's pool has taken, and what arrays use of it.

The pool belongs to the process: all sessions share it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.engine.devices.memory_ledger import LedgerEvent, show_bytes


class CardLedger:
    """What `MemoryLedger` is for a simulated GPU.  It is read when a run ends.

    Args:
      device_name: of the device.
      card: CuPy's device.
      pool: CuPy's memory pool.
      limit_bytes: what the session may take.

    Attributes:
      peak_bytes: the most that was in use when it was read.
      watchers: called whenever it is read.
    """

    allow_growth = True  # CuPy takes memory as it is needed

    def __init__(
        self, device_name: str, card: Any, pool: Any, limit_bytes: int
    ) -> None:
        self.device_name = device_name
        self.limit_bytes = limit_bytes
        self.peak_bytes = 0
        self.watchers: list[Callable[[LedgerEvent], None]] = []
        self._card, self._pool = card, pool

    @property
    def current_bytes(self) -> int:
        """Bytes of arrays."""
        with self._card:
            return int(self._pool.used_bytes())

    @property
    def reserved_bytes(self) -> int:
        """Bytes that the pool has taken from the card."""
        with self._card:
            return int(self._pool.total_bytes())

    def read(self, needed_bytes: int = 0, complaint: str = "") -> None:
        """Notify the watchers of the balance, and of a request that did not fit."""
        current_bytes = self.current_bytes
        self.peak_bytes = max(self.peak_bytes, current_bytes)
        if self.watchers:
            event = LedgerEvent(
                current_bytes, self.reserved_bytes, needed_bytes, complaint
            )
            for watcher in list(self.watchers):
                watcher(event)

    def shortage(self, needed_bytes: int) -> str:
        """What to say of a request that does not fit."""
        with self._card:
            limit = self._pool.get_limit() or self.limit_bytes
        return (
            f"It needs {show_bytes(needed_bytes)}; of this card's "
            f"{show_bytes(limit)}, {show_bytes(self.current_bytes)} are taken. Use "
            "smaller batches, or a larger "
            "GPUOptions.per_process_gpu_memory_fraction if it is set."
        )

    def __repr__(self) -> str:
        return (
            f"<CardLedger {self.device_name}: {show_bytes(self.current_bytes)} of "
            f"{show_bytes(self.limit_bytes)}, reserved "
            f"{show_bytes(self.reserved_bytes)}>"
        )
