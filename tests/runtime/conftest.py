"""Every test here has a graph of its own, and no simulated GPUs but its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfteach as tf
from tfteach.runtime import devices


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
