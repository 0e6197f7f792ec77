"""A slice of the fuzzer of traces; `python -m tests.fuzz.traced_runs` runs more."""

from __future__ import annotations

import pytest

import tfteach as tf
from tests.fuzz.traced_graphs import traced
from tests.fuzz.traced_runs import broken_rules


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_traces_are_whole(first: int) -> None:
    tf.simulate_gpus(0)
    for seed in range(first, first + 20):
        for optimized in (True, False):
            metadata = traced(tf, seed, optimized)
            assert broken_rules(metadata) == [], (seed, optimized)


def test_traces_on_simulated_gpus_are_whole() -> None:
    tf.simulate_gpus(2, memory="16MiB")
    try:
        for seed in range(20):
            for optimized in (True, False):
                metadata = traced(tf, seed, optimized, gpus=True)
                assert broken_rules(metadata) == [], (seed, optimized)
    finally:
        tf.simulate_gpus(0)
