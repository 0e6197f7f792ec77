"""Layers: names, attributes, and what is refused, in TensorFlow's words."""

import numpy as np
import pytest

import tfteach as tf

X = np.ones([2, 3], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_what_a_layer_knows_of_itself():
    layer = tf.layers.Dense(4, kernel_constraint=tf.abs)
    assert (layer.name, layer.dtype, layer.built) == ("dense_1", None, False)
    y = layer(X)
    assert (layer.scope_name, layer.dtype, layer.built) == ("dense", "float32", True)
    assert [v.name for v in layer.variables] == ["dense/kernel:0", "dense/bias:0"]
    assert layer.variables == layer.trainable_variables == tf.trainable_variables()
    assert layer.kernel.constraint is tf.abs
    assert layer.count_params() == 16
    assert repr(layer.input_spec) == "InputSpec(min_ndim=2, axes={-1: 3})"
    assert layer.updates == layer.losses == layer.non_trainable_weights == []
    assert y.name == "dense/BiasAdd:0"
    assert layer(X).name == "dense/BiasAdd_1:0"
    layer.trainable = False
    assert layer.trainable_weights == []
    assert layer.non_trainable_weights == tf.trainable_variables()
    assert str(layer.compute_output_shape([None, 3])) == "(?, 4)"


def test_updates_and_losses_by_input():
    class Counter(tf.layers.Layer):
        def build(self, input_shape):
            self.total = self.add_weight(
                "total", input_shape[1:], initializer="zeros", trainable=False
            )
            super().build(input_shape)

        def call(self, inputs):
            self.add_update(tf.assign_add(self.total, tf.reduce_sum(inputs, 0)))
            self.add_update(tf.assign_sub(self.total, tf.ones([3])))
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            self.add_loss(lambda: tf.reduce_sum(self.total))
            return inputs

    x = tf.constant(X)
    layer = Counter()
    layer(x)
    first, second = layer.updates
    assert layer.get_updates_for(x) == [first]
    assert layer.get_updates_for(None) == [second]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == [first, second]
    assert [loss.op.type for loss in layer.get_losses_for([x])] == ["Sum"]
    assert len(layer.get_losses_for(None)) == 1
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 2
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(first)
        assert sess.run(layer.total).tolist() == [2, 2, 2]


def _twice(**options):
    tf.layers.dense(X, 4, name="d")
    tf.layers.dense(X, name="d", **options)


def _other_size():
    layer = tf.layers.Dense(4)
    layer(X)
    layer(np.ones([2, 5], np.float32))


class Nothing(tf.layers.Layer):
    def call(self, inputs):
        return None


FREE = tf.float32, [None, None]

BAD = [
    (
        lambda: tf.layers.dense(X[0], 4),
        "Input 0 of layer dense_1 is incompatible with the layer: : expected "
        "min_ndim=2, found ndim=1. Full shape received: [3]",
    ),
    (
        lambda: tf.layers.dense(tf.placeholder(tf.float32), 4, name="d"),
        "Input 0 of layer d is incompatible with the layer: its rank is undefined, but "
        "the layer requires a defined rank.",
    ),
    (
        lambda: tf.layers.dense(tf.placeholder(*FREE), 4),
        "The last dimension of the inputs to `Dense` should be defined. Found `None`.",
    ),
    (
        _other_size,
        "Input 0 of layer dense_1 is incompatible with the layer: expected axis -1 of "
        "input shape to have value 3 but received input with shape [2, 5]",
    ),
    (
        lambda: tf.layers.dense(X.tolist(), 4),
        "Layer dense_1 expects 1 inputs, but it received 6 input tensors.",
    ),
    (lambda: tf.layers.dense(X, 4, "foo"), "Unknown activation function:foo"),
    (
        lambda: tf.layers.dense(X, 4, kernel_initializer="foo"),
        "Unknown initializer:foo",
    ),
    (
        lambda: tf.layers.dense(X, 4, kernel_regularizer="foo"),
        "Unknown regularizer:foo",
    ),
    (lambda: tf.layers.Dense(4, bias_constraint="foo"), "Unknown constraint: foo"),
    (lambda: _twice(units=4), "Variable d/kernel already exists, disallowed."),
    (
        lambda: _twice(units=5, reuse=True),
        "Trying to share variable d/kernel, but specified shape (3, 5) and found shape "
        "(3, 4).",
    ),
    (
        lambda: tf.layers.dense(X, 4, reuse=True),
        "Variable dense/kernel does not exist, or was not created with "
        "tf.get_variable().",
    ),
    (
        lambda: tf.layers.Dense(4).scope_name,
        'No name available for layer scope because the layer "dense_1" has not been '
        "used yet.",
    ),
    (
        lambda: tf.layers.Dense(4).count_params(),
        "You tried to call `count_params` on dense_1, but the layer isn't built.",
    ),
    (
        lambda: tf.layers.Dense(4).compute_output_shape([None, None]),
        "The innermost dimension of input_shape must be defined, but saw: (?, ?)",
    ),
    (
        lambda: tf.layers.flatten(tf.constant(1.0)),
        ": expected min_ndim=1, found ndim=0. Full shape received: []",
    ),
    (
        lambda: Nothing()(X),
        "A layer's `call` method should return a Tensor or a list of Tensors, not None "
        "(layer: nothing_1).",
    ),
    (
        lambda: tf.layers.InputSpec(ndim=2, axes={3: 1}),
        "Axis 3 is greater than the maximum allowed value: 1",
    ),
]


@pytest.mark.parametrize(("build", "words"), BAD, ids=[w[:30] for _, w in BAD])
def test_values_that_are_refused(build, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        build()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda: tf.layers.dense(tf.constant([[1]]), 4),
            "Unable to build `Dense` layer with non-floating point dtype "
            "<dtype: 'int32'>",
        ),
        (
            lambda: tf.layers.Dense(4, foo=3),
            "'Keyword argument not understood:', 'foo'",
        ),
        (lambda: tf.layers.InputSpec(axes={"a": 1}), "keys in axes must be integers."),
    ],
)
def test_types_that_are_refused(build, words):
    with pytest.raises(TypeError) as caught:
        build()
    assert words in str(caught.value)
