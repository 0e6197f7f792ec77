"""contrib.rnn: what is refused, in TensorFlow's words; the graphs are golden."""

import numpy as np
import pytest

import tfteach as tf
from tfteach.lib.contrib.rnn.linear import Linear, _linear
from tfteach.ops.nn.lstm_blocks import BlockLSTM, LSTMBlockCell

rnn = tf.contrib.rnn
X = np.ones([2, 3], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def step(cell, x=X, size=2):
    """One step from a state of ones."""
    state = tf.ones([2, size])
    pair = isinstance(cell.state_size, tuple)
    return cell(tf.convert_to_tensor(x), (state, state) if pair else state)


def unknown():
    return tf.placeholder(tf.float32, [2, None])


def gru(size=2):
    return rnn.GRUCell(size)


def both(fw, bw, **options):
    rnn.stack_bidirectional_rnn(fw, bw, [X], **options)


def saved(names):
    tf.nn.static_state_saving_rnn(rnn.BasicLSTMCell(2), [X], None, names)


def line():
    return rnn.Conv1DLSTMCell(input_shape=[3, 4], output_channels=2, kernel_shape=[2])


def fused(x, **options):
    rnn.LSTMBlockFusedCell(2)(x, **options)


def unknown_memory():
    cell, x = rnn.LSTMBlockCell(2), tf.placeholder(tf.float32, [None, 3])
    output, _ = cell(x, (unknown(), tf.ones([2, 2])))
    tf.gradients(output, tf.trainable_variables())


def grid(blocks, x=X, **options):
    given = {"feature_size": 2, "frequency_skip": 1} | options
    cell = rnn.GridLSTMCell(2, num_frequency_blocks=blocks, **given)
    cell(tf.convert_to_tensor(x), cell.zero_state(2, tf.float32))


def twice():
    for _ in range(2):
        step(rnn.UGRNNCell(2))


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: rnn.EmbeddingWrapper(gru(), 0, 3), ValueError,
         "Both embedding_classes and embedding_size must be > 0: 0, 3."),
        (lambda: rnn.EmbeddingWrapper(3, 1, 3), TypeError, "is not an RNNCell"),
        (lambda: rnn.OutputProjectionWrapper(gru(), 0), ValueError,
         "Parameter output_size must be > 0: 0."),
        (lambda: step(rnn.InputProjectionWrapper(gru(), 2), np.ones([2, 3, 4])),
         ValueError, "linear is expecting 2D arguments"),
        (lambda: step(rnn.InputProjectionWrapper(gru(), 2), unknown()), ValueError,
         "linear expects shape.1. to be provided for shape .2, .., but saw "),
        (lambda: both([], [gru()]), ValueError, "at least one fw cell for Bidirectio"),
        (lambda: both([gru()], []), ValueError, "at least one bw cell for Bidirectio"),
        (lambda: both((gru(),), [gru()]), ValueError, "cells_fw must be a list of RNN"),
        (lambda: both([gru()], (gru(),)), ValueError, "cells_bw must be a list of RNN"),
        (lambda: both([gru()], [gru()] * 2), ValueError, "must have the same depth"),
        (lambda: both([gru()], [gru()], initial_states_fw=[1, 2]), ValueError,
         "initial_states_fw must be a list of state tensors .one per layer."),
        (lambda: both([gru()], [gru()], initial_states_bw=3), ValueError,
         "initial_states_bw must be a list of state tensors .one per layer."),
        (lambda: step(rnn.UGRNNCell(2), unknown()), ValueError,
         "Could not infer input size from inputs.get_shape"),
        (lambda: step(rnn.NASCell(2), unknown()), ValueError,
         "Could not infer input size from inputs.get_shape"),
        (lambda: step(rnn.IntersectionRNNCell(2)), ValueError,
         "Must have input size == output size for Intersection RNN. To fix, num_in_p"),
        (lambda: step(rnn.SRUCell(2), unknown()), ValueError,
         r"Expected inputs.shape\[-1\] to be known, saw shape: \(2, \?\)"),
        (lambda: step(rnn.IndRNNCell(2), np.ones([2, 3, 4])), ValueError,
         "expected ndim=2, found ndim=3"),
        (lambda: step(rnn.CoupledInputForgetGateLSTMCell(2, num_unit_shards=9)),
         ValueError, r"Too many shards: shape=\[5, 6\], num_shards=9"),
        (lambda: rnn.GLSTMCell(3, number_of_groups=2), ValueError,
         "num_units must be divisible by number_of_groups"),
        (lambda: rnn.GLSTMCell(4, num_proj=3, number_of_groups=2), ValueError,
         "num_proj must be divisible by number_of_groups"),
        (lambda: step(rnn.GLSTMCell(4, number_of_groups=2), size=4), ValueError,
         r"input size \(3\) must be divisible by number_of_groups \(2\)"),
        (lambda: step(rnn.GLSTMCell(4), unknown(), size=4), ValueError,
         "input size must be statically known"),
        (lambda: rnn.ConvLSTMCell(2, [3, 4], 2, [2]), ValueError,
         r"Invalid input_shape \[3, 4\] for conv_ndims=2."),
        (lambda: step(line()), ValueError, "Conv Linear expects 3D, 4D or 5D argument"),
        (lambda: rnn.AttentionCellWrapper(rnn.LSTMCell(2), 2, state_is_tuple=False),
         ValueError, "Cell returns tuple of states, but the flag state_is_tuple is no"),
        (lambda: rnn.AttentionCellWrapper(gru(), 0), ValueError,
         "attn_length should be greater than zero, got 0"),
        (lambda: rnn.AttentionCellWrapper(3, 1), TypeError, "is not an RNNCell"),
        (lambda: step(rnn.HighwayWrapper(gru())), ValueError,
         r"Shapes \(2, 3\) and \(2, 2\) are incompatible"),
        (lambda: fused([X, X], dtype=tf.float32), ValueError,
         "Layer lstm_fused_cell expects 1 inputs, but it received 2 input tensors"),
        (lambda: fused(np.ones([4, 2, 3], np.float32)), ValueError,
         "Either initial_state or dtype needs to be specified"),
        (lambda: fused(np.ones([4, 2, 3], np.float32), initial_state=(1, 2, 3)),
         ValueError, "Expecting initial_state to be a tuple with length 2 or None"),
        (lambda: rnn.LSTMBlockWrapper(), TypeError, "abstract method.* '?_call_cell"),
        (lambda: step(rnn.LSTMBlockCell(2), unknown()), ValueError,
         r"Expecting inputs_shape\[1\] to be set: \(2, \?\)"),
        (unknown_memory, ValueError, "cell_size from `cs_prev` should not be None."),
        (lambda: rnn.GRUBlockCell(), ValueError,
         "Exactly one of num_units or cell_size must be provided."),
        (lambda: rnn.GRUBlockCell(2, cell_size=2), ValueError,
         "Exactly one of num_units or cell_size must be provided."),
        (lambda: step(rnn.GRUBlockCell(2), unknown()), ValueError,
         "Expecting input_size to be set."),
        (lambda: step(rnn.GRUBlockCell(2), size=3), ValueError,
         r"Shape of h_prev\[1\] incorrect: cell_size 2 vs 3"),
        (lambda: rnn.FusedRNNCell(), TypeError, "abstract class FusedRNNCell"),
        (lambda: rnn.CompiledWrapper(gru()), NotImplementedError, "XLA"),
        (lambda: grid(None), ValueError, "Must specify num_frequency_blocks"),
        (lambda: grid([3]), ValueError,
         "Invalid num_frequency_blocks, requires 3 but gets 2, please check the input"),
        (lambda: grid([1, 1]), ValueError,
         "Length of num_frequency_blocks is not 1, but instead is 2"),
        (lambda: grid([1], start_freqindex_list=[0], end_freqindex_list=[2, 3]),
         ValueError, "Length of start and end freqindex_list does not match"),
        (lambda: grid([1, 1], start_freqindex_list=[0], end_freqindex_list=[2]),
         ValueError, "num_frequency_blocks is not equal to start_freqindex_list"),
        (lambda: grid([2], unknown()), ValueError,
         "Cannot infer input_size from static shape inference."),
        (lambda: grid([2], feature_size=None), TypeError, "must be ints, got None and"),
        (lambda: saved("c"), ValueError, "state_name should be the same type as cell."),
        (lambda: saved(("c", "d", "e")), ValueError,
         r"#elems\(state_name\) != #elems\(state_size\): 3 vs. 2"),
        (twice, ValueError, "ugrnn_cell/kernel already exists, disallowed"),
    ],
)  # fmt: skip
def test_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_memory_of_pictures_follows_them():
    cell = rnn.Conv2DLSTMCell(
        input_shape=[6, 5, 3], output_channels=4, kernel_shape=[3, 3]
    )
    movie = tf.placeholder(tf.float32, [None, 7, 6, 5, 3])
    outputs, state = tf.nn.dynamic_rnn(cell, movie, dtype=tf.float32)
    assert outputs.shape.as_list() == [None, 7, 6, 5, 4]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found, last = sess.run([outputs, state], {movie: np.ones([2, 7, 6, 5, 3])})
    assert found.shape == (2, 7, 6, 5, 4)
    np.testing.assert_array_equal(found[:, -1], last.h)


def test_shapes_of_sequences():
    x = tf.placeholder(tf.float32, [2, None, 3])
    assert rnn.transpose_batch_time(x).shape.as_list() == [None, 2, 3]
    assert rnn.best_effort_input_batch_size([rnn.transpose_batch_time(x)]) == 2


def test_one_op_computes_what_the_cells_of_many_ops_do():
    x = tf.constant(np.sin(np.arange(24)).reshape(4, 2, 3), tf.float32)
    filled = tf.constant_initializer(np.linspace(-1, 1, 7 * 16))
    tf.get_variable_scope().set_initializer(filled)
    lengths = [4, 2]
    runs = [
        tf.nn.dynamic_rnn(
            cell, x, lengths, dtype=tf.float32, time_major=True, scope=str(number)
        )
        for number, cell in enumerate([rnn.BasicLSTMCell(4), rnn.LSTMBlockCell(4)])
    ]
    whole = rnn.LSTMBlockFusedCell(4)
    runs.append(whole(x, dtype=tf.float32, sequence_length=lengths))
    # The core's gates lie in the order i, j, f, o, and so do the ops'.
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        basic, *others = sess.run([(outputs, *state) for outputs, state in runs])
    for other in others:
        for a, b in zip(basic, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("steps", [-1, 5])
def test_a_block_of_more_steps_than_there_are_is_refused(steps):
    x, state, vector = tf.ones([4, 2, 3]), tf.ones([2, 2]), tf.ones([2])
    found = BlockLSTM()(
        tf.constant(steps, tf.int64), x, state, state, tf.ones([5, 8]),
        vector, vector, vector, tf.ones([8]),
    )  # fmt: skip
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(found)
    assert f"between 0 and the 4 steps of x, got {steps}" in str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"w": [6, 16]}, "w.dim_size(0) != input_size + cell_size: 6 vs. 7"),
        ({"b": [15]}, "b.dim_size(0) != cell_size * 4: 15 vs. 16"),
        ({"cs_prev": [1, 4]}, "cs_prev.dims(0) != batch_size: 1 vs. 2"),
        ({"h_prev": [2, 3]}, "h_prev.dims(1) != cell_size: 3 vs. 4"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_in_the_run(sizes, words):
    given = {
        "x": [2, 3], "cs_prev": [2, 4], "h_prev": [2, 4], "w": [7, 16],
        "wci": [4], "wcf": [4], "wco": [4], "b": [16],
    }  # fmt: skip
    found = LSTMBlockCell()(*(tf.ones(size) for size in (given | sizes).values()))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(found)
    assert words in str(caught.value)


def test_what_old_notebooks_take_from_core_rnn_cell():
    parts = [tf.ones([2, 3]), tf.ones([2, 1])]
    tf.get_variable_scope().set_initializer(tf.constant_initializer(0.5))
    with tf.variable_scope("cell"):
        joined = _linear(parts, 5, True, bias_initializer=tf.ones_initializer())
        assert joined.name == "cell/cell/BiasAdd:0"  # as in TensorFlow
        tf.get_variable_scope().reuse_variables()
        again = Linear(parts, 5)(parts)
    with tf.variable_scope("plain"):
        plain = _linear(parts[0], 5, False)
    assert [v.op.name for v in tf.global_variables()] == [
        "cell/kernel", "cell/bias", "plain/kernel",
    ]  # fmt: skip
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run([joined, again, plain])
    for value, expected in zip(found, [3, 3, 1.5], strict=True):
        np.testing.assert_array_equal(value, np.full([2, 5], expected))
    for nothing in (None, []):
        with pytest.raises(ValueError, match="`args` must be specified"):
            _linear(nothing, 5, True)
