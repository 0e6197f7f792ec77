"""`tf.contrib.factorization.KMeans`: TensorFlow's graphs and centers."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import kmeans, training_loops
from tests.lib.contrib.learn.test_contrib_learn import alike
from tfteach.lib.contrib.factorization.loss_relative_change import (
    LossRelativeChangeHook,
)

RECORDED = json.loads(Path(kmeans.__file__).with_suffix(".json").read_text())
X = kmeans.POINTS


@pytest.mark.parametrize("program", kmeans.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    found = training_loops.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        if not alike(found[key], value):
            assert found[key] == value, key


def test_batches_move_centers_by_the_rate_of_their_counts():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        points = tf.placeholder(tf.float32, [None, 4])
        made = tf.contrib.factorization.KMeans(points, 3, X[:3], use_mini_batch=True)
        _, ids, _, _, init_op, train = made.training_graph()
        centers = graph.get_tensor_by_name("clusters:0")
        session.run(tf.global_variables_initializer())
        session.run(init_op, {points: X})
        expected, counts = X[:3].astype(float), np.ones(3)
        for batch in (X[::2], X[1::2]):
            nearest = session.run(ids[0], {points: batch})
            session.run(train, {points: batch})
            for i in range(3):
                mine = batch[nearest == i]
                counts[i] += len(mine)
                expected[i] += (mine - expected[i]).sum(0) / counts[i]
            np.testing.assert_allclose(session.run(centers), expected, rtol=1e-5)


def test_a_course_program_finds_the_three_heaps():
    with tf.Graph().as_default(), tf.Session() as session:
        points = tf.placeholder(tf.float32, [None, 4])
        made = tf.contrib.factorization.KMeans(
            inputs=points, num_clusters=3, use_mini_batch=True, random_seed=2,
            initial_clusters=tf.contrib.factorization.KMEANS_PLUS_PLUS_INIT,
        )  # fmt: skip
        training_graph = made.training_graph()
        (_, cluster_idx, scores, _, init_op, train_op) = training_graph
        average = tf.reduce_mean(scores)
        session.run(tf.global_variables_initializer(), {points: X})
        session.run(init_op, {points: X})
        for _ in range(10):
            _, distance, ids = session.run(
                [train_op, average, cluster_idx[0]], {points: X}
            )
        assert sorted(np.bincount(ids)) == [20, 20, 20]
        assert len({*ids[:20]}) == len({*ids[20:40]}) == 1
        assert distance < 0.5


def test_the_hook_compares_with_no_loss_of_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        hook = LossRelativeChangeHook(tf.constant(0.0), 0.1)
        context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), session)
        stopped = []
        for loss in (0.0, 0.0, 10.0, 11.11, 12.3, 5.0):
            hook.after_run(context, tf.train.SessionRunValues(loss, None, None))
            stopped.append(context.stop_requested)
    assert stopped == [False] * 4 + [True] * 2


def test_a_negative_number_of_neighbours_is_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.raw_ops.NearestNeighbors(points=X, centers=X, k=-1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="k >= 0"):
            session.run(found)
