"""Losses of sequences in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

LOGITS = np.sin(np.arange(2 * 3 * 4).reshape(2, 3, 4)).astype(np.float32)
MASK = np.array([[1.0, 1.0, 0.0], [0.5, 1.0, 1.0]], np.float32)


def sequence_loss(tf):
    logits = tf.placeholder_with_default(LOGITS, [None, None, 4], name="logits")
    targets = tf.constant([[0, 1, 3], [2, 2, 0]], name="targets")
    weights = tf.constant(MASK, name="weights")
    loss = tf.contrib.seq2seq.sequence_loss
    none = {"average_across_timesteps": False, "average_across_batch": False}
    both = {"sum_over_timesteps": True, "sum_over_batch": True}
    losses = [
        loss(logits, targets, weights),
        loss(logits, targets, weights, average_across_batch=False, name="per_sequence"),
        loss(logits, targets, weights, average_across_timesteps=False),
        loss(logits, targets, weights, **none),
        loss(logits, targets, weights, **none, **both),
        loss(logits, targets, weights, **none, sum_over_batch=True),
        loss(
            logits, targets, weights,
            softmax_loss_function=lambda labels, logits: tf.reduce_sum(logits, 1),
        ),
    ]  # fmt: skip
    return losses + [tf.gradients(each, logits)[0] for each in losses]


GRAPHS = [sequence_loss]

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
