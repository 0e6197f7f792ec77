"""Metrics: streams of batches, and what is refused, in TensorFlow's words."""

import numpy as np
import pytest

import tfteach as tf

X = np.array([[0.5, 0.25, 0.75], [1.0, 0.25, 0.0]], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_stream_of_batches_and_a_fresh_start():
    said = tf.placeholder(tf.int64, [None])
    value, update = tf.metrics.accuracy(tf.zeros([2], tf.int64), said)
    assert tf.local_variables() == tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    assert tf.global_variables() == []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        assert sess.run(value) == 0
        assert sess.run(update, {said: [0, 1]}) == 0.5
        assert sess.run(update, {said: [1, 1]}) == 0.25
        assert sess.run(value) == 0.25
        sess.run(tf.local_variables_initializer())
        assert sess.run(value) == 0


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda: tf.metrics.accuracy([1, 2, 3], [1, 2]),
            r"Shapes \(2,\) and \(3,\) are incompatible",
        ),
        (
            lambda: tf.metrics.mean(X, [[1.0], [1.0], [1.0]]),
            "weights can not be broadcast to values. Mismatch at dim 0.",
        ),
        (lambda: tf.metrics.auc([1], [0.5], curve="X"), "curve must be either ROC or"),
        (
            lambda: tf.metrics.auc([1], tf.constant([0.5]), summation_method="x"),
            "Invalid summation_method: x",
        ),
        (
            lambda: tf.metrics.sensitivity_at_specificity([1], [0.5], 2.0),
            r"`specificity` must be in the range \[0, 1\].",
        ),
        (lambda: tf.metrics.average_precision_at_k([1], X, 0), "Invalid k=0"),
        (
            lambda: tf.metrics.recall_at_k(np.ones([1, 2, 3, 4], np.int64), X, 1),
            r"Unexpected labels shape \(1, 2, 3, 4\) for predictions shape \(2, 1\)",
        ),
    ],
)
def test_bad_arguments(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_predictions_that_are_no_probabilities():
    said = tf.placeholder_with_default([0.5, 2.0], [2])
    _, update = tf.metrics.auc([1, 0], said)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        words = r"\[predictions must be in \[0, 1\]\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            sess.run(update)
