"""A clock of watched pipelines that only a test moves: no machine is busy in it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tfteach.explain.pipelines import (
    dataset_river,
    pipeline_rates,
    queue_river,
    queue_waits,
)
from tfteach.framework import pipeline_meters
from tfteach.ops.data import measuring

READERS = (
    dataset_river,
    measuring,
    pipeline_meters,
    pipeline_rates,
    queue_river,
    queue_waits,
)


class PipelineClock:
    """Stands still unless `work` or `takes` moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1
        self._lock = threading.Lock()
        for module in READERS:
            monkeypatch.setattr(module, "clock_ns", lambda: self.now_ns)

    def work(self, seconds: float) -> None:
        """Time passes."""
        with self._lock:
            self.now_ns += round(seconds * 1e9)

    def takes(self, seconds: float) -> Any:
        """A function that returns its argument after that time."""

        def slow(x: Any) -> Any:
            self.work(seconds)
            return x

        return slow
