"""Static shapes of least squares."""

from __future__ import annotations

import tfteach as tf


def test_least_squares_know_the_shapes_that_tensorflow_knows() -> None:
    with tf.Graph().as_default():
        a, b = tf.placeholder(tf.float32, [5, 3, 2]), tf.placeholder(tf.float32)
        c = tf.placeholder(tf.float32, [None, 3, 4])
        assert str(tf.matrix_solve_ls(a, b, fast=False).shape) == "(5, 2, ?)"
        assert str(tf.matrix_solve_ls(a, c).shape) == "(5, 2, 4)"
        assert str(tf.tile(a, tf.placeholder(tf.int32, [3])).shape) == "(?, ?, ?)"
        rank = tf.tile(b, tf.placeholder(tf.int32, [2])).shape.rank
        assert rank == 2
