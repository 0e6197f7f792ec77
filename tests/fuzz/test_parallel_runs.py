"""Random graphs on three devices: any order of executors gives one thread's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.engine.execute.orders import AnyOrder, Parallel
from tests.fuzz.traced_graphs import Builder
from tfteach.engine.execute import parallel_program
from tfteach.engine.flow import flow_on_devices
from tfteach.engine.flow.device_blocks import UndividedError


class FlowBuilder(Builder):
    """With queues, and branches and loops in some of which the devices differ."""

    def built(self) -> Any:
        built = super().built()
        return built._replace(fetches=[*built.fetches, *self.enqueues])

    def add(self, name: str) -> None:
        self.enqueues = getattr(self, "enqueues", [])
        super().add(name)

    def made(self, name: str, a: Any, b: Any) -> Any:
        chance = self.chance
        kind = chance.number(13)
        if kind == 0:  # one predicate for several branches
            if not hasattr(self, "predicate"):
                self.predicate = tf.reduce_sum(self.values[0]) > 1.0 + chance.number(3)
            return tf.cond(self.predicate, self.branch(a, b), self.branch(b, a))
        if kind == 1:
            inner = self.branch(a, b)
            return tf.while_loop(
                lambda i, x: i < 3,
                lambda i, x: (i + 1, x * 0.5 + inner()),
                [0, tf.convert_to_tensor(a)],
            )[1]
        if kind == 2:
            return tf.map_fn(lambda x: x * tf.reduce_sum(b), tf.convert_to_tensor(a))
        if kind == 3:
            return tf.gradients(tf.map_fn(tf.exp, tf.identity(a) * 0.1), a)[0]
        if kind == 4:  # neither op waits for the other by an edge
            queue = tf.FIFOQueue(3, tf.float32, [[2]])
            self.enqueues.append(queue.enqueue([a]))
            return queue.dequeue()
        return super().made(name, a, b)

    def branch(self, a: Any, b: Any) -> Any:
        chance = self.chance
        kind, variable = chance.number(6), None
        if self.variables:
            variable = chance.pick(self.variables)
        somewhere = self.somewhere()

        def values() -> Any:
            if kind == 0:
                return tf.convert_to_tensor(a)
            with somewhere:
                found = tf.exp(-tf.abs(a))
            if kind == 1 and variable is not None:
                with tf.control_dependencies([variable.assign_add(found)]):
                    found = tf.identity(found)
            if kind == 2:
                higher = tf.reduce_sum(found) > 0.5
                found = tf.cond(higher, lambda: found + b, lambda: found * b)
            if kind == 3:
                found = tf.random_uniform([2]) + found
            return found - tf.convert_to_tensor(b)

        return values


def values(seed: int, threads: int, builders: type[Builder] = Builder) -> list[Any]:
    """What three runs of the graph of a seed fetch, and the variables after them."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        builder = builders(tf, seed, gpus=True)
        builder.devices = 1 if builders is FlowBuilder else 3  # 3: without branches
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


def as_dataflow(*arguments: Any) -> Any:
    raise UndividedError("as a test wants it")


@pytest.mark.parametrize("in_threads", [False, True], ids=["any order", "threads"])
@pytest.mark.parametrize("builders", [Builder, FlowBuilder], ids=["plain", "flow"])
def test_the_values_are_those_of_one_thread(
    monkeypatch: pytest.MonkeyPatch, in_threads: bool, builders: type[Builder]
) -> None:
    tf.simulate_gpus(2, memory="16MiB")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(flow_on_devices, "divided_blocks", as_dataflow)
            expected = [values(seed, 1, builders) for seed in range(25)]
        monkeypatch.setattr(parallel_program, "Race", Parallel)
        if not in_threads:
            monkeypatch.setattr(parallel_program, "Executors", AnyOrder)
        for seed, wanted in enumerate(expected):
            found = values(seed, 3, builders)
            np.testing.assert_equal(found, wanted, f"seed {seed}")
    finally:
        tf.simulate_gpus(0)
