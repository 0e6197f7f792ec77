"""Every test here has a graph of its own, and no simulated GPUs but its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
from tfteach.framework import machine_code
from tfteach.runtime import chains, devices
from tfteach.runtime.chains import ChainKernel


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
        machine_code.loop_of(*args)
        for future in list(machine_code._loops.values()):
            future.exception(60)
        return machine_code.loop_of(*args)

    monkeypatch.setattr(ChainKernel, "_around", around)
    monkeypatch.setattr(chains, "CALLS_TO_COMPILE", 1)
    monkeypatch.setattr("tfteach.runtime.machine_code.loop_of", loop_of)
    return found
