"""Losses: what is refused, in TensorFlow's words."""

import numpy as np
import pytest

import tfteach as tf

X = np.ones([2, 3], np.float32)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: tf.losses.mean_squared_error(None, X), "labels must not be None"),
        (
            lambda: tf.losses.softmax_cross_entropy(X, X[:1]),
            r"Shapes \(1, 3\) and \(2, 3\) are incompatible",
        ),
        (
            lambda: tf.losses.mean_squared_error(X, X, [1.0, 2.0]),
            r"weights can not be broadcast to values. values.rank=2. weights.rank=1. "
            r"values.shape=\(2, 3\). weights.shape=\(2,\).",
        ),
        (
            lambda: tf.losses.huber_loss(X, X, np.ones([3, 1])),
            r"Mismatch at dim 0. values.shape=\[2 3\] weights.shape=\[3 1\]",
        ),
        (
            lambda: tf.losses.log_loss(X, X, reduction="mean"),
            "Invalid Reduction Key mean",
        ),
        (lambda: tf.losses.cosine_distance(X, X), "You must specify 'axis'"),
        (
            lambda: tf.losses.get_total_loss(),
            "inputs must be a list of at least one Tensor",
        ),
        (
            lambda: tf.losses.sparse_softmax_cross_entropy([3], X),
            r"labels \(received \(1,\)\) should equal the shape of logits except",
        ),
    ],
)
def test_bad_arguments(build, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        build()


@pytest.mark.parametrize("value", [[[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]])
def test_weights_that_turn_out_not_to_fit(value):
    with tf.Graph().as_default(), tf.Session() as sess:
        weights = tf.placeholder(tf.float32)
        loss = tf.losses.mean_squared_error(X, X, weights)
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"assertion failed: \[weights can not be broadcast to values.\]",
        ):
            sess.run(loss, {weights: value})
        assert sess.run(loss, {weights: [[1.0], [0.0]]}) == 0


def test_a_loss_of_nothing_is_zero():
    with tf.Graph().as_default(), tf.Session() as sess:
        empty = np.zeros([0, 3])
        assert sess.run(tf.losses.mean_squared_error(empty, empty)) == 0
