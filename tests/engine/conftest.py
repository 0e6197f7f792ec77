"""Every test here has a graph of its own, and no simulated GPUs but its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
from tfteach.engine.devices import devices
from tfteach.engine.fusion import fuse_small
from tfteach.engine.fusion.fuse_small import ChainKernel
from tfteach.framework import numba_loops


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Graph]:
    monkeypatch.setattr(devices, "_simulated", None)
    monkeypatch.delenv("TFTEACH_SIMULATED_GPUS", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without an NVIDIA card."""
    monkeypatch.setattr(devices, "cuda_cards", lambda: 0)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[ChainKernel]:
    """Chains are compiled at their first call; the list fills with those that were."""
    pytest.importorskip("numba")
    found: list[ChainKernel] = []
    inner = ChainKernel._around

    def around(self: ChainKernel, loop: Any) -> Any:
        found.append(self)
        return inner(self, loop)

    def loop_of(*args: Any) -> Any:
        numba_loops.loop_of(*args)
        for future in list(numba_loops._loops.values()):
            future.exception(60)
        return numba_loops.loop_of(*args)

    monkeypatch.setattr(ChainKernel, "_around", around)
    monkeypatch.setattr(fuse_small, "CALLS_TO_COMPILE", 1)
    monkeypatch.setattr("tfteach.engine.fusion.numba_chains.loop_of", loop_of)
    return found
