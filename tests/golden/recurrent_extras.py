"""contrib.rnn's cells, wrappers and runs in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.sin(np.arange(2 * 3 * 4).reshape(2, 3, 4)).astype(np.float32)


def _trained(tf, *outputs):
    """Outputs, and the gradients of the sum of their squares."""
    flat = tf.contrib.framework.nest.flatten(outputs)
    loss = tf.add_n([tf.reduce_sum(tf.square(part)) for part in flat])
    found = tf.gradients(loss, tf.trainable_variables())
    made = [getattr(grad, "values", grad) for grad in found if grad is not None]
    return [flat, loss, made]


def _two_steps(tf, *cells, x=None):
    """Two steps of each cell."""
    x = tf.constant(X[:, 0], name="x") if x is None else x
    runs = [
        tf.nn.static_rnn(cell, [x, x], dtype=tf.float32, scope=f"net_{number}")
        for number, cell in enumerate(cells)
    ]
    return _trained(tf, *runs)


def projections(tf):
    rnn = tf.contrib.rnn
    ids = rnn.EmbeddingWrapper(rnn.BasicLSTMCell(3), 5, 4, tf.ones_initializer())
    output, state = ids(tf.constant([4, 1]), ids.zero_state(2, tf.float32))
    with tf.variable_scope("own", initializer=tf.constant_initializer(0.5)):
        more, _ = tf.nn.static_rnn(
            rnn.EmbeddingWrapper(rnn.GRUCell(3), 5, 4), [tf.constant([[4], [1]])] * 2,
            dtype=tf.float32,
        )  # fmt: skip
    cell = rnn.InputProjectionWrapper(rnn.GRUCell(3), 6, activation=tf.nn.relu)
    cell = rnn.OutputProjectionWrapper(cell, 2, activation=tf.tanh)
    outputs, last = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    return _trained(tf, output, state, more, outputs, last)


def stacked_in_both_directions(tf):
    rnn = tf.contrib.rnn

    def cells(*sizes):
        return [rnn.GRUCell(size) for size in sizes]

    steps = tf.unstack(tf.constant(X, name="x"), axis=1)
    static = rnn.stack_bidirectional_rnn(
        cells(3, 2), cells(2, 3), steps, dtype=tf.float32, scope="static",
        initial_states_fw=[tf.ones([2, 3]), tf.ones([2, 2])],
    )  # fmt: skip
    dynamic = rnn.stack_bidirectional_dynamic_rnn(
        cells(3, 2), cells(2, 3), tf.constant(X), dtype=tf.float32,
        sequence_length=[3, 2],
    )  # fmt: skip
    return _trained(tf, static, dynamic)


def normalized(tf):
    rnn = tf.contrib.rnn
    return _two_steps(
        tf,
        rnn.LayerNormBasicLSTMCell(
            3, norm_gain=0.5, norm_shift=0.1, dropout_keep_prob=0.8, dropout_prob_seed=3
        ),
        rnn.LayerNormBasicLSTMCell(3, layer_norm=False, activation=tf.nn.relu),
    )


def coupled(tf):
    rnn = tf.contrib.rnn
    plain = rnn.CoupledInputForgetGateLSTMCell(3, use_peepholes=True)
    whole = rnn.CoupledInputForgetGateLSTMCell(
        3, num_proj=2, proj_clip=0.2, num_unit_shards=4, num_proj_shards=2,
        state_is_tuple=False, layer_norm=True, norm_gain=0.7,
    )  # fmt: skip
    return _two_steps(tf, plain, whole)


def grouped(tf):
    return _two_steps(
        tf,
        tf.contrib.rnn.GLSTMCell(6, number_of_groups=2, num_proj=4),
        tf.contrib.rnn.GLSTMCell(3, initializer=tf.ones_initializer()),
    )


def with_few_gates(tf):
    rnn = tf.contrib.rnn
    ones = tf.constant_initializer(0.1)
    return _two_steps(
        tf,
        rnn.UGRNNCell(3, initializer=ones),
        rnn.IntersectionRNNCell(3, num_in_proj=3),
        rnn.IntersectionRNNCell(4, initializer=ones),
        rnn.SRUCell(3),
        rnn.NASCell(3, num_proj=2, use_bias=True),
        rnn.NASCell(3, name="plain"),
    )


def independent(tf):
    rnn = tf.contrib.rnn
    return _two_steps(
        tf,
        rnn.IndRNNCell(3),
        rnn.IndyGRUCell(3, kernel_initializer=tf.constant_initializer(0.3)),
        rnn.IndyLSTMCell(3, forget_bias=0.5, bias_initializer=tf.ones_initializer()),
    )


def phased(tf):
    rnn = tf.contrib.rnn
    x = tf.constant([[3.0], [17.0]], name="time"), tf.constant(X[:, 0], name="x")
    return _two_steps(
        tf,
        rnn.PhasedLSTMCell(3, use_peepholes=True, period_init_max=20.0),
        rnn.PhasedLSTMCell(3, ratio_on=0.5, trainable_ratio_on=False),
        x=x,
    )


def convolutional(tf):
    rnn = tf.contrib.rnn
    line = rnn.Conv1DLSTMCell(input_shape=[3, 4], output_channels=2, kernel_shape=[2])
    outputs, state = tf.nn.static_rnn(
        line, [tf.constant(X, name="x")] * 2, dtype=tf.float32
    )
    pictures = tf.constant(X[..., None], name="pictures")
    picture = rnn.Conv2DLSTMCell(
        input_shape=[3, 4, 1], output_channels=2, kernel_shape=[3, 2],
        skip_connection=True, use_bias=False,
    )  # fmt: skip
    more, _ = picture(pictures, picture.zero_state(2, tf.float32))
    return _trained(tf, outputs, state, more)


def attention(tf):
    rnn = tf.contrib.rnn
    return _two_steps(
        tf,
        rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 2, attn_vec_size=5),
        rnn.AttentionCellWrapper(
            rnn.GRUCell(3), 3, attn_size=2, input_size=4, state_is_tuple=False
        ),
    )


def highways(tf):
    rnn = tf.contrib.rnn
    cell = rnn.HighwayWrapper(
        rnn.GRUCell(4), couple_carry_transform_gates=False, carry_bias_init=0.5
    )
    dynamic = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    return [dynamic, *_two_steps(tf, rnn.HighwayWrapper(rnn.GRUCell(4)))]


def fused(tf):
    rnn = tf.contrib.rnn
    x = tf.constant(X.transpose(1, 0, 2), name="x")
    dynamic = rnn.FusedRNNCellAdaptor(rnn.GRUCell(3), use_dynamic_rnn=True)
    static = rnn.FusedRNNCellAdaptor(rnn.BasicRNNCell(3))
    lengths = tf.constant([2, 3])
    return _trained(
        tf,
        dynamic(x, dtype=tf.float32, sequence_length=lengths, scope="dynamic"),
        rnn.TimeReversedFusedRNN(static)(x, dtype=tf.float32, scope="static"),
        rnn.TimeReversedFusedRNN(dynamic)(
            tf.unstack(x), tf.ones([2, 3]), scope="listed"
        ),
        rnn.TimeReversedFusedRNN(static)(
            x, dtype=tf.float32, sequence_length=lengths, scope="up_to_the_end"
        ),
    )


class _Saver:
    """Keeps states in variables, as `contrib.training` does in queues."""

    def __init__(self, tf, sizes):
        self._kept = {
            name: tf.get_variable(name, [2, size], trainable=False)
            for name, size in sizes.items()
        }

    def state(self, name):
        return self._kept[name] + 0.0

    def save_state(self, name, value):
        return self._kept[name].assign(value)


def with_a_state_saver(tf):
    steps = tf.unstack(tf.constant(X, name="x"), axis=1)
    saver = _Saver(tf, {"c": 3, "h": 3, "state": 3})
    outputs, state = tf.nn.static_state_saving_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(3), steps, saver, ("c", "h")
    )
    more, _ = tf.nn.static_state_saving_rnn(
        tf.nn.rnn_cell.GRUCell(3), steps, saver, "state", sequence_length=[2, 3],
        scope="second",
    )  # fmt: skip
    return _trained(tf, outputs, state, more)


def lstm_in_shards(tf):
    return _two_steps(
        tf,
        tf.nn.rnn_cell.LSTMCell(
            3, num_proj=2, num_unit_shards=2, num_proj_shards=3, use_peepholes=True
        ),
        tf.nn.rnn_cell.LSTMCell(3, num_unit_shards=1, name="one"),
    )


def blocks(tf):
    rnn = tf.contrib.rnn
    x = tf.placeholder_with_default(X[:, 0], [None, 4], name="x")
    named = rnn.GRUBlockCell(3)
    dynamic = tf.nn.dynamic_rnn(
        rnn.LSTMBlockCell(2, cell_clip=0.1), tf.constant(X), [3, 1], dtype=tf.float32
    )
    peepholes = rnn.LSTMBlockCell(3, forget_bias=0.5, use_peephole=True, name="peep")
    cells = [named, peepholes, rnn.GRUBlockCellV2(3, name="v2")]
    return [dynamic, *_two_steps(tf, *cells, x=x)]


def sequences_in_one_op(tf):
    rnn = tf.contrib.rnn
    x = tf.placeholder_with_default(X.transpose(1, 0, 2), [None, None, 4], name="x")
    plain = rnn.LSTMBlockFusedCell(3, cell_clip=0.2)
    whole = rnn.LSTMBlockFusedCell(2, use_peephole=True, forget_bias=0.0, name="peep")
    begin = tf.ones([2, 2]), tf.zeros([2, 2])
    lengths = tf.constant([2, 0])
    backward = rnn.TimeReversedFusedRNN(plain)
    return _trained(
        tf,
        plain(tf.constant(X), dtype=tf.float32),
        whole(x, initial_state=begin, sequence_length=lengths),
        backward(x, sequence_length=tf.constant([3, 1]), dtype=tf.float32),
    ) + tf.gradients(whole(x, begin), [x, *begin])


def over_frequencies(tf):
    rnn = tf.contrib.rnn
    x = tf.constant(X[:, 0], name="x")
    windows = {"feature_size": 2, "frequency_skip": 2}
    outputs = []
    for number, peepholes in enumerate([True, False]):
        cell = rnn.TimeFreqLSTMCell(3, peepholes, cell_clip=0.2, **windows)
        with tf.variable_scope(f"{number}"):
            outputs += cell(x, tf.ones([2, 12]))
    blocks = {
        "num_frequency_blocks": [1, 2], "start_freqindex_list": [0, 0],
        "end_freqindex_list": [2, 4], **windows,
    }  # fmt: skip
    cells = [
        rnn.GridLSTMCell(2, True, cell_clip=0.3, **blocks),
        rnn.GridLSTMCell(1, True, True, num_frequency_blocks=[2], **windows),
        rnn.GridLSTMCell(
            2, couple_input_forget_gates=True, num_unit_shards=2, state_is_tuple=False,
            num_frequency_blocks=[2], **windows,
        ),
        rnn.BidirectionalGridLSTMCell(
            2, True, couple_input_forget_gates=True, backward_slice_offset=1, **blocks
        ),
        rnn.BidirectionalGridLSTMCell(
            2, num_frequency_blocks=[2], backward_slice_offset=-1, **windows
        ),
    ]  # fmt: skip
    for number, cell in enumerate(cells):
        with tf.variable_scope(f"grid_{number}"):
            outputs += cell(x, cell.zero_state(2, tf.float32))
    return _trained(tf, *outputs)


GRAPHS = [
    projections, stacked_in_both_directions, normalized, coupled, grouped,
    with_few_gates, independent, phased, convolutional, attention, highways, fused,
    with_a_state_saver, lstm_in_shards, blocks, sequences_in_one_op,
    over_frequencies,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
