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


def state_of_both_directions(tf):
    seq = tf.contrib.seq2seq
    x = tf.constant(X, name="x")
    halves = [tf.constant(X[:, i], name="half") for i in range(2)]
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    helper = seq.TrainingHelper(x, [3, 2])
    decoder = seq.BasicDecoder(cell, helper, tf.concat(halves, 1))
    outputs, _, _ = seq.dynamic_decode(decoder)
    return [outputs.rnn_output, *tf.gradients(outputs.rnn_output, halves)]


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


MEMORY = np.sin(np.arange(2 * 4 * 3).reshape(2, 4, 3)).astype(np.float32)


def attention_training(tf):
    seq = tf.contrib.seq2seq
    x, memory = tf.constant(X, name="x"), tf.constant(MEMORY, name="memory")
    lengths = tf.placeholder_with_default([4, 2], [2], name="lengths")
    mechanisms = [
        seq.LuongAttention(UNITS, memory, lengths, scale=True),
        seq.BahdanauAttention(2, memory, lengths, normalize=True, name="sums"),
    ]
    fetches = []
    for i, mechanism in enumerate(mechanisms):
        with tf.variable_scope(f"net{i}"):
            cell = seq.AttentionWrapper(
                tf.nn.rnn_cell.GRUCell(UNITS), mechanism, attention_layer_size=2,
                alignment_history=True, output_attention=i == 0,
            )  # fmt: skip
            helper = seq.TrainingHelper(x, [3, 2])
            decoder = seq.BasicDecoder(
                cell, helper, cell.zero_state(2, tf.float32), _projection(tf)
            )
            outputs, last, ends = seq.dynamic_decode(decoder, impute_finished=i == 0)
        fetches += [*outputs, ends, last.alignments, last.attention, last.time]
        fetches += [last.alignment_history.stack()]
        weights = tf.constant([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
        loss = seq.sequence_loss(
            outputs.rnn_output, tf.constant([[1, 2, 3], [4, 0, 0]]), weights
        )
        fetches += tf.gradients(loss, tf.trainable_variables(f"net{i}"))
    return fetches


def attention_greedy(tf):
    seq = tf.contrib.seq2seq
    table = _table(tf)
    source = tf.placeholder_with_default(MEMORY, [None, None, 3], name="source")
    lengths = tf.constant([4, 2], name="lengths")
    batch = tf.shape(source)[0]
    memory, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(UNITS), source, lengths, dtype=tf.float32
    )
    fetches, names = [], ["Luong", "Bahdanau"]
    for name in names:
        mechanism = getattr(seq, name + "Attention")(UNITS, memory, lengths)
        cell = seq.AttentionWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(UNITS), mechanism, UNITS, name=name.lower()
        )
        start = cell.zero_state(batch, tf.float32).clone(cell_state=state)
        helper = seq.GreedyEmbeddingHelper(table, tf.fill([batch], 1), 4)
        with tf.variable_scope(name):
            decoder = seq.BasicDecoder(cell, helper, start, _projection(tf))
            outputs, last, ends = seq.dynamic_decode(decoder, maximum_iterations=3)
        fetches += [*outputs, ends, last.alignments, *last.cell_state]
    return fetches


def attention_variants(tf):
    seq = tf.contrib.seq2seq
    x, memory = tf.constant(X[:, 0], name="x"), tf.constant(MEMORY, name="memory")
    several = [
        seq.LuongAttention(UNITS, memory, probability_fn=seq.hardmax),
        seq.BahdanauAttention(
            2, memory, [4, 1], score_mask_value=-3.0,
            custom_key_value_fn=lambda keys, values: (keys * 2.0, values + 1.0)),
    ]  # fmt: skip
    rnn = tf.nn.rnn_cell
    state = tf.constant(MEMORY[:, 0], name="state")
    cells = [
        seq.AttentionWrapper(rnn.GRUCell(UNITS), several, [2, 4], name="both"),
        seq.AttentionWrapper(
            rnn.GRUCell(UNITS), several[0], initial_cell_state=state,
            cell_input_fn=lambda inputs, attention: inputs, output_attention=False),
        seq.AttentionWrapper(
            rnn.GRUCell(UNITS), several[0],
            attention_layer=tf.layers.Dense(2, activation=tf.tanh)),
        seq.AttentionWrapper(
            rnn.GRUCell(UNITS), several[0], attention_layer_size=3,
            attention_fn=lambda mechanism, output, state, layer: (
                layer(output), state + 1.0, state)),
    ]  # fmt: skip
    fetches = []
    for i, cell in enumerate(cells):
        state = cell.zero_state(2, tf.float32)
        for _ in range(2):
            output, state = cell(x, state, scope=f"net{i}")
        fetches += [output, state.cell_state, state.attention, state.time]
        fetches += [*tf.contrib.framework.nest.flatten(state.alignments)]
        fetches += [*cell.trainable_variables]
    return fetches


def monotonic(tf):
    seq = tf.contrib.seq2seq
    x, memory = tf.constant(X[:, 0], name="x"), tf.constant(MEMORY, name="memory")
    mechanisms = [
        seq.LuongMonotonicAttention(2, memory, scale=True, score_bias_init=-1.0),
        seq.LuongMonotonicAttention(2, memory, [2, 3], mode="hard", name="hard"),
        seq.BahdanauMonotonicAttention(
            2, memory, sigmoid_noise=0.5, sigmoid_noise_seed=3, mode="recursive"),
        seq.BahdanauMonotonicAttention(2, memory, normalize=True),
    ]  # fmt: skip
    fetches = [seq.safe_cumprod(tf.constant([[0.5, 0.0, 2.0], [1.0, 0.2, 0.3]]), 1)]
    for i, mechanism in enumerate(mechanisms):
        with tf.variable_scope(f"net{i}"):
            state = mechanism.initial_state(2, tf.float32)
            alignments, state = mechanism(x, state)
            alignments, state = mechanism(x, state)
            found = tf.gradients(alignments * [1.0, 2.0, 3.0, 4.0], [x, memory])
        fetches += [alignments, *(grad for grad in found if grad is not None)]
    return fetches


def beams(tf):
    seq = tf.contrib.seq2seq
    table = _table(tf)
    cell = tf.nn.rnn_cell.GRUCell(UNITS, name="cell")
    start = seq.tile_batch(tf.constant(X.reshape(-1, 3)[:2], name="state"), 3)
    decoder = seq.BeamSearchDecoder(
        cell, table, [1, 2], 0, start, 3, tf.layers.Dense(5, name="projection")
    )
    outputs, last, ends = seq.dynamic_decode(decoder, maximum_iterations=4)
    fetches = [outputs.predicted_ids, *outputs.beam_search_decoder_output]
    fetches += [last.cell_state, last.log_probs, last.finished, last.lengths, ends]
    plain = seq.BeamSearchDecoder(
        tf.nn.rnn_cell.BasicRNNCell(5), lambda ids: tf.one_hot(ids, 2),
        tf.placeholder_with_default([3, 1], [None]), 4, tf.zeros([4, 5]), 2,
        length_penalty_weight=0.6,
    )  # fmt: skip
    outputs, last, ends = seq.dynamic_decode(
        plain, maximum_iterations=3, output_time_major=True, scope="plain"
    )
    return [*fetches, outputs.predicted_ids, last.log_probs, ends]


def beams_with_attention(tf):
    seq = tf.contrib.seq2seq
    table, width = _table(tf), 2
    source = tf.placeholder_with_default(MEMORY, [None, None, 3], name="source")
    lengths = tf.constant([4, 2], name="lengths")
    memory, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(UNITS), source, lengths, dtype=tf.float32
    )
    memory, state, lengths = seq.tile_batch((memory, state, lengths), width)
    rows = tf.shape(source)[0] * width
    luong = seq.LuongAttention(UNITS, memory, lengths)
    several = [luong, seq.BahdanauAttention(2, memory, lengths)]
    fetches = []
    for name, mechanism, size in (("one", luong, 3), ("two", several, [2, 1])):
        cell = seq.AttentionWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(UNITS), mechanism, size,
            alignment_history=name == "one",
        )  # fmt: skip
        start = cell.zero_state(rows, tf.float32).clone(cell_state=state)
        with tf.variable_scope(name):
            decoder = seq.BeamSearchDecoder(
                cell, table, tf.fill([tf.shape(source)[0]], 1), 0, start, width,
                tf.layers.Dense(5, name="projection"), length_penalty_weight=0.5,
                coverage_penalty_weight=0.2,
            )  # fmt: skip
            outputs, last, ends = seq.dynamic_decode(decoder, maximum_iterations=3)
        state_of_cell = last.cell_state
        fetches += [outputs.predicted_ids, *outputs.beam_search_decoder_output]
        fetches += [last.accumulated_attention_probs, state_of_cell.attention, ends]
        if name == "one":
            fetches += [state_of_cell.alignment_history, state_of_cell.alignments]
    return fetches


def tree(tf):
    steps = tf.placeholder_with_default([[[1, 2], [3, 4]], [[5, 6], [7, 0]]], None)
    parents = tf.constant([[[0, 0], [0, 0]], [[1, 1], [1, 0]]])
    gather_tree = tf.contrib.seq2seq.gather_tree
    return [
        gather_tree(steps, parents, [2, 1], 9),
        gather_tree(steps, parents, max_sequence_lengths=[2, 2], end_token=3, name="t"),
    ]


AT_ONCE = True  # loops take long to plan
GRAPHS = [beams, beams_with_attention, tree]
GRAPHS += [attention_training, attention_greedy, attention_variants, monotonic]
GRAPHS += [training, state_of_both_directions, time_major, greedy_and_sampled]
GRAPHS += [own_functions, scheduled]

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1], AT_ONCE)
