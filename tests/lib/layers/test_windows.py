"""Convolutions, pools and batch normalization: shapes, and what is refused."""

import numpy as np
import pytest

import tfteach as tf

X = np.ones([2, 3], np.float32)
IMAGE = np.ones([2, 6, 5, 3], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("layer", "given", "wanted"),
    [
        (lambda: tf.layers.Conv2D(3, 2), [None, 6, 5, 3], [None, 5, 4, 3]),
        (
            lambda: tf.layers.Conv2D(3, 3, 2, "same", "channels_first"),
            [2, 3, 6, None],
            [2, 3, 3, None],
        ),
        (lambda: tf.layers.Conv1D(2, 3, dilation_rate=2), [4, 9, 1], [4, 5, 2]),
        (
            lambda: tf.layers.Conv2DTranspose(3, 2, 2),
            [None, 4, 5, 2],
            [None, 8, 10, 3],
        ),
        (
            lambda: tf.layers.MaxPooling2D(2, 2, "same"),
            [None, 5, 4, 2],
            [None, 3, 2, 2],
        ),
        (lambda: tf.layers.AveragePooling1D(2, 2), [1, 5, 4], [1, 2, 4]),
        (lambda: tf.layers.BatchNormalization(), [None, 4], [None, 4]),
    ],
)
def test_output_shapes_are_known_without_a_call(layer, given, wanted):
    found = layer().compute_output_shape(tf.TensorShape(given))
    assert tf.TensorShape(found).as_list() == wanted
    x = tf.placeholder(tf.float32, given)
    assert layer()(x).shape.as_list() == wanted


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda: tf.layers.conv2d(X, 4, 3),
            "Input 0 of layer conv2d_1 is incompatible with the layer: expected "
            "ndim=4, found ndim=2. Full shape received: [2, 3]",
        ),
        (
            lambda: tf.layers.conv2d(IMAGE, 4, (3, 3, 3)),
            "The `kernel_size` argument must be a tuple of 2 integers. Received: "
            "(3, 3, 3)",
        ),
        (
            lambda: tf.layers.Conv2D(4, 3, strides=1.5),
            "The `strides` argument must be a tuple of 2 integers. Received: 1.5",
        ),
        (
            lambda: tf.layers.Conv2D(4, 3, padding="foo"),
            'The `padding` argument must be a list/tuple or one of "valid", "same"',
        ),
        (
            lambda: tf.layers.Conv2D(4, 3, padding="causal"),
            "Causal padding is only supported for `Conv1D`",
        ),
        (
            lambda: tf.layers.Conv2D(4, 3, data_format="foo"),
            'The `data_format` argument must be one of "channels_first", '
            '"channels_last". Received: foo',
        ),
        (
            lambda: tf.layers.conv2d(tf.placeholder(tf.float32, [1, 5, 5, None]), 4, 3),
            "The channel dimension of the inputs should be defined. Found `None`.",
        ),
        (
            lambda: tf.layers.conv2d(IMAGE, 4, 3, strides=2, dilation_rate=2),
            "strides > 1 not supported in conjunction with dilation_rate > 1",
        ),
        (
            lambda: tf.layers.conv2d(IMAGE, 4, 9),
            "Negative dimension size caused by subtracting 9 from 6",
        ),
        (
            lambda: tf.layers.MaxPooling2D(2, None),
            "Argument `strides` must not be None.",
        ),
        (
            lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32)),
            "Input has undefined rank:",
        ),
        (
            lambda: tf.layers.batch_normalization(
                tf.placeholder(tf.float32, [2, None])
            ),
            "Input has undefined `axis` dimension. Input shape: ",
        ),
        (lambda: tf.layers.batch_normalization(X, axis=5), "Invalid axis: 5"),
        (
            lambda: tf.layers.batch_normalization(X, axis=[1, 1]),
            "Duplicate axis: [1, 1]",
        ),
    ],
)
def test_values_that_are_refused(build, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        build()
    assert words in str(caught.value)


def test_axis_of_a_wrong_type():
    with pytest.raises(TypeError, match="axis must be int or list, type given"):
        tf.layers.batch_normalization(X, axis="a")


def test_averages_move_only_when_the_update_ops_run():
    x = tf.placeholder(tf.float32, [None, 1])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, momentum=0.5, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean = tf.global_variables()[2]
    feeds = {x: [[1.0], [3.0]], training: True}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(y, feeds)
        assert sess.run(mean) == 0
        sess.run(updates, feeds)
        assert sess.run(mean) == 1
        sess.run(updates, {**feeds, training: False})
        assert sess.run(mean) == 1


def test_an_empty_batch_passes():
    x = tf.placeholder(tf.float32, [None, 6, 5, 3])
    y = tf.layers.flatten(tf.layers.max_pooling2d(tf.layers.conv2d(x, 2, 3), 2, 1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(y, {x: np.zeros([0, 6, 5, 3])}).shape == (0, 12)
