"""Updates of a variable's rows: indices of rank 1, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import tfteach as tf


def test_rows_of_variables_that_do_not_fit() -> None:
    """Checked with TensorFlow 1.15.5: numbers of rows, where a matrix is usual."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.zeros((4, 3), np.float32))
        ids, rows = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
        update = tf.scatter_nd_update(v, ids, rows)
        step = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(rows, v)])
        session.run(tf.global_variables_initializer())
        session.run(update, {ids: [2], rows: np.ones((1, 3))})
        assert session.run(v).sum(axis=1).tolist() == [0, 0, 3, 0]
        words = "outermost dimension of updates and indices must match. Got indices.sh"
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(update, {ids: [2], rows: np.ones(3)})
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="var and delta do not"
        ):
            session.run(step, {rows: np.ones((2, 3))})
