"""Random graphs on a card: a CUDA graph computes what its kernels do, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_capture import STATE
from tests.fuzz.traced_graphs import Builder
from tfteach.engine.execute import cuda_graph
from tfteach.engine.execute.program import HOT_AFTER_RUNS

SEEDS = range(20)


def values(seed: int, capture_after: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the runs of the graph of a seed fetch, and its variables between them."""
    monkeypatch.setattr(cuda_graph, "CAPTURE_AFTER", capture_after)
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        builder = Builder(tf, seed, gpus=True)
        for i in range(12):
            builder.add(f"more{i}")
        built = builder.built()
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            session.run(built.initializers)
            found = []
            for _ in range(HOT_AFTER_RUNS + 5):
                found.append(session.run(built.fetches, built.feeds))
                found.append(session.run(builder.variables))
            return found


def test_graphs_compute_what_kernels_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    strict_card.install(monkeypatch)
    launches = STATE.launches
    for seed in SEEDS:
        expected = values(seed, 1000, monkeypatch)
        np.testing.assert_equal(values(seed, 2, monkeypatch), expected, f"seed {seed}")
    assert STATE.launches > launches + len(SEEDS)
    capfd.readouterr()  # warnings of devices that do not exist
