"""tf.contrib.quantize rewrites graphs as TensorFlow does, and they train alike."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfteach as tf
from tests.golden import quantized_training as golden

ANSWERS = json.loads(golden.FILE.read_text())
CASES = [(network, name) for network in golden.NETWORKS for name in golden.rewrites(tf)]
IDS = [f"{network.__name__} {name}" for network, name in CASES]

# Numbers on the edge between two quantized ones: TensorFlow's own losses differ by
# some percent with the number of threads, after two steps.
UNSTABLE = (
    "unfused_training delayed",
    "unfused_training few bits",
    "unfused_scaled few bits",
)


@pytest.mark.parametrize(("network", "name"), CASES, ids=IDS)
def test_nodes_are_tensorflows(network, name) -> None:
    found = golden.rewritten(tf, network, golden.rewrites(tf)[name])
    right = ANSWERS[f"{network.__name__} {name}"]
    if len(right) == 2:
        assert found[0] == right[0]
        assert found[1].startswith(right[1])
        return
    assert found[2] == right[2]
    assert found == right[:3]


@pytest.mark.parametrize("name", golden.TRAINED)
@pytest.mark.parametrize("network", golden.NETWORKS, ids=lambda n: n.__name__)
def test_losses_are_tensorflows(network, name) -> None:
    key = f"{network.__name__} {name}"
    answer = ANSWERS[key]
    if len(answer) == 2:  # an error
        return
    found = golden.losses(tf, network, golden.rewrites(tf)[name])
    steps = 2 if key in UNSTABLE else golden.STEPS
    # Products of another BLAS differ in the last bit, and a few bits make it visible.
    rtol = 1e-3 if "few bits" in name else 2e-5
    np.testing.assert_allclose(found[:steps], answer[3][:steps], rtol=rtol)


def test_evaluation_restores_the_ranges_of_training(tmp_path) -> None:
    path = str(tmp_path / "model")
    batch = np.cos(np.arange(24.0)).reshape(4, 6)
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = golden.resources(tf)
        tf.contrib.quantize.create_training_graph()
        session.run(tf.global_variables_initializer())
        session.run(y, {x: batch})
        session.run(y, {x: batch})
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = golden.resources(tf)
        tf.contrib.quantize.create_eval_graph()
        tf.train.Saver().restore(session, path)
        ranges = [v for v in tf.global_variables() if v.op.name.endswith("/max")]
        assert len(ranges) == 3
        before = session.run(ranges)
        session.run(y, {x: batch})
        assert session.run(ranges) == before
        assert 6.0 not in before


def test_graphs_with_an_optimizer_are_refused() -> None:
    with tf.Graph().as_default():
        _, y = golden.resources(tf)
        tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
        with pytest.raises(ValueError, match="Training op found in graph, exiting"):
            tf.contrib.quantize.create_training_graph()
