"""Moving averages: names, errors; test_golden.py holds graphs and numbers to TF's."""

import numpy as np
import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_average_follows_the_variable(graph):
    v = tf.Variable([1.0, 2.0], name="v")
    average = tf.train.ExponentialMovingAverage(0.5)
    assert average.average(v) is None
    assert average.average_name(v) == "v/ExponentialMovingAverage"
    with tf.control_dependencies([v.assign_add([4.0, 4.0])]):
        step = average.apply([v])
    shadow = average.average(v)
    assert shadow.op.name == average.average_name(v) == "v/ExponentialMovingAverage"
    assert graph.get_collection("moving_average_variables") == [v]
    assert average.apply([v]) is not step
    assert average.average(v) is shadow
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        np.testing.assert_array_equal(sess.run(shadow), [3.0, 4.0])


def test_debiased_average_of_a_constant_is_the_constant():
    x = tf.constant([3.0, -1.0], name="x")
    average = tf.train.ExponentialMovingAverage(0.75, zero_debias=True)
    step = average.apply([x])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(step)
            np.testing.assert_allclose(sess.run(average.average(x)), [3, -1], 1e-6)


def test_what_to_restore():
    v, u = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="u", trainable=False)
    average = tf.train.ExponentialMovingAverage(0.5, name="mean")
    assert average.name == "mean"
    assert average.variables_to_restore() == {"v/mean": v, "u": u}
    assert average.variables_to_restore([u]) == {"u/mean": u, "v": v}
    average.apply([v])
    names = {"v/mean": "v:0", "u": "u:0"}
    found = average.variables_to_restore()
    assert {n: found[n].name for n in names} == names


def test_integers_have_no_average():
    v = tf.Variable(1, name="v")
    with pytest.raises(TypeError, match="must be half, float, or double: v:0"):
        tf.train.ExponentialMovingAverage(0.5).apply([v])
