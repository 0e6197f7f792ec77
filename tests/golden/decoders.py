"""Decoders of sequences in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.sin(np.arange(2 * 3 * 2).reshape(2, 3, 2)).astype(np.float32)
TABLE = np.cos(np.arange(5 * 2).reshape(5, 2)).astype(np.float32)
UNITS = 3


def _table(tf):
    return tf.get_variable("table", initializer=tf.constant(TABLE))


def _projection(tf):
    return tf.layers.Dense(5, use_bias=False, name="projection")


def _trained(tf, outputs, targets, mask):
    """The loss of a sequence, and its gradients."""
    loss = tf.contrib.seq2seq.sequence_loss(outputs, targets, mask)
    return [loss, *tf.gradients(loss, tf.trainable_variables())]


def training(tf):
    seq = tf.contrib.seq2seq
    x = tf.placeholder_with_default(X, [None, None, 2], name="x")
    lengths = tf.constant([3, 1], name="lengths")
    cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
    state = cell.zero_state(tf.shape(x)[0], tf.float32)
    helper = seq.TrainingHelper(x, lengths)
    decoder = seq.BasicDecoder(cell, helper, state, _projection(tf))
    outputs, last, ends = seq.dynamic_decode(decoder, impute_finished=True)
    mask = tf.sequence_mask(lengths, dtype=tf.float32)
    targets = tf.constant([[1, 2, 3], [4, 0, 0]])
    return [*outputs, *last, ends, *_trained(tf, outputs.rnn_output, targets, mask)]


def time_major(tf):
    seq = tf.contrib.seq2seq
    x = tf.constant(X.transpose(1, 0, 2), name="x")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(n) for n in (2, 3)])
    helper = seq.TrainingHelper(x, [2, 3], time_major=True, name="reader")
    decoder = seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    with tf.variable_scope("net", initializer=tf.ones_initializer()):
        outputs, last, ends = seq.dynamic_decode(
            decoder, output_time_major=True, maximum_iterations=2, swap_memory=True,
            parallel_iterations=1, scope="reading",
        )  # fmt: skip
    return [*outputs, *last, ends]


def greedy_and_sampled(tf):
    seq = tf.contrib.seq2seq
    table = _table(tf)
    start = tf.placeholder_with_default([1, 2], [None], name="first")
    cell, layer = tf.nn.rnn_cell.GRUCell(UNITS), _projection(tf)
    state = cell.zero_state(tf.size(start), tf.float32)
    fetches = []
    helpers = [
        seq.GreedyEmbeddingHelper(table, start, 0),
        seq.GreedyEmbeddingHelper(lambda ids: tf.gather(table, ids), start, 4),
        seq.SampleEmbeddingHelper(table, start, 0, seed=3),
        seq.SampleEmbeddingHelper(table, start, 0, 0.5, seed=4),
    ]
    for i, helper in enumerate(helpers):
        with tf.variable_scope("model", reuse=i > 0):
            decoder = seq.BasicDecoder(cell, helper, state, layer)
            outputs, _, ends = seq.dynamic_decode(decoder, maximum_iterations=4)
            fetches += [*outputs, ends]
    return fetches


def own_functions(tf):
    seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    state = cell.zero_state(2, tf.float32)
    custom = seq.CustomHelper(
        lambda: (tf.zeros([2], tf.bool), tf.constant(TABLE[:2])),
        lambda time, outputs, state: outputs * 2.0,
        lambda time, outputs, state, sample_ids: (
            tf.greater([time, 9], [2, 1]), sample_ids, state),
        sample_ids_shape=[2], sample_ids_dtype=tf.float32,
    )  # fmt: skip
    inference = seq.InferenceHelper(
        tf.tanh, [2], tf.float32, TABLE[1:3], lambda ids: ids[:, 0] > 0.5, tf.negative
    )
    plain = seq.InferenceHelper(
        tf.tanh, [2], tf.float32, TABLE[1:3], lambda ids: ids[:, 0] > 0.5
    )
    fetches = []
    for helper in (custom, inference, plain):
        decoder = seq.BasicDecoder(cell, helper, state)
        outputs, last, ends = seq.dynamic_decode(decoder, maximum_iterations=3)
        fetches += [*outputs, last, ends]
    return fetches


def scheduled(tf):
    # One step after the other: TensorFlow's steps would race for random numbers.
    seq = tf.contrib.seq2seq
    x, lengths = tf.constant(X, name="x"), tf.constant([3, 2])
    cell = tf.nn.rnn_cell.GRUCell(2)
    state, fetches = cell.zero_state(2, tf.float32), []
    decoder = seq.BasicDecoder(
        cell,
        seq.ScheduledEmbeddingTrainingHelper(
            x, lengths, _table(tf), 0.5, seed=1, scheduling_seed=2),
        state, _projection(tf),
    )  # fmt: skip
    outputs, _, ends = seq.dynamic_decode(decoder, parallel_iterations=1)
    fetches += [*outputs, ends, *tf.gradients(outputs[0], tf.trainable_variables())]
    for i, (function, more) in enumerate([(None, None), (tf.tanh, None), (None, X)]):
        helper = seq.ScheduledOutputTrainingHelper(
            x, lengths, 0.5, seed=i + 2, next_inputs_fn=function, auxiliary_inputs=more
        )
        cell = tf.nn.rnn_cell.GRUCell(2, name=f"cell{i}")
        decoder = seq.BasicDecoder(cell, helper, state)
        outputs, _, ends = seq.dynamic_decode(decoder, parallel_iterations=1)
        fetches += [*outputs, ends]
    return fetches


GRAPHS = [training, time_major, greedy_and_sampled, own_functions, scheduled]

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
