"""Metrics in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.array([[0.5, 0.125, 0.75], [1.0, 0.25, 0.0]], np.float32)
Y = np.array([[0.25, 1.0, 0.75], [1.0, 0.0, 0.125]], np.float32)
SCORES = np.array([[0.1, 0.4, 0.2, 0.3], [0.4, 0.3, 0.2, 0.1]], np.float32)


def _twice(*pairs):
    """Updates and values, run in turns."""
    updates, values = [p[1] for p in pairs], [p[0] for p in pairs]
    return values + updates + values + updates + values


def _pair(tf):
    return tf.constant(Y, name="y"), tf.placeholder_with_default(X, [None, 3], "x")


def mean(tf):
    _, x = _pair(tf)
    with tf.variable_scope("scope"):
        scoped = tf.metrics.mean([1, 2], name="own")
    return _twice(
        tf.metrics.mean(x),
        tf.metrics.mean(x, [[0.5], [2.0]], ["values"], ["updates"]),
        tf.metrics.mean(x, tf.placeholder_with_default(2.0, None)),
        scoped,
        tf.metrics.mean_tensor(X),
        tf.metrics.mean_tensor(X, 0.5, name="weighted"),
        tf.metrics.percentage_below(x, 0.3),
    )


def errors(tf):
    y, x = _pair(tf)
    m = tf.metrics
    return _twice(
        m.accuracy([[1, 0, 1], [1, 1, 1]], tf.round(x)),
        m.accuracy([1, 2], [[1], [1]], [1.0, 3.0], name="own"),
        m.mean_absolute_error(y, x),
        m.mean_squared_error(y, x, [[1.0], [2.0]]),
        m.root_mean_squared_error(y, x, None, "values", "updates"),
        m.mean_relative_error(y, x, tf.round(y)),
        m.mean_cosine_distance(y, x, 1, updates_collections="updates"),
    )


def counts(tf):
    labels = tf.constant([[True, False, True], [True, True, False]])
    _, x = _pair(tf)
    said = tf.greater(x, 0.2)
    m = tf.metrics
    return _twice(
        m.true_positives(labels, said),
        m.true_negatives(labels, said, weights=2.0),
        m.false_positives(labels, said, updates_collections=["updates"]),
        m.false_negatives(labels, said, [[0.5, 1.0, 2.0], [0.5, 1.0, 2.0]]),
        m.precision(labels, said),
        m.recall(labels, said, weights=0.5, name="own"),
        m.precision([0, 1], [0, 0]),
    )


def at_thresholds(tf):
    labels = tf.constant([[True, False, True], [True, True, False]])
    _, x = _pair(tf)
    m, limits = tf.metrics, [0.1, 0.5, 0.9]
    return _twice(
        m.true_positives_at_thresholds(labels, x, limits),
        m.true_negatives_at_thresholds(labels, X, limits, [[1.0], [2.0]]),
        m.false_positives_at_thresholds(labels, x, limits),
        m.false_negatives_at_thresholds(labels, x, limits, 0.5),
        m.precision_at_thresholds(labels, x, limits),
        m.recall_at_thresholds(labels, x, limits, metrics_collections=["values"]),
    )


def curves(tf):
    labels, (_, x) = tf.constant([[1, 0, 1], [1, 1, 0]]), _pair(tf)
    m = tf.metrics
    return _twice(
        m.auc(labels, x),
        m.auc(labels, x, [[1.0], [2.0]], 5, name="few"),
        m.auc(labels, x, curve="PR", summation_method="careful_interpolation"),
        m.auc(labels, x, curve="PR", summation_method="minoring", thresholds=[0.2]),
        m.auc(labels, x, num_thresholds=3, summation_method="majoring"),
        m.sensitivity_at_specificity(labels, x, 0.5, num_thresholds=7),
        m.specificity_at_sensitivity(labels, x, 0.7, num_thresholds=7),
    )


def per_class(tf):
    labels, said = tf.constant([[0, 1, 2], [2, 1, 2]]), tf.constant([[0, 1, 1]] * 2)
    return _twice(
        tf.metrics.mean_per_class_accuracy(labels, said, 3),
        tf.metrics.mean_per_class_accuracy(
            labels, said, 4, tf.constant([[1, 2, 3]] * 2), ["values"]
        ),
    )


def intersection_over_union(tf):
    labels, said = tf.constant([[0, 1, 2], [2, 1, 2]]), tf.constant([[0, 1, 1]] * 2)
    return _twice(
        tf.metrics.mean_iou(labels, said, 3),
        tf.metrics.mean_iou(labels, said, 4, tf.constant([[1.0, 0.5, 0.0]] * 2)),
    )


def at_k(tf):
    labels = tf.constant([[1, 3], [2, -1]], tf.int64)
    one = tf.constant([1, 1], tf.int64)
    scores = tf.constant(SCORES)
    best = tf.constant([[1, 3], [0, 1]])
    m = tf.metrics
    return _twice(
        m.precision_at_k(labels, scores, 2),
        m.precision_at_k(one, scores, 2, class_id=1, name="own"),
        m.recall_at_k(labels, scores, 3, weights=[1.0, 2.0]),
        m.recall_at_k(one, scores, 1, updates_collections=["updates"]),
        m.recall_at_top_k(labels, best, class_id=3),
        m.precision_at_top_k(labels, best, k=2),
        m.average_precision_at_k(labels, scores, 3),
        m.average_precision_at_k(one, scores, 2, weights=[[0.5], [1.0]][0]),
        m.average_precision_at_k(one, scores, 1),
    )


def at_k_of_sparse_labels(tf):
    values = tf.constant([1, 3, 2], tf.int64)
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], values, [2, 4])
    scores = tf.constant(SCORES)
    m = tf.metrics
    return _twice(
        m.precision_at_k(labels, scores, 2),
        m.recall_at_k(labels, scores, 3, class_id=3),
        m.average_precision_at_k(labels, scores, 3),
        m.average_precision_at_k(labels, scores, 1),
    )


GRAPHS = [
    mean, errors, counts, at_thresholds, curves, per_class, intersection_over_union,
    at_k, at_k_of_sparse_labels,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
