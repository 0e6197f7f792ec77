"""Random graphs have the same values in each of the ways in which a step can run."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute.program import HOT_AFTER_RUNS, MANY_RUNS, Program
from tfteach.engine.fusion import fuse_large
from tfteach.engine.session.base_session import BaseSession


@pytest.fixture(autouse=True)
def all_sizes_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse_large, "BLOCK", 8)
    monkeypatch.setattr(fuse_large, "MIN_ELEMENTS", 12)
    monkeypatch.setattr(fuse_large, "MIN_PARTS_PER_RESULT", 1.5)


class _Maker:
    """Builds random ops on [rows, 3] matrices, rows unknown, and on a variable."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.variable = tf.Variable(np.float32([1.0, -2.0, 0.5]), name="v")
        self.values: list[tf.Tensor] = [self.x]
        self.effects: list[tf.Operation] = []

    def grow(self, count: int) -> None:
        for _ in range(count):
            self.values.append(self.random.choice(self.MAKERS)(self))

    def pick(self) -> tf.Tensor:
        return self.random.choice(self.values)

    def binary(self) -> tf.Tensor:
        op = self.random.choice([tf.add, tf.subtract, tf.multiply, tf.maximum])
        return op(self.pick(), self.pick()) * 0.5

    def unary(self) -> tf.Tensor:
        op = self.random.choice([tf.tanh, tf.nn.relu, tf.square, tf.identity, tf.abs])
        return tf.minimum(op(self.pick()), 3.0)

    def constant(self) -> tf.Tensor:
        row = tf.constant([1.0, 2.0, 3.0]) * tf.reshape(tf.constant([0.5]), [1, 1])
        return self.pick() + row * float(self.random.randint(1, 3))

    def by_shape(self) -> tf.Tensor:
        value = self.pick()
        count = tf.cast(tf.shape(value)[0], tf.float32)
        return tf.reshape(value, tf.shape(self.x)) / count

    def reduced(self) -> tf.Tensor:
        value = self.pick()
        return value - tf.reduce_mean(value, 0, keepdims=True)

    def read(self) -> tf.Tensor:
        return self.pick() + self.variable

    def update(self) -> tf.Tensor:
        value = self.pick()
        with tf.control_dependencies(self.effects[-1:]):
            change = tf.assign(
                self.variable, tf.reduce_mean(tf.tanh(value), 0), name="change"
            )
        self.effects.append(change.op)
        with tf.control_dependencies([change]):
            return value + 1.0

    def gradient(self) -> tf.Tensor:
        value = tf.reduce_sum(tf.tanh(self.pick()) * 0.1)
        found = tf.gradients(value, self.x)[0]
        return self.pick() if found is None else found

    MAKERS = (binary, unary, constant, by_shape, reduced, read, update, gradient)


def _session(optimized: bool) -> tf.Session:
    config = tf.ConfigProto()
    if not optimized:
        options = config.graph_options.optimizer_options
        options.opt_level = type(options).L0
    return tf.Session(config=config)


def _program(session: BaseSession) -> Any:
    return list(session._programs.values())[-1][0]


@pytest.mark.parametrize("seed", range(30))
def test_every_way_to_run_gives_the_same(seed: int) -> None:
    rng = np.random.RandomState(seed)
    fed = [np.float32(rng.randn(rows, 3)) for rows in (5, 2)]
    with tf.Graph().as_default():
        maker = _Maker(seed)
        maker.grow(8)
        with tf.control_dependencies(maker.effects):
            left = maker.variable.read_value() * 1.0
        fetches = [maker.values[-1], maker.values[-4], left]

        def run(session: tf.Session, x: Any) -> Any:
            session.run(maker.variable.initializer)
            return session.run(fetches, {maker.x: x})

        with _session(optimized=False) as plain, _session(optimized=True) as fast:
            wanted = [run(plain, x) for x in fed]
            for _ in range(HOT_AFTER_RUNS + 1):  # looped, then hot for two shapes
                for x, values in zip(fed, wanted, strict=True):
                    _check(run(fast, x), values)
            program = _program(fast)
            for rows in range(6, 6 + MANY_RUNS - 2 * HOT_AFTER_RUNS + 1):
                x = np.float32(rng.randn(rows, 3))
                _check(run(fast, x), run(plain, x))
            assert isinstance(program, Program)
            assert len(program.hot) == 2
            assert program.hot_for_any is not None


def _check(found: Any, wanted: Any) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
