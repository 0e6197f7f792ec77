"""tf.contrib.training's samplers against real TensorFlow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import contrib_sampling as golden

GOLDEN: dict[str, Any] = json.loads(
    Path(golden.__file__).with_suffix(".json").read_text()
)


@pytest.mark.parametrize("call", golden.calls())
def test_sampler_is_tensorflows(call: str) -> None:
    theirs = GOLDEN[call]
    ours = json.loads(json.dumps(golden.record(tf, call)))
    if isinstance(theirs[0], str) and theirs[0].endswith("Error"):
        assert ours[0] == theirs[0]
        assert ours[1].strip().startswith(theirs[1].strip())  # ours may say more
    else:
        assert ours == theirs


def batches(fetched: Any, count: int) -> list[Any]:
    """What `count` runs return while the queues' threads work."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(fetched) for _ in range(count)]
        coordinator.request_stop()
        coordinator.join(threads)
    return found


@pytest.mark.parametrize("init_probs", [[0.7, 0.0, 0.3], None])
def test_classes_have_their_probabilities(init_probs: list[float] | None) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        is_rare = tf.random_uniform([], seed=1) < 0.3
        label = tf.where(is_rare, tf.constant(2), tf.constant(0))
        (doubled,), labels = tf.contrib.training.stratified_sample(
            [label * 2], label, [0.2, 0.0, 0.8], 50, init_probs
        )
        found = batches([doubled, labels], 12)
    for values, classes in found:
        np.testing.assert_array_equal(values, 2 * classes)
    # The estimate starts with equal numbers of all classes.
    later = np.concatenate([classes for _, classes in found[4:]])
    assert abs(np.mean(later == 2) - 0.8) < 0.08


def test_rejected_examples_do_not_appear() -> None:
    with tf.Graph().as_default():
        numbers = tf.constant([[1.0], [2.0], [3.0]])
        (kept,) = tf.contrib.training.rejection_sample(
            [numbers], lambda p: tf.cast(p[0][0] > 1.5, tf.float32), 4,
            enqueue_many=True, runtime_checks=True,
        )  # fmt: skip
        (found,) = batches(kept, 1)
    assert found.ravel().tolist() == [2, 3, 2, 3]


def test_checked_probability_is_refused_in_a_run() -> None:
    with tf.Graph().as_default() as graph:
        tf.contrib.training.rejection_sample(
            [tf.zeros([])], lambda _: tf.constant(1.0) + 0.5, 2, runtime_checks=True,
            name="r",
        )  # fmt: skip
        checked = graph.get_tensor_by_name("r/prob_with_checks:0")
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked)
