"""Memory accounting of a simulated device: bytes in use, reserved, and the peak.

An array counts from the moment a kernel returns it until the last reference is gone:
forwarded buffers count once, a variable's buffer as long as the variable holds it.
Scalars are not counted, nor temporaries inside a kernel.
Source: core/common_runtime/bfc_allocator.cc (sizes, growth, the error message).
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tfteach.framework.dtypes import as_dtype, c_name
from tfteach.framework.errors import ResourceExhaustedError
from tfteach.framework.shape import text
from tfteach.framework.type_aliases import DTypeLike
from tfteach.framework.variable_cell import Cell

GRANULE_BYTES = 256  # allocations are multiples of this
FIRST_REGION_BYTES = 1 << 20  # initial size of a growing allocator


def no_room_for(shape: Any, dtype: DTypeLike, device_name: str, allocator: str) -> str:
    """TF's message for an array that does not fit into a device's memory."""
    return (
        f"OOM when allocating tensor with shape{text(shape)} and type "
        f"{c_name(as_dtype(dtype))} on {device_name} by allocator {allocator}"
    )


class LedgerEvent(NamedTuple):
    """Callbacks of a ledger: its new balance, and requests that did not fit."""

    current_bytes: int
    reserved_bytes: int
    needed_bytes: int = 0
    complaint: str = ""


class Ledger(Protocol):
    """What is known of a device's memory; see `MemoryLedger`."""

    device_name: str
    limit_bytes: int
    allow_growth: bool
    peak_bytes: int
    watchers: list[Callable[[LedgerEvent], None]]

    @property
    def current_bytes(self) -> int: ...

    @property
    def reserved_bytes(self) -> int: ...


class MemoryLedger:
    """Accounts for the memory of one device in one session.

    Attributes:
      limit_bytes: the total memory.
      allow_growth: whether the device's memory is reserved on demand, rather
        than all at once.
      current_bytes: bytes in use.
      peak_bytes: maximum of the bytes in use.
      reserved_bytes: bytes reserved on the device, used or not.
      allocations: total number of allocations.
      watchers: called at each change, under the ledger's lock.
    """

    def __init__(
        self, device_name: str, limit_bytes: int, allow_growth: bool = False
    ) -> None:
        self.device_name = device_name
        self.limit_bytes = limit_bytes
        self.allow_growth = allow_growth
        self.current_bytes = 0
        self.peak_bytes = 0
        self.allocations = 0
        self.reserved_bytes = 0 if allow_growth else limit_bytes
        self.watchers: list[Callable[[LedgerEvent], None]] = []
        self._region_bytes = FIRST_REGION_BYTES
        # The live arrays, by identity.  Their weak references must be stored, or
        # their finalizers would not run.
        self._live: dict[int, tuple[weakref.ref[Any], int]] = {}
        # Reentrant: an array can end while this very thread holds the lock.
        self._lock = threading.RLock()

    @property
    def free_bytes(self) -> int:
        return self.limit_bytes - self.current_bytes

    def track(self, value: Any) -> None:
        """Count an array (or a variable's) until it is freed.

        Raises:
          ResourceExhaustedError: it does not fit.
        """
        if isinstance(value, Cell):
            value = value.value if value.is_initialized else None
        if not isinstance(value, np.ndarray) or not value.nbytes:
            return
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        key = id(owner)
        with self._lock:
            if key in self._live:
                return
            size_bytes = -(-owner.nbytes // GRANULE_BYTES) * GRANULE_BYTES
            self._take(size_bytes, value)

            def release(_: Any) -> None:
                self._release(key)

            self._live[key] = weakref.ref(owner, release), size_bytes

    def _take(self, size_bytes: int, value: Any) -> None:
        if size_bytes > self.free_bytes:
            complaint = self._complaint(value)
            self._notify(size_bytes, complaint)
            raise ResourceExhaustedError(None, None, complaint)
        self.current_bytes += size_bytes
        self.allocations += 1
        self.peak_bytes = max(self.peak_bytes, self.current_bytes)
        while self.reserved_bytes < self.current_bytes:  # regions double, as they grow
            missing = self.current_bytes - self.reserved_bytes
            region = max(self._region_bytes, missing)
            self.reserved_bytes = min(self.reserved_bytes + region, self.limit_bytes)
            self._region_bytes *= 2
        if self.watchers:
            self._notify()

    def _notify(self, needed_bytes: int = 0, complaint: str = "") -> None:
        event = LedgerEvent(
            self.current_bytes, self.reserved_bytes, needed_bytes, complaint
        )
        for watcher in list(self.watchers):
            watcher(event)

    def _release(self, key: int) -> None:
        with self._lock:
            _, size_bytes = self._live.pop(key)
            self.current_bytes -= size_bytes
            if self.watchers:
                self._notify()

    def _complaint(self, value: Any) -> str:
        _, _, index = self.device_name.rpartition(":")
        allocator = f"GPU_{index}_bfc"
        return (
            f"{no_room_for(value.shape, value.dtype, self.device_name, allocator)}\n"
            f"It needs {show_bytes(value.nbytes)}; this simulated GPU has "
            f"{show_bytes(self.limit_bytes)}, of which "
            f"{show_bytes(self.current_bytes)} are taken. Use smaller batches, or "
            "tfteach.simulate_gpus(n, memory=...) with more."
        )

    def __repr__(self) -> str:
        return (
            f"<MemoryLedger {self.device_name}: {show_bytes(self.current_bytes)} of "
            f"{show_bytes(self.limit_bytes)}, peak {show_bytes(self.peak_bytes)}, "
            f"reserved {show_bytes(self.reserved_bytes)}>"
        )


def show_bytes(size_bytes: float) -> str:
    """A human-readable size: "512 B", "1.50 MiB"."""
    if abs(size_bytes) < 1024:
        return f"{size_bytes:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        size_bytes /= 1024
        if abs(size_bytes) < 1024:
            return f"{size_bytes:.2f} {unit}"
    return f"{size_bytes / 1024:.2f} TiB"


_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_bytes(size: int | str) -> int:
    """Parse a number or text such as "8GiB", "512 MB" (1024-based) or "4096" as bytes.

    Raises:
      ValueError: it is not a positive size.
    """
    found = -1.0
    if isinstance(size, str):
        body = size.strip().upper().removesuffix("B").removesuffix("I").strip()
        unit = body[-1:] if body[-1:] in _UNITS else ""
        with contextlib.suppress(ValueError):
            found = float(body.removesuffix(unit)) * _UNITS[unit]
    elif not isinstance(size, bool):
        found = size
    if found < 1:
        raise ValueError(f'a size like "8GiB" or a number of bytes, not {size!r}')
    return int(found)
