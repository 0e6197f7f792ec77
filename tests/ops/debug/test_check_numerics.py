"""tf.add_check_numerics_ops: which op is reported."""

from __future__ import annotations

import pytest

import tfteach as tf


def test_numerics_are_checked_in_the_order_of_the_ops() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder_with_default([0.0, 1.0], [2], name="x")
        y = tf.log(x, name="y")
        tf.sqrt(-x, name="z")
        check = tf.add_check_numerics_ops()
        with pytest.raises(tf.errors.InvalidArgumentError, match="y:0"):
            session.run([y, check])
        with pytest.raises(tf.errors.InvalidArgumentError, match="z:0"):
            session.run(check, {x: [2.0, 1.0]})
    with tf.Graph().as_default():
        tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        with pytest.raises(ValueError, match="not compatible with TensorFlow control"):
            tf.add_check_numerics_ops()
