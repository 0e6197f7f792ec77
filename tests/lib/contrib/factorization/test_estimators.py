"""Estimators of `tf.contrib.factorization`: TensorFlow's graphs and numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import factorization_estimators, training_loops
from tests.lib.contrib.learn.test_contrib_learn import alike
from tfteach.lib.contrib.factorization.wals import StopAtSweepHook

FILE = Path(factorization_estimators.__file__).with_suffix(".json")
RECORDED = json.loads(FILE.read_text())


@pytest.mark.parametrize(
    "program", factorization_estimators.PROGRAMS, ids=lambda p: p.__name__
)
def test_as_in_tensorflow(program: Callable[[Any, str], Any]) -> None:
    found = training_loops.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        if not alike(found[key], value):
            assert found[key] == value, key


def test_a_mixture_of_three_heaps_is_found_again() -> None:
    """By batches of queues, which are filled before the first means are chosen."""
    random = np.random.RandomState(1)
    centers = np.float32([[0, 0], [6, 0], [0, 8]])
    assigned = random.choice(3, 300)
    points = centers[assigned] + random.randn(300, 2).astype(np.float32) * 0.5
    mixture = tf.contrib.factorization.GMM(
        3, random_seed=2, initial_clusters=centers + 1, covariance_type="diag"
    )

    def input_fn() -> Any:
        return tf.train.batch([tf.constant(points)], 100, enqueue_many=True), None

    def all_points() -> Any:
        return tf.constant(points), None

    mixture.fit(input_fn=input_fn, steps=1)
    before = mixture.score(all_points, steps=1)
    mixture.fit(input_fn=input_fn, steps=12)
    assert mixture.score(all_points, steps=1) > before
    np.testing.assert_allclose(mixture.clusters(), centers, atol=0.4)
    np.testing.assert_allclose(mixture.covariances(), 0.25, atol=0.2)
    assert mixture.weights().sum() == pytest.approx(1)
    found = mixture.predict_assignments(
        lambda: (tf.train.limit_epochs(tf.constant(points), 1), None)
    )
    np.testing.assert_array_equal(list(found), assigned)


def test_a_stop_at_sweep_needs_the_counter() -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(RuntimeError, match="completed_sweeps counter should be created"),
    ):
        StopAtSweepHook(2).begin()


def test_factors_need_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"ps": ["host1:1"], "worker": ["host3:3", "host4:4"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    config = tf.contrib.learn.RunConfig()
    with pytest.raises(ValueError, match="must be run on a single worker replica"):
        tf.contrib.factorization.WALSMatrixFactorization(1, 1, 1, config=config)
