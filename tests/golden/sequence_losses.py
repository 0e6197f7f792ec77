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


def legacy(tf):
    logits = [tf.constant(LOGITS[:, i], name="logits") for i in range(3)]
    targets = [tf.constant([i, 3 - i], name="targets") for i in range(3)]
    weights = [tf.constant(MASK[:, i], name="weights") for i in range(3)]
    old = tf.contrib.legacy_seq2seq
    losses = [
        old.sequence_loss(logits, targets, weights),
        old.sequence_loss(logits, targets, weights, average_across_batch=False),
        old.sequence_loss_by_example(logits, targets, weights, name="each"),
        old.sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=False,
            softmax_loss_function=lambda labels, logits: tf.reduce_sum(logits, 1),
        ),
    ]  # fmt: skip
    return losses + [tf.gradients(each, logits)[1] for each in losses]


GRAPHS = [sequence_loss, legacy]

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
