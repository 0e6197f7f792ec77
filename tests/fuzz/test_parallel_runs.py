"""Random graphs on three devices: any order of executors gives one thread's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.engine.execute.orders import AnyOrder, Parallel
from tests.fuzz.traced_graphs import Builder
from tfteach.engine.execute import parallel_program


def values(seed: int, threads: int) -> list[Any]:
    """What three runs of the graph of a seed fetch, and the variables after them."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        builder = Builder(tf, seed, gpus=True)
        builder.devices = 3  # no branches and loops, whose steps run in order
        for i in range(12):
            builder.add(f"more{i}")
        built = builder.built()
        config = tf.ConfigProto(
            allow_soft_placement=True,
            inter_op_parallelism_threads=threads,
            use_per_session_threads=True,
        )
        with tf.Session(config=config) as session:
            session.run(built.initializers)
            runs = [session.run(built.fetches, built.feeds) for _ in range(3)]
            return [runs, session.run(builder.variables)]


@pytest.mark.parametrize("in_threads", [False, True], ids=["any order", "threads"])
def test_the_values_are_those_of_one_thread(
    monkeypatch: pytest.MonkeyPatch, in_threads: bool
) -> None:
    tf.simulate_gpus(2, memory="16MiB")
    try:
        expected = [values(seed, threads=1) for seed in range(25)]
        monkeypatch.setattr(parallel_program, "Race", Parallel)
        if not in_threads:
            monkeypatch.setattr(parallel_program, "Executors", AnyOrder)
        for seed, wanted in enumerate(expected):
            np.testing.assert_equal(values(seed, threads=3), wanted, f"seed {seed}")
    finally:
        tf.simulate_gpus(0)
