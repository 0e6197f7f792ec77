"""Network functions: what they do at run time, and how they refuse.

Their graphs, numbers and gradients are held against TensorFlow in tests/training.
"""

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.ops.nn.activations import Relu, Relu6
from tfteach.ops.nn.bias_add import BiasAddGrad
from tfteach.ops.nn.cross_entropy import (
    SoftmaxCrossEntropyWithLogits,
    SparseSoftmaxCrossEntropyWithLogits,
)
from tfteach.ops.nn.softmax import Softmax

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def evaluate(tensors, feed_dict=None):
    with tf.Session() as sess:
        return sess.run(tensors, feed_dict)


def loose(value):
    """A tensor of which nothing is known before the run."""
    return tf.placeholder_with_default(value, None)


def test_dropout_keeps_the_mean_and_scales_what_it_keeps():
    x = tf.ones([100, 200])
    first, second = evaluate([tf.nn.dropout(x, rate=0.25), tf.nn.dropout(x, 0.75)])
    for found in (first, second):
        kept = np.float32(1) / np.float32(0.75)
        assert set(np.unique(found)) == {np.float32(0), kept}
        assert abs(found.mean() - 1) < 0.02
    assert (first != second).any()


def test_dropout_is_reproducible_and_its_noise_may_be_shared():
    x = tf.ones([4, 50])
    kept = tf.nn.dropout(x, rate=0.5, seed=1)
    np.testing.assert_array_equal(evaluate(kept), evaluate(kept))
    rows = evaluate(tf.nn.dropout(x, rate=0.5, noise_shape=[None, 1], seed=2))
    shared = evaluate(tf.nn.dropout(x, rate=0.5, noise_shape=[1, 50], seed=2))
    assert (shared == shared[:1]).all()
    assert rows.shape == shared.shape
    assert tf.nn.dropout(x, keep_prob=1.0) is x


def test_lookup_clips_long_rows():
    table = tf.constant([[3.0, 4.0], [0.3, 0.4]])
    found = evaluate(tf.nn.embedding_lookup(table, [0, 1], max_norm=1.0))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_lookup_in_a_variable(use_resource):
    table = tf.Variable(X, use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(table.initializer)
        np.testing.assert_array_equal(
            sess.run(tf.nn.embedding_lookup(table, [[1], [0]])), X[[[1], [0]]]
        )


def bad_labels(labels, logits):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


RUN_ERRORS = [
    (lambda: bad_labels([0, 5], X),
     r"Received a label value of 5 which is outside the valid range of \[0, 3\)\.  "
     "Label values: 0 5"),
    (lambda: bad_labels([-1, 1], X), "Received a label value of -1"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "words"), RUN_ERRORS)
def test_refused_by_the_run(build, words):
    tensor = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        evaluate(tensor)


def test_what_is_not_implemented_says_so():
    with pytest.raises(NotImplementedError, match="axis known only at run time"):
        tf.nn.softmax(X, axis=tf.constant(0))


def test_an_axis_out_of_range():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"in the range \[-2, 2\)"):
        tf.nn.softmax(X, axis=2)


def test_cross_entropy_broadcasts_arrays_that_may_not_be_written() -> None:
    logits = np.array([[0.5, -1.5, 2.0]], np.float32)
    labels = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], np.float32)
    logits.flags.writeable = labels.flags.writeable = False
    op = SoftmaxCrossEntropyWithLogits()
    loss, _ = op.compute(np, logits, labels)
    expected, _ = op.compute(np, np.repeat(logits, 2, 0), labels)
    np.testing.assert_array_equal(loss, expected)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((2048, 32), np.float32),
        ((3 * 8, 16, 16, 24), np.float32),
        ((65537, 1), np.float64),  # no rows can be grouped
        ((64, 1024), np.float64),
        ((4096, 16), np.int8),  # wraps around
    ],
)
def test_large_bias_gradients(shape: tuple[int, ...], dtype: Any) -> None:
    grad = np.random.default_rng(7).integers(-50, 50, shape).astype(dtype)
    wanted = grad.reshape(-1, shape[-1]).sum(axis=0, dtype=np.int64)
    with tf.Session() as session:
        found = session.run(BiasAddGrad()(tf.constant(grad)))
    np.testing.assert_array_equal(found, wanted.astype(dtype))


@pytest.mark.parametrize("size", [6, 6000])
def test_relus_of_small_and_large_arrays(size: int) -> None:
    x = np.resize(np.float32([-2.0, -0.0, 3.0, np.nan, 9.0, -np.inf]), size)
    for op, largest in ((Relu(), 9.0), (Relu6(), 6.0)):
        found = op.compute(np, x)
        bits = np.float32([0.0, 0.0, 3.0, np.nan, largest, 0.0]).view(np.int32)
        assert np.resize(bits, size).tolist() == found.view(np.int32).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [4, 100])
def test_cross_entropy_of_few_and_many_short_rows(rows: int, order: Any) -> None:
    logits = np.resize(np.float32([0.5, -1.5, 900.0, 3.0, 7.5]), (rows, 3))
    labels = np.resize([2, 0, 1], rows)
    chosen = np.eye(3)[labels]
    exp = np.exp(np.float64(logits) - np.float64(logits).max(1)[:, None])
    softmax = exp / exp.sum(1)[:, None]
    given = np.array(logits, order=order)
    op = SparseSoftmaxCrossEntropyWithLogits()
    loss, backprop = op.compute(np, given, labels)
    shifted = logits - logits.max(1)[:, None]
    expected = np.log(exp.sum(1)) - (shifted * chosen).sum(1)
    np.testing.assert_allclose(loss, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(backprop, softmax - chosen, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(Softmax().compute(np, given), softmax, atol=1e-6)


@pytest.mark.parametrize("label", [-1, 3])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_labels_outside_of_the_classes_are_refused(label: int, kind: Any) -> None:
    op = SparseSoftmaxCrossEntropyWithLogits()
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=f"label value of {label} "
    ):
        op.compute(np, X, np.array([0, label], kind))
