"""What cells and runs refuse, in TensorFlow's words; their graphs are golden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf

rnn = tf.nn.rnn_cell
X = np.ones([2, 4, 3], np.float32)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def unknown_depth() -> None:
    x = tf.placeholder(tf.float32, [None, None, None])
    tf.nn.dynamic_rnn(rnn.GRUCell(2), x, dtype=tf.float32)


def wrong_state() -> None:
    cell = rnn.MultiRNNCell([rnn.GRUCell(2), rnn.GRUCell(2)])
    cell(X[:, 0], tf.zeros([2, 2]))


def another_depth() -> None:
    cell = rnn.BasicLSTMCell(2)
    state = cell.zero_state(2, tf.float32)
    cell(tf.ones([2, 3]), state)
    cell(tf.ones([2, 5]), state)


def twice_without_reuse() -> None:
    for _ in range(2):
        tf.nn.dynamic_rnn(rnn.GRUCell(2), X, dtype=tf.float32)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: rnn.MultiRNNCell([]), ValueError, "at least one cell for"),
        (lambda: rnn.MultiRNNCell(rnn.GRUCell(2)), TypeError, "be a list or tuple"),
        (lambda: tf.nn.dynamic_rnn(3, X, dtype=tf.float32), TypeError,
         "is not an RNNCell: 'output_size' property is missing"),
        (lambda: tf.nn.dynamic_rnn(rnn.GRUCell(2), X), ValueError,
         "you must give a dtype"),
        (lambda: tf.nn.dynamic_rnn(rnn.GRUCell(2), X, [[1, 2]], dtype=tf.float32),
         ValueError, "must be a vector of length batch_size"),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(2), X, dtype=tf.float32), TypeError,
         "inputs must be a sequence"),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(2), [], dtype=tf.float32), ValueError,
         "inputs must not be empty"),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(2), [tf.ones([2, 3])]), ValueError,
         "dtype must be specified"),
        (lambda: rnn.GRUCell(2, dtype=tf.int32), ValueError,
         "only supports floating point inputs"),
        (lambda: rnn.DropoutWrapper(rnn.GRUCell(2), output_keep_prob=1.5), ValueError,
         "output_keep_prob must be between 0 and 1"),
        (lambda: rnn.DropoutWrapper(rnn.GRUCell(2), variational_recurrent=True),
         ValueError, "dtype must be provided"),
        (lambda: tf.nn.raw_rnn(rnn.GRUCell(2), 3), TypeError,
         "loop_fn must be a callable"),
        (unknown_depth, ValueError, "must be accessible via shape inference"),
        (wrong_state, ValueError, "Expected state to be a tuple of length 2|Dimension"),
        (another_depth, ValueError, "Dimensions must be equal|incompatible"),
        (twice_without_reuse, ValueError, "already exists, disallowed"),
    ],
)  # fmt: skip
def test_refused(build: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        build()


def test_lengths_of_another_batch_are_refused_in_the_run() -> None:
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(2), X, lengths, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for"):
            sess.run(outputs, {lengths: [1, 2, 3]})
        assert sess.run(outputs, {lengths: [1, 2]}).shape == (2, 4, 2)


def test_a_batch_of_none() -> None:
    x = tf.placeholder(tf.float32, [None, None, 3])
    outputs, state = tf.nn.dynamic_rnn(rnn.GRUCell(2), x, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found, last = sess.run([outputs, state], {x: np.zeros([0, 4, 3], np.float32)})
    assert found.shape == (0, 4, 2)
    assert last.shape == (0, 2)


def test_weights_of_a_wrapped_cell_are_the_cells() -> None:
    cell = rnn.DropoutWrapper(rnn.GRUCell(2), 0.5)
    stack = rnn.MultiRNNCell([cell, rnn.BasicRNNCell(2)])
    stack(X[:, 0], stack.zero_state(2, tf.float32))
    assert [v.op.name for v in stack.trainable_weights] == [
        v.op.name for v in tf.trainable_variables()
    ]
