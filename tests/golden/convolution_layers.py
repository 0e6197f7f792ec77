"""Layers with windows, and batch normalization, in real TF 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
IMAGE = np.sin(np.arange(2 * 6 * 5 * 3).reshape(2, 6, 5, 3)).astype(np.float32)
LINE = IMAGE[:, :, 0]
BLOCK = IMAGE.reshape(2, 3, 2, 5, 3)


def _with_gradients(tf, found):
    return found + tf.gradients(found, tf.trainable_variables())


def conv2d(tf):
    x = tf.placeholder_with_default(IMAGE, [None, 6, 5, 3], "x")
    y = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.conv2d(y, 2, (2, 1), strides=(1, 2), name="second", use_bias=False)
    y = tf.layers.average_pooling2d(y, (2, 1), 1, padding="SAME")
    layer = tf.layers.Conv2D(2, 1, kernel_regularizer=tf.nn.l2_loss)
    y = layer(layer(y))
    with tf.variable_scope("scope", use_resource=True):
        z = tf.layers.conv2d(y, 1, [1, 1], bias_initializer=tf.ones_initializer())
    return _with_gradients(tf, [y, z])


def conv2d_dilated(tf):
    x = tf.placeholder_with_default(IMAGE, [None, 6, 5, 3], "x")
    free = tf.placeholder_with_default(IMAGE, [None, None, None, 3], "free")
    found = [
        tf.layers.conv2d(x, 2, 2, dilation_rate=2),
        tf.layers.conv2d(x, 2, 3, padding="same", dilation_rate=(2, 1)),
        tf.layers.conv2d(free, 2, 3, padding="same", dilation_rate=2),
    ]
    twice = tf.layers.Conv2D(2, 2, dilation_rate=2)
    found.append(tf.concat([twice(x), twice(x * 2.0)], 0))
    return _with_gradients(tf, found)


def conv1d(tf):
    x = tf.constant(LINE)
    found = [
        tf.layers.conv1d(x, 2, 3),
        tf.layers.conv1d(x, 2, 2, 2, "same", activation="relu"),
        tf.layers.Conv1D(2, 3, padding="causal")(x),
    ]
    return _with_gradients(tf, found)


def conv3d(tf):
    x = tf.constant(BLOCK)
    found = [
        tf.layers.conv3d(x, 2, 2),
        tf.layers.conv3d(x, 2, (1, 2, 3), (1, 1, 2), padding="same", use_bias=False),
    ]
    return _with_gradients(tf, found)


def transposed(tf):
    x = tf.placeholder_with_default(IMAGE, [None, 6, 5, 3], "x")
    free = tf.placeholder_with_default(IMAGE, [None, None, None, 3], "free")
    found = [
        tf.layers.conv2d_transpose(x, 2, 3, 2, padding="same", activation=tf.nn.relu),
        tf.layers.conv2d_transpose(free, 2, (3, 2), strides=(1, 2)),
    ]
    return _with_gradients(tf, found)


def transposed_3d(tf):
    found = [tf.layers.conv3d_transpose(tf.constant(BLOCK), 2, 2, (1, 2, 1))]
    return _with_gradients(tf, found)


def separable(tf):
    x = tf.constant(IMAGE)
    found = [
        tf.layers.separable_conv2d(x, 4, 3),
        tf.layers.separable_conv2d(
            x, 2, (2, 3), padding="same", depth_multiplier=2, activation=tf.nn.relu
        ),
        tf.layers.separable_conv1d(tf.constant(LINE), 4, 3, use_bias=False),
    ]
    return _with_gradients(tf, found)


def pooling(tf):
    x, line = tf.constant(IMAGE), tf.constant(LINE)
    found = [
        tf.layers.max_pooling1d(line, 2, 2),
        tf.layers.average_pooling1d(line, 3, 2, padding="same"),
        tf.layers.max_pooling2d(x, (3, 2), (2, 1), padding="same"),
        tf.layers.MaxPooling2D(2, 2)(x),
    ]
    return found + tf.gradients(found, [x, line])


def pooling_3d(tf):
    block = tf.constant(BLOCK)
    found = [
        tf.layers.max_pooling3d(block, 2, 1),
        tf.layers.average_pooling3d(block, 2, 2, padding="same", name="own"),
    ]
    return found + tf.gradients(found, block)


def channels_first(tf):
    x = tf.constant(IMAGE, name="x")
    line = tf.constant(LINE)
    tf.layers.conv2d(x, 2, 3, data_format="channels_first")
    tf.layers.conv2d(x, 2, 2, data_format="channels_first", dilation_rate=2)
    tf.layers.conv1d(line, 2, 2, data_format="channels_first")
    tf.layers.separable_conv2d(x, 2, 2, data_format="channels_first")
    tf.layers.max_pooling2d(x, 2, 2, data_format="channels_first")
    tf.layers.batch_normalization(x, axis=1, training=True)
    tf.contrib.layers.conv2d(x, 2, 3, data_format="NCHW")
    tf.contrib.layers.batch_norm(x, data_format="NCHW")
    options = {"data_format": "NCHW", "updates_collections": None}
    tf.contrib.layers.batch_norm(x, **options)
    tf.contrib.layers.batch_norm(x, fused=False, **options)
    tf.contrib.layers.bias_add(x, data_format="NCHW")
    return []  # no CPU of TensorFlow's convolves so


def normalized(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    training = tf.placeholder_with_default(True, [], "training")
    found = [
        tf.layers.batch_normalization(x),
        tf.layers.batch_normalization(x, training=True, momentum=0.5),
        tf.layers.batch_normalization(x, training=training, name="own"),
        tf.layers.batch_normalization(x, center=False, training=True),
        tf.layers.batch_normalization(x, scale=False, training=1, trainable=False),
    ]
    return _step(tf, found)


def normalized_images(tf):
    x = tf.placeholder_with_default(IMAGE, [None, 6, 5, 3], "x")
    training = tf.placeholder_with_default(False, [], "training")
    found = [
        tf.layers.batch_normalization(x),
        tf.layers.batch_normalization(x, training=True),
        tf.layers.batch_normalization(x, training=training, epsilon=0.1),
        tf.layers.batch_normalization(x, training=True, scale=False, center=False),
        tf.layers.batch_normalization(x, training=training, fused=False),
        tf.layers.batch_normalization(x, axis=2, training=True),
        tf.layers.batch_normalization(x, axis=[1, 3], training=True),
    ]
    return _step(tf, found)


def normalized_twice(tf):
    x = tf.constant(IMAGE)
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(1)):
        layer = tf.layers.BatchNormalization(
            beta_regularizer=tf.nn.l2_loss, gamma_initializer="zeros"
        )
        y = layer(layer(x, training=True), training=True)
    z = layer(y)
    with tf.variable_scope("b", use_resource=True):
        z = tf.layers.batch_normalization(z, training=True)
        z = tf.layers.batch_normalization(z, fused=False, training=True)
    _with_gradients(tf, [y, z])  # of rounding errors: built, not compared
    return [y, z]


def _step(tf, found):
    loss = tf.add_n([tf.reduce_sum(tf.square(y)) for y in found])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return [*found, step, step, *found]


GRAPHS = [
    conv2d, conv2d_dilated, conv1d, conv3d, transposed, transposed_3d, separable,
    pooling, pooling_3d, channels_first, normalized, normalized_images,
    normalized_twice,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
