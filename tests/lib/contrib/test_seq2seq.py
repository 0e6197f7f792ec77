"""contrib.seq2seq: what is refused, in TensorFlow's words; the graphs are golden."""

import logging

import numpy as np
import pytest

import tfteach as tf

seq = tf.contrib.seq2seq
X = np.ones([2, 3, 2], np.float32)
MEMORY = np.ones([2, 4, 3], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def gru(units=3):
    return tf.nn.rnn_cell.GRUCell(units)


def zero(rows=2, units=3):
    return tf.zeros([rows, units])


def helper():
    return seq.TrainingHelper(X, [3, 2])


def decode(layer=None, **options):
    decoder = seq.BasicDecoder(gru(), helper(), zero(), layer)
    return seq.dynamic_decode(decoder, **options)


def custom(next_inputs):
    """A decoder whose helper gives this after a step."""
    made = seq.CustomHelper(
        lambda: (tf.zeros([2], tf.bool), tf.zeros([2, 2])),
        lambda time, outputs, state: tf.zeros([2], tf.int32),
        lambda time, outputs, state, sample_ids: next_inputs(state),
    )
    return seq.dynamic_decode(seq.BasicDecoder(gru(), made, zero()))


def looked_up(start, end=0):
    return seq.GreedyEmbeddingHelper(tf.ones([3, 2]), start, end)


def luong(units=3, *args, **options):
    return seq.LuongAttention(units, MEMORY, *args, **options)


def wrapped(mechanism=None, **options):
    return seq.AttentionWrapper(gru(), mechanism or luong(), **options)


def attended(query, mechanism):
    return evaluated(mechanism(query, None)[0])


def beam(state=None, start=(1, 2), end=0, cell=None, **options):
    state = zero(4) if state is None else state
    cell = cell or gru()
    return seq.BeamSearchDecoder(cell, tf.ones([5, 3]), start, end, state, 2, **options)


def evaluated(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def late(value, shape=None):
    return tf.placeholder_with_default(value, shape)


def cloned(**parts):
    return wrapped().zero_state(2, tf.float32).clone(**parts)


def outputs_of(outputs):
    """Decoding by a decoder whose step gives this."""

    class Own(seq.Decoder):
        batch_size, output_size, output_dtype = 2, tf.TensorShape([1]), tf.float32

        def initialize(self, name=None):
            return tf.zeros([2], tf.bool), tf.zeros([2]), tf.zeros([2])

        def step(self, time, inputs, state, name=None):
            return outputs(), state, inputs, tf.zeros([2], tf.bool)

    return seq.dynamic_decode(Own())


VECTOR = "sampling_probability must be either a scalar or a vector. saw shape: .1, 1."
NESTED = "The two structures don't have the same nested structure."
MISMATCH = "Non-matching batch sizes between the memory"
MODE = "mode must be 'recursive', 'parallel', or 'hard'."


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: seq.dynamic_decode(3), TypeError,
         "Expected decoder to be type Decoder, but saw: <class 'int'>"),
        (lambda: decode(maximum_iterations=[1, 2]), ValueError,
         "maximum_iterations must be a scalar"),
        (lambda: decode(decoder_init_input=3), TypeError, "decoder_init_input"),
        (seq.Decoder, TypeError, "abstract methods '?initialize'?, '?step"),
        (seq.Helper, TypeError, "abstract methods '?batch_size'?, '?initialize"),
        (lambda: seq.BasicDecoder(3, helper(), zero()), TypeError, "not an RNNCell"),
        (lambda: seq.BasicDecoder(gru(), 3, zero()), TypeError,
         "helper must be a Helper, received: <class 'int'>"),
        (lambda: seq.BasicDecoder(gru(), helper(), zero(), abs), TypeError,
         "output_layer must be a Layer, received: "),
        (lambda: decode(layer=tf.layers.Conv1D(2, 1)), ValueError,
         "is incompatible with the layer: expected ndim=3, found ndim=2."),
        (lambda: seq.TrainingHelper(X, [[3, 2]]), ValueError,
         r"Expected sequence_length to be a vector, but received shape: \(1, 2\)"),
        (lambda: looked_up(1), ValueError, "start_tokens must be a vector"),
        (lambda: looked_up([1], [0]), ValueError, "end_token must be a scalar"),
        (lambda: looked_up([1]).sample(0, (1, 2), None), TypeError,
         "Expected outputs to be a single Tensor, got: <class 'tuple'>"),
        (lambda: seq.ScheduledEmbeddingTrainingHelper(X, [3, 2], X[0], [[0.5]]),
         ValueError, VECTOR),
        (lambda: seq.ScheduledOutputTrainingHelper(X, [3, 2], [[0.5]]), ValueError,
         VECTOR),
        (lambda: seq.CustomHelper(None, None, None).batch_size, ValueError,
         "batch_size accessed before initialize was called"),
        (lambda: custom(lambda s: (tf.zeros([2], tf.bool), zero(2, 2), (s, s))),
         ValueError, NESTED),
        (lambda: custom(lambda s: (tf.zeros([2], tf.bool), zero(), s)), ValueError,
         r"enters the loop with shape \(2, 2\), but has shape \(2, 3\)"),
        (lambda: outputs_of(lambda: (zero(2, 1), zero(2, 1))), ValueError, NESTED),
        (lambda: outputs_of(zero), ValueError,
         r"Inconsistent shapes: saw \(2, 3\) but expected \(2, 1\)"),
        (lambda: seq.LuongAttention(3, tf.placeholder(tf.float32, [2, 4, None])),
         ValueError, "Expected memory Placeholder:0 to have fully defined inner dims"),
        (lambda: luong(4)(zero(), None), ValueError,
         r"Incompatible or unknown inner dimensions .* set num_units to .* \(4\)\?"),
        (lambda: attended(zero(), luong(3, [4, 0])), tf.errors.InvalidArgumentError,
         "All values in memory_sequence_length must be greater than zero."),
        (lambda: attended(zero(), luong(3, late([4, 0], [None]))),
         tf.errors.InvalidArgumentError,
         "All values in memory_sequence_length must be greater than zero."),
        (lambda: seq.AttentionWrapper(3, luong()), TypeError, "is not an RNNCell"),
        (lambda: seq.AttentionWrapper(gru(), 3), TypeError,
         "must be an AttentionMechanism or list of multiple AttentionMechanism insta"),
        (lambda: seq.AttentionWrapper(gru(), [luong(), 3]), TypeError,
         "must contain only instances of AttentionMechanism, saw type: int"),
        (lambda: wrapped(cell_input_fn=3), TypeError,
         "cell_input_fn must be callable, saw type: int"),
        (lambda: wrapped(attention_layer_size=3, attention_layer=3), ValueError,
         "Only one of attention_layer_size and attention_layer should be set"),
        (lambda: wrapped(attention_layer_size=[3, 4]), ValueError,
         "must contain exactly one integer per attention_mechanism, saw: 2 vs 1"),
        (lambda: wrapped(attention_layer=[3, 4]), ValueError,
         "must contain exactly one layer per attention_mechanism, saw: 2 vs 1"),
        (lambda: wrapped(name="a").zero_state(3, tf.float32),
         tf.errors.InvalidArgumentError, f"AttentionWrapper a: {MISMATCH}"),
        (lambda: wrapped(initial_cell_state=zero(3)), tf.errors.InvalidArgumentError,
         f"When constructing AttentionWrapper attention_wrapper: {MISMATCH}"),
        (lambda: wrapped()(zero(), zero()), TypeError,
         "Expected state to be instance of AttentionWrapperState. Received type"),
        (lambda: cloned(cell_state=zero(3)), ValueError,
         r"Invalid shape for tensor zeros:0, expected \[2 3\], got \(3, 3\)."),
        (lambda: cloned(cell_state=(zero(), zero())), ValueError, NESTED),
        (lambda: evaluated(cloned(cell_state=late(np.ones([3, 3], "f"), [None, 3]))[0]),
         tf.errors.InvalidArgumentError,
         "Wrong shape for PlaceholderWithDefault:0 .expected. .actual... .2 3. .3 3."),
        (lambda: seq.monotonic_attention([[1.0]], [[1.0]], "soft"), ValueError, MODE),
        (lambda: seq.tile_batch(1.0, 2), ValueError, "must have statically known rank"),
        (lambda: beam(output_layer=3), TypeError, "output_layer must be a Layer"),
        (lambda: beam(start=1), ValueError, "start_tokens must be a vector"),
        (lambda: beam(end=[0]), ValueError, "end_token must be a scalar"),
        (lambda: beam(zero(2)), ValueError,
         r"Cannot reshape a tensor with 6 elements to shape \[2,2,3\]"),
        (lambda: beam(tf.placeholder(tf.float32)), ValueError,
         "to have known rank, but ndims == None."),
        (lambda: beam((zero(4), zero(4))), ValueError, NESTED),
        (lambda: seq.dynamic_decode(beam(coverage_penalty_weight=0.1)), ValueError,
         "coverage_penalty_weight must be 0.0 if no cell is attentional."),
        (lambda: seq.dynamic_decode(beam(length_penalty_weight=[0.1])), ValueError,
         "Shapes must be equal rank, but are 1 and 0"),
        (lambda: evaluated(seq.gather_tree(late([[1]]), [[[1]]], [1], 0)),
         tf.errors.InvalidArgumentError, r"must be a 3-tensor, saw shape: \[1,1\]"),
        (lambda: evaluated(seq.gather_tree([[[1]]] * 2, [[[3]]] * 2, [2], 0)),
         tf.errors.InvalidArgumentError,
         r"Saw invalid parent id 3 at \(batch, time, beam\) == \(0, 0, 0\)"),
    ],
)  # fmt: skip
def test_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


@pytest.mark.parametrize(
    ("expected", "value", "words"),
    [
        ([2, 2], tf.ones, r"Invalid shape for tensor ones:0, expected \[2 2\], got"),
        ([[2, 3]], tf.ones, "Invalid rank 2 for shape"),
        ([2.5, 3], tf.ones, "Invalid dtype float64 for shape"),
    ],
)
def test_shapes_that_are_known_are_checked_at_once(expected, value, words):
    with pytest.raises(ValueError, match=words):
        tf.contrib.framework.with_shape(expected, value([2, 3]))


def test_shapes_that_are_not_known_are_checked_in_the_run():
    with_shape = tf.contrib.framework.with_shape
    x = late(np.ones([2, 3], np.float32), [None, 3])
    assert with_shape([2, 3], x).shape == [2, 3]
    assert evaluated(with_shape(tf.constant([-1, 3]), x)).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2 2\] \[2 3\]"):
        evaluated(with_shape([2, 2], late(np.ones([2, 3]))))
    one = tf.ones([1])
    assert evaluated(with_shape([], one)).shape == ()
    assert with_shape([1], one) is one


@pytest.mark.parametrize("reordered", [True, False])
def test_histories_that_beams_cannot_order_stay_as_they_are(reordered, caplog):
    memory = seq.tile_batch(tf.constant(MEMORY), 2)
    cell = seq.AttentionWrapper(
        gru(), seq.LuongAttention(3, memory), alignment_history=True
    )
    decoder = beam(
        cell.zero_state(4, tf.float32), cell=cell, reorder_tensor_arrays=reordered
    )
    with caplog.at_level(logging.WARNING, "tensorflow"):
        _, state, _ = seq.dynamic_decode(decoder, maximum_iterations=2)
    said = "which is incompatible with the current shape (4, 4)."
    assert (said in caplog.text) is reordered
    assert evaluated(state.cell_state.alignment_history.stack()).shape == (2, 4, 4)


def test_a_decoder_may_say_itself_what_has_finished_and_what_is_returned():
    class Blinking(seq.Decoder):
        batch_size, output_size, output_dtype = 2, tf.TensorShape([]), tf.int32
        tracks_own_finished = True

        def initialize(self, name=None):
            return tf.constant([False, True]), (), tf.constant(0)

        def step(self, time, inputs, state, name=None):
            finished = tf.constant([[True, False], [True, True]])[time]
            return tf.fill([2], time), state + 1, (), finished

        def finalize(self, outputs, final_state, sequence_lengths):
            return outputs + 10, -final_state

    outputs, state, lengths = evaluated(seq.dynamic_decode(Blinking()))
    assert outputs.tolist() == [[10, 11]] * 2
    assert (state, lengths.tolist()) == (-2, [1, 2])


def test_coverage_counts_the_attention_of_a_cell_among_several():
    memory = seq.tile_batch(tf.constant(MEMORY), 2)
    attentive = seq.AttentionWrapper(gru(), seq.LuongAttention(3, memory))
    cell = tf.nn.rnn_cell.MultiRNNCell([attentive, gru()])
    start = cell.zero_state(4, tf.float32)
    decoder = beam(start, end=9, cell=cell, coverage_penalty_weight=0.3)
    _, state, lengths = seq.dynamic_decode(decoder, maximum_iterations=3)
    attention, lengths = evaluated([state.accumulated_attention_probs, lengths])
    assert lengths.tolist() == [[3, 3], [3, 3]]
    np.testing.assert_allclose(attention.sum(2), lengths, rtol=1e-5)
