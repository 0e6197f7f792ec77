"""Layers in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
IMAGE = np.sin(np.arange(2 * 6 * 5 * 3).reshape(2, 6, 5, 3)).astype(np.float32)


def _x(tf):
    return tf.placeholder_with_default(X, [None, 3], "x")


def dense(tf):
    x = _x(tf)
    y = tf.layers.dense(x, 4, tf.nn.relu)
    y = tf.layers.dense(y, 2, "tanh", use_bias=False, name="second")
    with tf.variable_scope("outer"):
        z = tf.layers.dense(y, 3, kernel_initializer=tf.ones_initializer())
        z = tf.layers.dense(z, 1, activation="sigmoid", trainable=False)
    loss = tf.reduce_sum(z)
    return [y, z, *tf.gradients(loss, [*tf.trainable_variables(), x])]


def dense_of_rank_3(tf):
    x = tf.constant(X.reshape(2, 3, 1), name="x")
    free = tf.placeholder_with_default(X.reshape(3, 1, 2), [None, None, 2])
    y, z = tf.layers.dense(x, 2, tf.nn.relu), tf.layers.dense(free, 2)
    return [y, z, *tf.gradients([y, z], tf.trainable_variables())]


def regularized(tf):
    options = {
        "kernel_regularizer": tf.nn.l2_loss,
        "bias_regularizer": lambda b: tf.reduce_sum(tf.abs(b)),
        "activity_regularizer": lambda y: 0.1 * tf.nn.l2_loss(y),
    }
    y = tf.layers.dense(X, 2, name="a", **options)
    tf.layers.dense(y, 2, name="b", kernel_regularizer=lambda w: None)
    y = tf.layers.dense(y[:, :1] + X, 2, name="a", reuse=True, **options)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(
        tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    )
    return [y, step]


def classes_and_reuse(tf):
    x = _x(tf)
    layer = tf.layers.Dense(3, name="shared")
    y = layer(layer(x))
    other = tf.layers.Dense(3)
    with tf.name_scope("names"):
        y = other(y)
    y = other.apply(y)
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        for _ in range(2):
            y = tf.layers.dense(y, 3, name="again")
    y = tf.layers.dense(y, 3, name="scope/again", reuse=True)
    with tf.variable_scope("scope", reuse=True):
        y = tf.layers.dense(y, 3, name="again", use_bias=False)
    return [y, *layer.trainable_weights, *other.weights]


def scope_defaults(tf):
    with tf.variable_scope(
        "a",
        initializer=tf.constant_initializer(0.5),
        regularizer=tf.nn.l2_loss,
        use_resource=True,
    ):
        y = tf.layers.dense(_x(tf), 2)
    with tf.variable_scope("b", partitioner=tf.fixed_size_partitioner(2)):
        z = tf.layers.dense(y, 4, kernel_regularizer=tf.nn.l2_loss)
        z = tf.layers.dense(z, 2, name="named")
    return [y, z, *tf.gradients(z, tf.trainable_variables())]


def dense_types(tf):
    y = tf.layers.dense(tf.constant(X, tf.float64), 2)
    return [y, tf.layers.Dense(2, dtype=tf.float64)(tf.constant(X))]


def dropout(tf):
    x, training = _x(tf), tf.placeholder_with_default(True, [], "training")
    return [
        tf.layers.dropout(x),
        tf.layers.dropout(x, 0.25, training=True),
        tf.layers.dropout(x, rate=0.4, training=training, name="own"),
        tf.layers.dropout(x, 0.5, noise_shape=[None, 1], seed=3, training=1),
        tf.layers.Dropout(0.3)(x, training=tf.constant(True)),
        tf.layers.dropout(x, 0.3, training=None),
        tf.gradients(tf.layers.dropout(x * 2.0, training=training), x)[0],
    ]


def flatten(tf):
    free = tf.placeholder_with_default(IMAGE, [None, None, 5, 3], "free")
    return [
        tf.layers.flatten(IMAGE),
        tf.layers.flatten(tf.placeholder_with_default(IMAGE, [None, 6, 5, 3])),
        tf.layers.flatten(free, name="own", data_format="channels_first"),
        tf.layers.Flatten()(X[0]),
        tf.gradients(tf.layers.flatten(free) * 2.0, free)[0],
    ]


def _scaled(tf):
    class MyScale(tf.layers.Layer):
        def build(self, input_shape):
            size = input_shape[-1]
            self.factor = self.add_variable(
                "factor", [size], initializer=tf.ones_initializer()
            )
            self.add_weight("count", [], tf.int32, trainable=False)
            super(MyScale, self).build(input_shape)  # noqa: UP008

        def call(self, inputs, training=None):
            self.add_update(tf.assign_add(self.non_trainable_weights[0], 1))
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            return inputs * self.factor

    return MyScale


def own_class(tf):
    x = _x(tf)
    layer = _scaled(tf)()
    y = layer(x, training=True)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        z = layer(tf.square(y))
    return [z, layer.losses[0], layer.updates[0], *tf.gradients(z, layer.factor)]


GRAPHS = [
    dense, dense_of_rank_3, regularized, classes_and_reuse, scope_defaults, dense_types,
    dropout, flatten, own_class,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
