"""Ctrl-C at random moments of training: each step is applied whole, or not at all.

    python -m tests.fuzz.interrupts --count 500 --seed 0

A model is trained from the same start again and again, and interrupted by a real
SIGINT.  Its variables must then be those of an uninterrupted training after as many
steps as its global step says.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import tfteach as tf

STEPS = 120  # of the uninterrupted training
MODELS: dict[str, Callable[[], Any]] = {}


def model(build: Callable[[], Any]) -> Callable[[], Any]:
    MODELS[build.__name__] = build
    return build


def _weights(shape: list[int], use_resource: bool = False) -> Any:
    name = f"w{len(tf.global_variables())}"
    values = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return tf.get_variable(name, initializer=values, use_resource=use_resource)


def _loss(use_resource: bool) -> Any:
    hidden = tf.ones([8, 60]) * 0.1
    for _ in range(3):
        hidden = tf.tanh(tf.matmul(hidden, _weights([60, 60], use_resource)))
        hidden += _weights([60], use_resource)
    return tf.reduce_sum(tf.square(hidden))


@model
def dense_momentum() -> Any:
    step = tf.train.get_or_create_global_step()
    return tf.train.MomentumOptimizer(1e-3, 0.9).minimize(_loss(False), step)


@model
def resource_adam() -> Any:
    step = tf.train.get_or_create_global_step()
    return tf.train.AdamOptimizer(1e-3).minimize(_loss(True), step)


@model
def lazy_adam_rows() -> Any:
    step = tf.train.get_or_create_global_step()
    rows = tf.gather(_weights([200, 40]), tf.cast(step, tf.int32) % 190 + [1, 4, 4, 9])
    loss = tf.reduce_sum(tf.square(rows - 1.0))
    return tf.contrib.opt.LazyAdamOptimizer(1e-2).minimize(loss, step)


@model
def updates_in_a_loop() -> Any:
    step = tf.train.get_or_create_global_step()
    total, rows = _weights([50, 50]), _weights([50, 50], True)

    def body(i: Any) -> Any:
        updates = [
            total.assign_add(tf.ones([50, 50])),
            tf.scatter_add(rows, [i], tf.ones([1, 50])),
        ]
        with tf.control_dependencies(updates):
            return i + 1

    loop = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.control_dependencies([loop]):
        return tf.assign_add(step, 1).op


@model
def averaged() -> Any:
    """Updates that read what others of the same step have written."""
    step = tf.train.get_or_create_global_step()
    train = tf.train.RMSPropOptimizer(1e-3).minimize(_loss(False), step)
    with tf.control_dependencies([train]):
        average = tf.train.ExponentialMovingAverage(0.9)
        return average.apply(tf.trainable_variables())


class Training:
    """One model, and what its variables hold after each number of steps."""

    def __init__(self, build: Callable[[], Any]) -> None:
        with tf.Graph().as_default() as self.graph:
            self.train = build()
            self.step = tf.train.get_global_step()
            self.variables = tf.global_variables()
            self.start = tf.global_variables_initializer()
        self.session = tf.Session(graph=self.graph)
        self.session.run(self.start)
        self.states = [self._state()]
        begin = time.perf_counter()
        for _ in range(STEPS):
            self.session.run(self.train)
            self.states.append(self._state())
        self.length_s = (time.perf_counter() - begin) / STEPS

    def _state(self) -> list[Any]:
        return [np.array(v) for v in self.session.run(self.variables)]

    def interrupt(self, random_number: float) -> str:
        """Train from the start until the signal comes; what it did to the step."""
        self.session.run(self.start)
        self.session.run(self.start)  # averages start at what the others start at
        delay_s = random_number * 0.3 * STEPS * self.length_s
        timer = threading.Timer(delay_s, os.kill, (os.getpid(), signal.SIGINT))
        in_a_step, done = False, 0
        try:
            timer.start()
            while done < STEPS - 1:
                in_a_step = True
                self.session.run(self.train)
                in_a_step, done = False, done + 1
            timer.join()
            time.sleep(1)
        except KeyboardInterrupt:
            pass
        state = self._state()
        number = int(self.session.run(self.step))
        for expected, got in zip(self.states[number], state, strict=True):
            if not np.array_equal(expected, got):
                return "TORN"
        if not in_a_step:
            return "between steps"
        return "undone" if number == done else "completed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="of interrupts")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # not so in background
    numbers = random.Random(arguments.seed)
    trainings = {name: Training(build) for name, build in MODELS.items()}
    outcomes = {name: Counter[str]() for name in trainings}
    for i in range(arguments.count):
        name = list(trainings)[i % len(trainings)]
        outcomes[name][trainings[name].interrupt(numbers.random())] += 1
    for name, found in outcomes.items():
        print(f"{name}: " + ", ".join(f"{n} {what}" for what, n in found.items()))
    return int(any(found["TORN"] for found in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
