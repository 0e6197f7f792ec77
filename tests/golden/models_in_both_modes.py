"""Models trained by one source in graphs and in eager programs of TensorFlow 1.15.

`python models_in_both_modes.py` with the oracle's Python writes the JSON file of this
name: the losses of a few steps and the variables after them.  In a graph a session runs
the step that the source builds, in an eager program the source is run for each step.
The loss may also be a `tf.function`.
tests/lib/test_models_in_both_modes.py runs the same functions.
"""

import json
from pathlib import Path

import numpy as np

STEPS = 4
IMAGES = np.sin(np.arange(8 * 6 * 6)).reshape(8, 6, 6, 1).astype(np.float32)
LABELS = np.arange(8) % 3
WORDS = np.sin(np.arange(4 * 5 * 3)).reshape(4, 5, 3).astype(np.float32)
LENGTHS = np.array([5, 2, 4, 1], np.int32)
TARGETS = np.array([[0.5], [-0.5], [0.25], [1.0]], np.float32)


class Model:
    """Layers, a loss and its optimizer.

    Attributes:
      optimizer: updates the variables.
      updates: operations of a step besides, such as moving averages; none in eager
        programs, where they have run.
    """

    updates = ()

    def loss(self):
        raise NotImplementedError


class Perceptron(Model):
    """Two dense layers with dropout, written as layers that are called again."""

    def __init__(self, tf):
        self.tf = tf
        initializer = tf.initializers.he_normal(seed=1)
        decay = tf.contrib.layers.l2_regularizer(0.01)
        self.flatten = tf.layers.Flatten()
        self.hidden = tf.layers.Dense(
            5, tf.nn.relu, kernel_initializer=initializer, kernel_regularizer=decay
        )
        self.dropout = tf.layers.Dropout(0.25, seed=2)
        self.output = tf.layers.Dense(
            3, kernel_initializer=tf.glorot_uniform_initializer(seed=3)
        )
        self.optimizer = tf.train.AdamOptimizer(0.05)

    def loss(self):
        hidden = self.hidden(self.flatten(self.tf.constant(IMAGES)))
        logits = self.output(self.dropout(hidden, training=True))
        cross_entropy = self.tf.losses.sparse_softmax_cross_entropy(LABELS, logits)
        return cross_entropy + self.tf.add_n(self.hidden.losses)


class ConvNet(Model):
    """Convolution, batch normalization and pooling."""

    def __init__(self, tf):
        self.tf = tf
        self.convolution = tf.layers.Conv2D(
            4,
            3,
            padding="same",
            use_bias=False,
            kernel_initializer=tf.glorot_normal_initializer(seed=1),
        )
        self.normalization = tf.layers.BatchNormalization(momentum=0.75)
        self.pooling = tf.layers.MaxPooling2D(2, 2)
        self.output = tf.layers.Dense(
            3, kernel_initializer=tf.glorot_uniform_initializer(seed=2)
        )
        self.optimizer = tf.train.MomentumOptimizer(0.1, 0.9)

    def loss(self):
        tf = self.tf
        inputs = self.convolution(tf.constant(IMAGES))
        inputs = tf.nn.relu(self.normalization(inputs, training=True))
        logits = self.output(tf.layers.flatten(self.pooling(inputs)))
        self.updates = self.normalization.updates
        return tf.losses.softmax_cross_entropy(tf.one_hot(LABELS, 3), logits)


class Recurrent(Model):
    """An LSTM over sequences of different lengths, with gradients of a limited norm.

    Its variables differ in the two modes: the ops of an initializer with a seed are one
    stream of random numbers in an eager program.
    """

    def __init__(self, tf):
        self.tf = tf
        self.cell = tf.nn.rnn_cell.LSTMCell(
            3, use_peepholes=True, initializer=tf.random_uniform_initializer(seed=1)
        )
        self.output = tf.layers.Dense(
            1, kernel_initializer=tf.glorot_uniform_initializer(seed=2)
        )
        self.optimizer = tf.contrib.estimator.clip_gradients_by_norm(
            tf.train.GradientDescentOptimizer(0.5), 0.5
        )

    def loss(self):
        tf = self.tf
        outputs, state = tf.nn.dynamic_rnn(
            self.cell, tf.constant(WORDS), LENGTHS, dtype=tf.float32
        )
        last = self.output(state.h) + tf.reduce_mean(outputs)
        return tf.losses.mean_squared_error(TARGETS, last, weights=0.5)


MODELS = {"perceptron": Perceptron, "convnet": ConvNet, "recurrent": Recurrent}


def by_name(variables):
    return {v.name: v for v in variables}


def in_a_graph(tf, name):
    """The losses and the final variables of a model trained in a graph."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        model = MODELS[name](tf)
        loss = model.loss()
        with tf.control_dependencies(model.updates):
            step = model.optimizer.minimize(loss)
        sess.run(tf.global_variables_initializer())
        losses = [float(sess.run([loss, step])[0]) for _ in range(STEPS)]
        values = sess.run(by_name(tf.global_variables()))
    return {"losses": losses, "variables": _plain(values)}


def eagerly(tf, name, wrapped=lambda function: function):
    """The same in an eager program; `wrapped` may be `tf.function`."""
    tf.reset_default_graph()  # which counts the names of layers
    tf.set_random_seed(7)
    model = MODELS[name](tf)
    loss = wrapped(model.loss)
    losses, known = [], {}
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            value = loss()
        known = by_name(tape.watched_variables())
        variables = [known[key] for key in sorted(known)]
        grads = tape.gradient(value, variables)
        model.optimizer.apply_gradients(zip(grads, variables))
        losses.append(float(value))
    known.update(by_name(model.optimizer.variables()))
    if isinstance(model, ConvNet):
        known.update(by_name(model.normalization.variables))
    return {
        "losses": losses,
        "variables": _plain({key: known[key].numpy() for key in known}),
    }


def _plain(values):
    return {name: np.asarray(values[name]).tolist() for name in sorted(values)}


def main():
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity("ERROR")
    tf.compat.v1.enable_eager_execution()
    found = {
        name: {
            "graph": in_a_graph(tf, name),
            "eager": eagerly(tf, name),
            "function": eagerly(tf, name, tf.function),
        }
        for name in sorted(MODELS)
    }
    text = json.dumps(found, indent=0) + "\n"
    Path(__file__).with_suffix(".json").write_text(text)


if __name__ == "__main__":
    main()
