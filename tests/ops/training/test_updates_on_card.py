"""Update rules as one kernel of a card, on the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_capture import STATE
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.ops.training import row_kernel, update_rules
from tfteach.ops.training.training_ops import SparseApplyAdagrad, SparseApplyMomentum

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
    "AdagradDA": lambda: train.AdagradDAOptimizer(
        0.1, tf.Variable(3, dtype=tf.int64), l1_regularization_strength=0.3
    ),
    "AdaMax": lambda: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "PowerSign": lambda: tf.contrib.opt.PowerSignOptimizer(0.1),
}
# The powers of Adam's betas are variables, too.
POWERS = {"Adam": 2, "AdaMax": 1}
# Adam has no rule for some rows: it is composed of other ops.
FOR_ROWS = [name for name in OPTIMIZERS if name not in ("AdaMax", "PowerSign", "Adam")]


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
    kernels = len(steps[0].graph._updates.names)
    assert kernels == 1 + POWERS.get(name, 0)


@pytest.mark.parametrize("is_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", FOR_ROWS)
def test_rules_for_rows_on_a_card(
    name: str, is_resource: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = np.random.default_rng(5).integers(0, 7, (HOT_AFTER_RUNS + 6, 6))

    def runs() -> list[Any]:
        with tf.Graph().as_default(), tf.Session() as sess:
            ids = tf.placeholder(tf.int64, [6])
            table = tf.get_variable(
                "t",
                initializer=np.linspace(-1.0, 1.0, 21, dtype=np.float32).reshape(7, 3),
                use_resource=is_resource,
            )
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
            update = OPTIMIZERS[name]().minimize(loss)
            sess.run(tf.global_variables_initializer())
            found = []
            for batch in batches:
                kernels = STATE.kernels
                sess.run(update, {ids: batch})
                launched.append(STATE.kernels - kernels)
                found.append(sess.run(table))
            return found

    launched: list[int] = []
    expected = runs()
    strict_card.install(monkeypatch)
    for found, right in zip(runs(), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=2e-4, atol=1e-5)
    assert launched[-1] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("ids", [[1, 3, 1, 1, 3, 0], [5, 4, 3, 2, 1, 0]], ids=str)
def test_equal_ids_are_applied_in_order(
    dtype: str, ids: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """... by the kernel, and by the ops that stand in for it."""
    grads = np.random.default_rng(6).normal(size=(6, 2, 3)).astype(dtype)

    def run() -> Any:
        with tf.Graph().as_default(), tf.Session() as sess:
            var = tf.Variable(np.ones((6, 2, 3), dtype))
            slot = tf.Variable(np.ones((6, 2, 3), dtype))
            rate = tf.constant(0.5, dtype)
            rule = SparseApplyMomentum()
            updated = rule(var, slot, rate, tf.constant(grads), ids, rate)
            sess.run(tf.global_variables_initializer())
            sess.run(updated.op)
            return sess.run([var, slot])

    places = 4e-3 if dtype == "float16" else 1e-5
    expected = run()
    strict_card.install(monkeypatch)
    for most in (row_kernel.MOST_IDS, 0):
        monkeypatch.setattr(update_rules, "MOST_IDS", most)
        for found, right in zip(run(), expected, strict=True):
            np.testing.assert_allclose(found, right, places)


def test_rows_outside_are_ignored_on_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    var, slot = tf.Variable(tf.ones([3, 2])), tf.Variable(tf.ones([3, 2]))
    rule = SparseApplyAdagrad()
    updated = rule(var, slot, 1.0, tf.constant(np.ones((3, 2), "f")), [-1, 3, 1])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        waits = strict_card.POOL.waits
        sess.run(updated.op)
        assert strict_card.POOL.waits == waits
        assert sess.run(slot).tolist() == [[1.0, 1.0], [2.0, 2.0], [1.0, 1.0]]
