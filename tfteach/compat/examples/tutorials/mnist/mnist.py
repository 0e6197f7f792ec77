"""The two-layer network of TensorFlow's "mechanics" tutorial.

Its four functions are the four parts of every TF 1 model: prediction, loss, training
and evaluation.
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.compat.top_level import top_level

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _affine(inputs: Any, size: int, units: int) -> Any:
    tf = top_level()
    start = tf.truncated_normal([size, units], stddev=1.0 / math.sqrt(float(size)))
    weights = tf.Variable(start, name="weights")
    biases = tf.Variable(tf.zeros([units]), name="biases")
    return tf.matmul(inputs, weights) + biases


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    """Compute the logits, float32 [batch, 10], of images [batch, 784].

    Args:
      images: float32 Tensor [batch, IMAGE_PIXELS].
      hidden1_units: the first hidden layer's size.
      hidden2_units: the second hidden layer's size.
    """
    tf = top_level()
    with tf.name_scope("hidden1"):
        hidden1 = tf.nn.relu(_affine(images, IMAGE_PIXELS, hidden1_units))
    with tf.name_scope("hidden2"):
        hidden2 = tf.nn.relu(_affine(hidden1, hidden1_units, hidden2_units))
    with tf.name_scope("softmax_linear"):
        return _affine(hidden2, hidden2_units, NUM_CLASSES)


def loss(logits: Any, labels: Any) -> Any:
    """The mean cross entropy of logits [batch, 10] and labels [batch]."""
    tf = top_level()
    return tf.losses.sparse_softmax_cross_entropy(
        labels=tf.cast(labels, tf.int64), logits=logits
    )


def training(loss: Any, learning_rate: float) -> Any:
    """One step of gradient descent, as an Operation; adds a summary of the loss."""
    tf = top_level()
    tf.summary.scalar("loss", loss)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits: Any, labels: Any) -> Any:
    """The number of correct predictions in a batch, an int32 scalar."""
    tf = top_level()
    correct = tf.nn.in_top_k(logits, labels, 1)
    return tf.reduce_sum(tf.cast(correct, tf.int32))
