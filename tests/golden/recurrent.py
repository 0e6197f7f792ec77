"""Recurrent nets in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.sin(np.arange(2 * 4 * 3).reshape(2, 4, 3)).astype(np.float32)


def _cell(tf, kind, *args, **kwargs):
    return getattr(tf.nn.rnn_cell, kind)(*args, **kwargs)


def _trained(tf, outputs):
    """The sum of squares of the outputs, and its gradients where there are any."""
    loss = tf.add_n(
        [
            tf.reduce_sum(tf.square(o))
            for o in tf.contrib.framework.nest.flatten(outputs)
        ]
    )
    variables = tf.trainable_variables()
    found = tf.gradients(loss, variables)
    return [loss, *(grad for grad in found if grad is not None)]


def one_step_of_each_cell(tf):
    x = tf.constant(X[:, 0], name="x")
    fetches = []
    for cell in (
        _cell(tf, "BasicRNNCell", 4),
        _cell(tf, "BasicRNNCell", 4, activation=tf.nn.relu, name="rectified"),
        _cell(tf, "GRUCell", 4, bias_initializer=tf.ones_initializer()),
        _cell(tf, "BasicLSTMCell", 4, forget_bias=0.5),
    ):
        output, state = cell(x, cell.zero_state(2, tf.float32))
        again, state = cell(x, state)
        fetches += [output, again, state]
    return fetches + _trained(tf, fetches)


def lstm_with_everything(tf):
    x = tf.placeholder_with_default(X[:, 0], [None, 3], name="x")
    cell = _cell(
        tf, "LSTMCell", 5, use_peepholes=True, cell_clip=0.3, num_proj=4, proj_clip=0.2,
        initializer=tf.random_uniform_initializer(-0.5, 0.5), forget_bias=0.0,
    )  # fmt: skip
    state = cell.zero_state(tf.shape(x)[0], tf.float32)
    output, state = cell(x, state)
    output, state = cell(x, state)
    return [output, state.c, state.h, *_trained(tf, [output, state])]


def stacked_and_wrapped(tf):
    x = tf.constant(X[:, 0], name="x")
    rnn = tf.nn.rnn_cell
    cells = [
        rnn.DropoutWrapper(
            rnn.GRUCell(4), input_keep_prob=0.9, output_keep_prob=0.8, seed=3
        ),
        rnn.ResidualWrapper(rnn.BasicLSTMCell(4)),
        rnn.DeviceWrapper(rnn.BasicRNNCell(3), "/cpu:0"),
        rnn.DropoutWrapper(
            rnn.BasicLSTMCell(2), state_keep_prob=0.7, variational_recurrent=True,
            dtype=tf.float32, seed=5,
        ),
    ]  # fmt: skip
    cell = rnn.MultiRNNCell(cells)
    state = cell.zero_state(2, tf.float32)
    with tf.variable_scope("model"):
        output, state = cell(x, state)
        output, state = cell(x, state)
    return [output, *_trained(tf, [output, state])]


def own_cell_with_get_variable(tf):
    class Sum(tf.nn.rnn_cell.RNNCell):
        state_size = 3
        output_size = 3

        def call(self, inputs, state):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
            total = inputs * w + state
            return total, total

    cell = Sum()
    output, state = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    return [output, state, *_trained(tf, output)]


def dynamic(tf):
    x = tf.placeholder_with_default(X, [None, None, 3], name="x")
    output, state = tf.nn.dynamic_rnn(_cell(tf, "BasicRNNCell", 4), x, dtype=tf.float32)
    return [output, state, *_trained(tf, [output, state])]


def dynamic_with_lengths(tf):
    x = tf.constant(X, name="x")
    cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf, "LSTMCell", n) for n in (3, 2)])
    output, state = tf.nn.dynamic_rnn(
        cell, x, sequence_length=[4, 2], dtype=tf.float32, swap_memory=True,
        parallel_iterations=4, scope="deep",
    )  # fmt: skip
    return [output, *_trained(tf, [output, state])]


def dynamic_time_major_from_a_state(tf):
    x = tf.constant(X.transpose(1, 0, 2), name="x")
    start = tf.ones([2, 4], name="begin")
    output, state = tf.nn.dynamic_rnn(
        _cell(tf, "GRUCell", 4), x, initial_state=start, time_major=True
    )
    return [output, state, *_trained(tf, output), *tf.gradients(state, [x, start])]


def both_directions(tf):
    x = tf.placeholder_with_default(X, [2, None, 3], name="x")
    lengths = tf.constant([3, 4], name="lengths")
    (fw, bw), states = tf.nn.bidirectional_dynamic_rnn(
        _cell(tf, "GRUCell", 3),
        _cell(tf, "BasicRNNCell", 2),
        x,
        lengths,
        dtype=tf.float32,
    )
    (plain, _), _ = tf.nn.bidirectional_dynamic_rnn(
        _cell(tf, "GRUCell", 3, name="a"), _cell(tf, "GRUCell", 2, name="b"), x,
        dtype=tf.float32, scope="plain",
    )  # fmt: skip
    return [fw, bw, plain, *_trained(tf, [fw, bw, states])]


def static(tf):
    steps = tf.unstack(tf.placeholder_with_default(X, [None, 4, 3], name="x"), axis=1)
    outputs, state = tf.nn.static_rnn(
        _cell(tf, "BasicLSTMCell", 4), steps, dtype=tf.float32
    )
    return [*outputs, *_trained(tf, [outputs[-1], state])]


def static_with_lengths(tf):
    steps = tf.unstack(tf.constant(X, name="x"), axis=1)
    outputs, state = tf.nn.static_rnn(
        _cell(tf, "GRUCell", 4), steps, dtype=tf.float32, sequence_length=[2, 3]
    )
    return [*outputs, state, *_trained(tf, [outputs[-1], state])]


def static_in_both_directions(tf):
    steps = tf.unstack(tf.constant(X, name="x"), axis=1)
    outputs, fw, bw = tf.nn.static_bidirectional_rnn(
        _cell(tf, "GRUCell", 3), _cell(tf, "GRUCell", 2), steps, dtype=tf.float32,
        sequence_length=tf.constant([4, 2]),
    )  # fmt: skip
    return [*outputs, fw, bw, *_trained(tf, outputs)]


def raw(tf):
    x = tf.constant(X.transpose(1, 0, 2), name="x")
    array = tf.TensorArray(tf.float32, size=4).unstack(x)
    cell = _cell(tf, "BasicRNNCell", 3)

    def loop(time, output, state, loop_state):
        state = cell.zero_state(2, tf.float32) if output is None else state
        finished = time >= tf.constant([4, 2])
        done = tf.reduce_all(finished)
        now = tf.cond(done, lambda: tf.zeros([2, 3]), lambda: array.read(time))
        return finished, now, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    return [outputs.stack(), state, *_trained(tf, [state])]


AT_ONCE = True  # loops take long to plan
GRAPHS = [
    one_step_of_each_cell, lstm_with_everything, stacked_and_wrapped,
    own_cell_with_get_variable, dynamic, dynamic_with_lengths,
    dynamic_time_major_from_a_state, both_directions, static, static_with_lengths,
    static_in_both_directions, raw,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1], AT_ONCE)
