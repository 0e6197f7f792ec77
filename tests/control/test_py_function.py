"""`tf.py_function` in runs and eager calls; tests/golden/eager_calls has more."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eager_program


def squared(x: Any) -> Any:
    return tf.py_function(lambda x: x**2, [x], tf.float32)


def test_each_run_calls_the_function_with_tensors() -> None:
    seen = []

    def huber(x: Any, m: Any) -> Any:
        seen.append((float(x), tf.executing_eagerly()))
        if tf.abs(x) <= m:
            return x**2
        return m**2 * (1 - 2 * tf.math.log(m) + tf.math.log(x**2))

    with tf.Graph().as_default(), tf.Session() as session:
        x, m = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        y = tf.py_function(huber, [x, m], tf.float32)
        grads = tf.gradients(y, [x, m])
        assert session.run([y, *grads], {x: 1.0, m: 2.0}) == [1.0, 2.0, 0.0]
        found = session.run([y, *grads], {x: 4.0, m: 1.0})
    np.testing.assert_allclose(found, [3.7725887, 0.5, 5.5451775], 1e-6)
    assert seen == [(1.0, True), (4.0, True)]


def test_the_function_may_hold_its_inputs() -> None:
    held: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        y = tf.py_function(held.append, [x + 1.0], [])
        for i in range(3):
            session.run(y, {x: [i] * 3})
    assert [t.numpy().tolist() for t in held] == [[1.0] * 3, [2.0] * 3, [3.0] * 3]


def test_an_exception_names_the_op_and_the_cause() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.py_function(lambda: 1 / 0, [], tf.float32, name="wrong")
        with pytest.raises(tf.errors.UnknownError) as failed:
            session.run(y)
    assert failed.value.message.startswith("ZeroDivisionError: division by zero\n")
    assert failed.value.op.name == "wrong"


def test_eager_calls_leave_nothing_behind() -> None:
    with eager_program():
        x = tf.constant(3.0)
        tokens = set()
        for _ in range(20):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = squared(x)
            assert float(tape.gradient(y, x)) == 6.0
            tokens.add(y.__dict__["py_function"].token)
            del y, tape
            gc.collect()
        assert len(tokens) < 5


def test_loops_call_it_in_each_iteration() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        total = tf.while_loop(
            lambda i, _: i < 4,
            lambda i, s: (
                i + 1,
                s + tf.reshape(squared(tf.cast(i, tf.float32)), []),
            ),
            [0, 0.0],
        )[1]
        assert session.run(total) == 14.0
