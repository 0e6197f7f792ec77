"""Large updates whose blocks several threads share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute import compile
from tfteach.framework import threads, workers
from tfteach.ops.training import update_rules


def trained(optimizer: Any, size: int) -> Any:
    """All variables after three steps."""
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable(np.linspace(-1, 1, size, dtype=np.float32))
        gradient = tf.sin(tf.range(size, dtype=tf.float32)) + w
        train = optimizer().apply_gradients([(gradient, w)])
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        return sess.run(tf.global_variables())


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: tf.train.AdamOptimizer(0.1),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
    ],
)
def test_threads_give_what_one_gives(
    optimizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = trained(optimizer, 1003)
    workers.forget_workers()
    monkeypatch.setattr(update_rules, "_BLOCK", 50)
    monkeypatch.setattr(update_rules, "_SHARED_BLOCK", 100)
    monkeypatch.setattr(compile, "LARGE", 100)
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    shared = trained(optimizer, 1003)
    workers.forget_workers()
    for ours, theirs in zip(shared, alone, strict=True):
        np.testing.assert_array_equal(ours, theirs)
