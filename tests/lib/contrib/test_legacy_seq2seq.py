"""contrib.legacy_seq2seq: what is refused, and a model that learns."""

import numpy as np
import pytest

import tfteach as tf

seq2seq = tf.contrib.legacy_seq2seq
rnn = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def used_cell():
    cell = rnn.GRUCell(2)
    cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    return cell


def attention(inputs, states=None, **options):
    states = tf.ones([2, 4, 3]) if states is None else states
    seq2seq.attention_decoder(
        inputs, tf.zeros([2, 2]), states, rnn.GRUCell(2), **options
    )


def of_ids(**options):
    ids = [tf.constant([1, 0])]
    seq2seq.embedding_rnn_seq2seq(ids, ids, rnn.GRUCell(2), 4, 5, 3, **options)


def buckets(heard, said):
    seq2seq.model_with_buckets(
        [tf.ones([2])] * heard, [], [tf.ones([2])] * said, [], [(2, 3)], None
    )


X = np.ones([2, 3], np.float32)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: attention([]), ValueError, "Must provide at least 1 input to"),
        (lambda: attention([X], num_heads=0), ValueError, "With less than 1 heads"),
        (lambda: attention([X], tf.placeholder(tf.float32, [2, 4, None])), ValueError,
         r"Shape\[2\] of attention_states must be known: \(2, 4, \?\)"),
        (lambda: attention([tf.placeholder(tf.float32, [2, None])]), ValueError,
         "Could not infer input size from input: Placeholder"),
        (lambda: of_ids(output_projection=(tf.ones([2, 4]), tf.ones([4]))), ValueError,
         "incompatible"),
        (lambda: seq2seq.basic_rnn_seq2seq([X], [X], used_cell()), TypeError,
         "it already has variables"),
        (lambda: seq2seq.one2many_rnn_seq2seq([], {}, 3, {}, 1, {}, 1), TypeError,
         "enc_cell is not an RNNCell: <class 'int'>"),
        (lambda: seq2seq.one2many_rnn_seq2seq(
            [], {"a": []}, rnn.GRUCell(2), {"a": 3}, 1, {}, 1),
         TypeError, "dec_cell is not an RNNCell: <class 'int'>"),
        (lambda: seq2seq.one2many_rnn_seq2seq(
            [], {"a": []}, rnn.GRUCell(2), {}, 1, {}, 1),
         ValueError, "keys of dec_cells_dict != keys of"),
        (lambda: buckets(1, 3), ValueError,
         r"Length of encoder_inputs \(1\) must be at least that of last bucket \(2\)"),
        (lambda: buckets(2, 2), ValueError,
         r"Length of targets \(2\) must be at least that of last bucket \(3\)"),
        (lambda: buckets(2, 3), ValueError,
         r"Length of weights \(0\) must be at least that of last bucket \(3\)"),
    ],
)  # fmt: skip
def test_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_a_model_learns_to_repeat_and_then_feeds_itself():
    tf.set_random_seed(1)
    rng = np.random.default_rng(2)
    heard = [tf.placeholder(tf.int32, [None]) for _ in range(2)]
    targets = [heard[0] + 1, heard[1] + 1, tf.zeros_like(heard[0])]
    said = [tf.zeros_like(heard[0]), *targets[:2]]
    feeds_itself = tf.placeholder(tf.bool, [])
    outputs, _ = seq2seq.embedding_rnn_seq2seq(
        heard, said, rnn.GRUCell(16), 4, 5, 8, feed_previous=feeds_itself
    )
    weights = [tf.ones_like(t, tf.float32) for t in targets]
    loss = seq2seq.sequence_loss(outputs, targets, weights)
    train = tf.train.AdamOptimizer(0.03).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(120):
            batch = rng.integers(0, 4, [2, 16])
            sess.run(train, {**dict(zip(heard, batch, strict=True)), feeds_itself: 0})
        feed = {heard[0]: [0, 3, 2], heard[1]: [1, 1, 0], feeds_itself: 1}
        found = np.argmax(sess.run(outputs, feed), axis=2)
    assert found.tolist() == [[1, 4, 3], [2, 2, 1], [0, 0, 0]]
