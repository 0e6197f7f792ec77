"""Update rules as one kernel of a card, on the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tfteach.engine.execute.program import HOT_AFTER_RUNS

train = tf.train
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "gradient descent": lambda: train.GradientDescentOptimizer(0.1),
    "momentum": lambda: train.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda: train.AdagradOptimizer(0.1),
    "Adadelta": lambda: train.AdadeltaOptimizer(0.1),
    "RMSProp": lambda: train.RMSPropOptimizer(0.1),
    "centered RMSProp": lambda: train.RMSPropOptimizer(0.1, centered=True),
    "Adam": lambda: train.AdamOptimizer(0.1),
    "FTRL": lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "proximal": lambda: train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "proximal Adagrad": lambda: train.ProximalAdagradOptimizer(0.1),
    "AdaMax": lambda: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "PowerSign": lambda: tf.contrib.opt.PowerSignOptimizer(0.1),
}
# The powers of Adam's betas are variables, too.
POWERS = {"Adam": 2, "AdaMax": 1}
# Rules that refuse some values of their scalars, for which the host waits.
CHECK_SCALARS = {"FTRL", "proximal", "proximal Adagrad"}


@pytest.mark.parametrize("size", [3, 2000], ids=["small", "large"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rules_on_a_card(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    start = rng.normal(size=size).astype(np.float32)
    feeds = rng.normal(size=(HOT_AFTER_RUNS + 6, size)).astype(np.float32)

    def runs() -> list[Any]:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [size])
            w = tf.Variable(start)
            update = OPTIMIZERS[name]().minimize(tf.reduce_sum(tf.square(w - x)))
            sess.run(tf.global_variables_initializer())
            found = []
            for feed in feeds:
                sess.run(update, {x: feed})
                found.append(sess.run(w))
            programs = [program for program, _ in sess._programs.values()]
            steps.extend(step for p in programs for step in p.hot.values())
            return found

    steps: list[Any] = []
    expected = runs()
    steps.clear()
    strict_card.install(monkeypatch)
    for found, right in zip(runs(), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=2e-4, atol=1e-5)
    if name in CHECK_SCALARS:
        assert "D2H" in steps[0].reason
    else:
        kernels = len(steps[0].graph._updates.names)
        assert kernels == 1 + POWERS.get(name, 0)
