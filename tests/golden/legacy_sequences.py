"""Sequence-to-sequence models of lists in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.sin(np.arange(2 * 3 * 3).reshape(2, 3, 3)).astype(np.float32)
SAID = [[1, 0], [3, 2]]
HEARD = [[2, 5], [0, 3]]


def _steps(tf):
    """Vectors [2, 3] for the encoder, and for the decoder."""
    steps = tf.unstack(tf.constant(X, name="x"), axis=1)
    return steps, [tf.cos(step) for step in steps[:2]]


def _ids(tf):
    """Ids [batch] for the encoder, and for the decoder."""
    heard = [tf.placeholder_with_default(ids, [None], name="heard") for ids in HEARD]
    said = [tf.placeholder_with_default(ids, [2], name="said") for ids in SAID]
    return heard, said


def _trained(tf, outputs, state):
    """Outputs, state, and the gradients of the sum of their squares."""
    flat = tf.contrib.framework.nest.flatten([outputs, state])
    loss = tf.add_n([tf.reduce_sum(tf.square(part)) for part in flat])
    found = tf.gradients(loss, tf.trainable_variables())
    made = [getattr(grad, "values", grad) for grad in found if grad is not None]
    return [flat, loss, made]


def _flag(tf, value):
    return tf.placeholder_with_default(value, [], name="feed_previous")


def vectors(tf):
    encoder, decoder = _steps(tf)
    seq2seq, rnn = tf.contrib.legacy_seq2seq, tf.nn.rnn_cell
    outputs, state = seq2seq.rnn_decoder(decoder, tf.ones([2, 4]), rnn.GRUCell(4))
    tied = seq2seq.tied_rnn_seq2seq(
        encoder, decoder, rnn.GRUCell(3), loop_function=lambda previous, _: -previous
    )
    basic = seq2seq.basic_rnn_seq2seq(
        encoder, decoder, rnn.MultiRNNCell([rnn.BasicLSTMCell(4), rnn.LSTMCell(2)])
    )
    return _trained(tf, [outputs, tied, basic], state)


def ids(tf):
    heard, said = _ids(tf)
    outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        heard, said, tf.nn.rnn_cell.BasicLSTMCell(4), 6, 5, 3
    )
    return _trained(tf, outputs, state)


def ids_fed_or_not(tf):
    heard, said = _ids(tf)
    outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        heard, said, tf.nn.rnn_cell.BasicLSTMCell(4), 6, 5, 3,
        feed_previous=_flag(tf, True),
    )  # fmt: skip
    return _trained(tf, outputs, state)


def ids_fed_through_a_projection(tf):
    heard, said = _ids(tf)
    weights = tf.get_variable("w", [4, 5])
    biases = tf.get_variable("b", [5])
    seq2seq = tf.contrib.legacy_seq2seq
    outputs, state = seq2seq.embedding_rnn_seq2seq(
        heard, said, tf.nn.rnn_cell.GRUCell(4), 6, 5, 3,
        output_projection=(weights, biases), feed_previous=True, scope="model",
    )  # fmt: skip
    more, last = seq2seq.embedding_rnn_decoder(
        said, state, tf.nn.rnn_cell.GRUCell(4), 5, 3,
        output_projection=(weights, biases), feed_previous=True,
        update_embedding_for_previous=False,
    )  # fmt: skip
    return _trained(tf, outputs + more, last)


def tied_ids(tf):
    heard, said = _ids(tf)
    seq2seq = tf.contrib.legacy_seq2seq
    outputs, state = seq2seq.embedding_tied_rnn_seq2seq(
        heard, said, tf.nn.rnn_cell.GRUCell(4), 6, 3, feed_previous=True
    )
    projection = tf.ones([4, 6]), tf.zeros([6])
    projected = seq2seq.embedding_tied_rnn_seq2seq(
        heard, said, tf.nn.rnn_cell.GRUCell(4), 6, 3, output_projection=projection,
        scope="projected",
    )  # fmt: skip
    return _trained(tf, [outputs, projected], state)


def tied_ids_fed_or_not(tf):
    heard, said = _ids(tf)
    outputs, state = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
        heard, said, tf.nn.rnn_cell.BasicLSTMCell(4), 6, 3, num_decoder_symbols=5,
        feed_previous=_flag(tf, False),
    )  # fmt: skip
    return _trained(tf, outputs, state)


def attention(tf):
    _, decoder = _steps(tf)
    states = tf.placeholder_with_default(X, [2, None, 3], name="states")
    outputs, state = tf.contrib.legacy_seq2seq.attention_decoder(
        decoder, tf.ones([2, 4]), states, tf.nn.rnn_cell.GRUCell(4), output_size=5,
        num_heads=2, initial_state_attention=True,
    )  # fmt: skip
    return _trained(tf, outputs, state) + tf.gradients(outputs[-1], states)


def attention_of_ids(tf):
    heard, said = _ids(tf)
    cell = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.BasicLSTMCell(4)]
    )
    outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        heard, said, cell, 6, 5, 3
    )
    return _trained(tf, outputs, state)


def attention_of_ids_fed_or_not(tf):
    heard, said = _ids(tf)
    outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        heard, said, tf.nn.rnn_cell.GRUCell(4), 6, 5, 3,
        feed_previous=_flag(tf, True), initial_state_attention=True,
    )  # fmt: skip
    return _trained(tf, outputs, state)


def attention_of_ids_fed_through_a_projection(tf):
    heard, said = _ids(tf)
    projection = tf.get_variable("w", [4, 5]), tf.get_variable("b", [5])
    outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        heard, said, tf.nn.rnn_cell.GRUCell(4), 6, 5, 3,
        output_projection=projection, feed_previous=True,
    )  # fmt: skip
    return _trained(tf, outputs, state)


def one_to_many(tf):
    heard, said = _ids(tf)
    rnn = tf.nn.rnn_cell
    outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
        heard, {"a": said, "b": said[:1]}, rnn.GRUCell(4),
        {"a": rnn.GRUCell(4), "b": rnn.GRUCell(4)}, 6, {"a": 5, "b": 7}, 3,
    )  # fmt: skip
    both = [outputs["a"], outputs["b"]]
    return _trained(tf, both, [states["a"], states["b"]])


def one_to_many_fed_or_not(tf):
    heard, said = _ids(tf)
    rnn = tf.nn.rnn_cell
    outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
        heard, {"a": said}, rnn.BasicLSTMCell(4), {"a": rnn.BasicLSTMCell(4)},
        6, {"a": 5}, 3, feed_previous=_flag(tf, True),
    )  # fmt: skip
    return _trained(tf, outputs["a"], states["a"])


def buckets(tf):
    heard, said = _ids(tf)
    targets = [tf.constant([1, 2], name="target") for _ in said]
    weights = [tf.ones([2], name="weight") for _ in said]

    def model(x, y):
        cell = tf.nn.rnn_cell.GRUCell(4)
        return tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(x, y, cell, 6, 5, 3)

    make = tf.contrib.legacy_seq2seq.model_with_buckets
    lists = heard, said, targets, weights
    outputs, losses = make(*lists, [(1, 1), (2, 2)], model)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        _, each = make(
            *lists, [(2, 2)], model, per_example_loss=True, name="each",
            softmax_loss_function=lambda labels, logits: tf.reduce_sum(logits, 1),
        )  # fmt: skip
    return _trained(tf, outputs, losses + each)


GRAPHS = [
    vectors, ids, ids_fed_or_not, ids_fed_through_a_projection, tied_ids,
    tied_ids_fed_or_not, attention, attention_of_ids, attention_of_ids_fed_or_not,
    attention_of_ids_fed_through_a_projection, one_to_many, one_to_many_fed_or_not,
    buckets,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
