"""Every test here has a graph of its own, and no simulated GPUs but its own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfteach as tf
from tests.engine.execute.orders import AnyOrder, Parallel
from tfteach.engine.devices import devices
from tfteach.engine.execute import parallel_program
from tfteach.engine.fusion import fuse_small
from tfteach.engine.fusion.fuse_small import ChainKernel
from tfteach.framework.loops import compiled_loops


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
    pytest.importorskip("llvmlite")
    found: list[ChainKernel] = []
    inner = ChainKernel._around

    def around(self: ChainKernel, loop: Any) -> Any:
        found.append(self)
        return inner(self, loop)

    monkeypatch.setattr(ChainKernel, "_around", around)
    monkeypatch.setattr(fuse_small, "CALLS_TO_COMPILE", 1)
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    return found


@pytest.fixture
def parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps on several devices run in parallel from their first run on."""
    monkeypatch.setattr(parallel_program, "Race", Parallel)


@pytest.fixture
def shuffled(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> Callable[[int], list[str]]:
    """`shuffled(seed)`: one thread runs the executors in a random order from now on.

    It returns a list that fills with the names of the ops that ran.
    """

    def shuffle(seed: int) -> list[str]:
        ran: list[str] = []
        monkeypatch.setattr(AnyOrder, "chance", random.Random(seed))
        monkeypatch.setattr(AnyOrder, "ran", ran)
        monkeypatch.setattr(parallel_program, "Executors", AnyOrder)
        return ran

    return shuffle
