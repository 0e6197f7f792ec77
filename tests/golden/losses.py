"""Losses in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
Y = np.array([[0.25, 1.0, 0.5], [1.0, 0.0, 0.125]], np.float32)


def _pair(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    return tf.constant(Y, name="y"), x


def _each(tf, loss, **options):
    labels, x = _pair(tf)
    values = [
        loss(labels, x, **options),
        loss(labels, x, weights=0.5, scope="own", loss_collection="mine", **options),
        loss(labels, tf.sigmoid(x), weights=[[1.0], [0.0]], **options),
        loss(labels, x, tf.placeholder_with_default(Y, [None, None]), **options),
    ]
    return values + tf.gradients(values, [labels, x])


def mean_squared(tf):
    return _each(tf, tf.losses.mean_squared_error)


def absolute(tf):
    return _each(tf, tf.losses.absolute_difference)


def huber(tf):
    return _each(tf, tf.losses.huber_loss, delta=0.75)


def hinge(tf):
    return _each(tf, tf.losses.hinge_loss)


def log(tf):
    labels, x = _pair(tf)
    x = tf.sigmoid(x)
    values = [tf.losses.log_loss(labels, x), tf.losses.log_loss(Y, x, 2, 1e-3)]
    return values + tf.gradients(values, x)


def cosine(tf):
    labels, x = _pair(tf)
    x = tf.nn.l2_normalize(x, 1)
    weights = tf.placeholder_with_default([[1.0], [3.0]], [None, 1])
    values = [
        tf.losses.cosine_distance(labels, x, axis=1),
        tf.losses.cosine_distance(labels, x, dim=0),
        tf.losses.cosine_distance(labels, x, 1, weights),
    ]
    return values + tf.gradients(values, [labels, x])


def pairwise(tf):
    labels, x = _pair(tf)
    values = [
        tf.losses.mean_pairwise_squared_error(labels, x),
        tf.losses.mean_pairwise_squared_error(labels, x, [[1.0], [0.0]], "own"),
        tf.losses.mean_pairwise_squared_error(Y, X, 0.0),
    ]
    return values + tf.gradients(values, [labels, x])


def sigmoid(tf):
    labels, x = _pair(tf)
    values = [
        tf.losses.sigmoid_cross_entropy(labels, x),
        tf.losses.sigmoid_cross_entropy([[1, 0, 1], [0, 0, 1]], x, label_smoothing=0.1),
    ]
    return values + tf.gradients(values, [labels, x])


def softmax(tf):
    labels, x = _pair(tf)
    values = [
        tf.losses.softmax_cross_entropy(labels, x),
        tf.losses.softmax_cross_entropy([[0, 0, 1], [1, 0, 0]], x, label_smoothing=0.1),
        tf.losses.softmax_cross_entropy(labels, x, weights=[0.0, 2.0]),
        tf.losses.softmax_cross_entropy(labels, tf.cast(x, tf.float64)),
    ]
    return values + tf.gradients(values, x)


def sparse(tf):
    _, x = _pair(tf)
    free = tf.placeholder_with_default([[2], [0]], None, "free")
    column = tf.placeholder_with_default([[1.0], [3.0]], [None, None], "column")
    values = [
        tf.losses.sparse_softmax_cross_entropy([2, 0], x),
        tf.losses.sparse_softmax_cross_entropy([[2], [0]], x, [[1.0], [0.0]]),
        tf.losses.sparse_softmax_cross_entropy(free, x, column),
    ]
    return values + tf.gradients(values, x)


def reductions(tf):
    labels, x = _pair(tf)
    values = []
    for reduction in ["none", "weighted_sum", "weighted_mean",
                      "weighted_sum_over_batch_size",
                      "weighted_sum_by_nonzero_weights"]:  # fmt: skip
        for weights in (1.0, [[2.0, 0.0, 1.0]]):
            values.append(
                tf.losses.mean_squared_error(
                    labels, x, weights, reduction=reduction, loss_collection=None
                )
            )
    values.append(tf.losses.compute_weighted_loss([1, 2, 3], tf.constant([1, 0, 1])))
    return values


def totals(tf):
    labels, x = _pair(tf)
    none = tf.losses.get_regularization_loss()
    with tf.name_scope("first"):
        tf.losses.absolute_difference(labels, x)
    tf.losses.add_loss(tf.reduce_sum(x))
    w = tf.get_variable("w", [3], regularizer=tf.nn.l2_loss)
    return [
        none,
        tf.losses.get_total_loss(),
        tf.losses.get_total_loss(False, "only", "first"),
        tf.losses.get_regularization_loss(),
        w,
    ]


def unknown_ranks(tf):
    values = tf.placeholder_with_default(X, None, "values")
    weights = tf.placeholder_with_default([[1.0], [3.0]], None, "weights")
    scalar = tf.placeholder_with_default(2.0, None, "scalar")
    losses = [
        tf.losses.compute_weighted_loss(values, weights),
        tf.losses.compute_weighted_loss(values, scalar),
        tf.losses.compute_weighted_loss(values),
    ]
    return losses + tf.gradients(losses, [values, weights])


GRAPHS = [
    mean_squared, absolute, huber, hinge, log, cosine, pairwise, sigmoid, softmax,
    sparse, reductions, totals, unknown_ranks,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
