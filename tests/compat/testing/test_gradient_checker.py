"""`tf.test.compute_gradient` and `assert_equal_graph_def`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph, tf.Session():
        yield graph


def test_both_jacobians() -> None:
    x = tf.placeholder(tf.float64, [3])
    start = np.array([1.0, 2.0, 3.0])
    graph, differences = tf.test.compute_gradient(
        x, [3], x * x, [3], x_init_value=start
    )
    np.testing.assert_allclose(graph, np.diag(2 * start))
    np.testing.assert_allclose(differences, graph, atol=1e-6)


def test_nodes_are_tensorflows(graph: tf.Graph) -> None:
    x = tf.constant([1.0, 2.0], tf.float64, name="x")
    tf.test.compute_gradient_error(x, [2], tf.exp(x, name="y"), [2])
    names = [op.name for op in graph.get_operations()]
    assert names[:4] == ["x", "y", "Const", "Identity"]


def test_several_and_complex() -> None:
    a = tf.placeholder_with_default(np.ones(2, np.complex128), [2])
    b = tf.placeholder_with_default(np.ones(2), [2])
    y = a * tf.cast(b, tf.complex128)
    pairs = tf.test.compute_gradient([a, b], [[2], [2]], y, [2], extra_feed_dict={})
    assert [pair[0].shape for pair in pairs[1:]] == [(2, 4)]


def test_complex() -> None:
    x = tf.placeholder(tf.complex128, [2])
    assert tf.test.compute_gradient_error(x, [2], x * x, [2]) < 1e-6


def test_sparse_gradients_and_variables() -> None:
    table = tf.Variable(np.arange(6.0).reshape(3, 2), dtype=tf.float64)
    y = tf.gather(tf.identity(table), [2, 0, 2])
    error = tf.test.compute_gradient_error(
        table, [3, 2], y, [3, 2], init_targets=[table.initializer]
    )
    assert error < 1e-8


def test_a_wrong_gradient_is_seen() -> None:
    x = tf.placeholder(tf.float64, [2])
    error = tf.test.compute_gradient_error(
        x, [2], x * tf.stop_gradient(x), [2], x_init_value=np.array([1.0, 3.0])
    )
    assert error == pytest.approx(3.0, abs=1e-3)


def test_wrong_arguments() -> None:
    x = tf.placeholder(tf.float64, [2])
    n = tf.placeholder(tf.int32, [2])
    with pytest.raises(AssertionError, match="Don't support type int32 for x"):
        tf.test.compute_gradient(n, [2], tf.identity(x) + 0 * x, [2])
    with pytest.raises(AssertionError, match=r"x_shape = \[2\], init_data shape = "):
        tf.test.compute_gradient(x, [2], x * x, [2], x_init_value=np.ones(3))
    with pytest.raises(ValueError, match="no gradient flows from"):
        tf.test.compute_gradient(x, [2], tf.stop_gradient(x), [2])


def test_equal_graphs() -> None:
    def graph_def(value: float = 1.0, name: str = "c", device: str = "") -> tf.GraphDef:
        with tf.Graph().as_default() as graph, tf.device(device):
            tf.add(tf.constant(value, name=name), 2.0, name="sum")
        return graph.as_graph_def()

    first = graph_def()
    other = tf.GraphDef()
    other.node.extend(reversed(first.node))
    tf.test.assert_equal_graph_def(first, other)
    for changed, words in (
        (graph_def(2.0), "Node named 'c' has attr 'value' that does not match"),
        (graph_def(name="d"), "Did not find expected node"),
        (graph_def(device="/cpu:0"), "has device '/device:CPU:0' that does not match"),
    ):
        with pytest.raises(AssertionError, match=words):
            tf.test.assert_equal_graph_def(changed, first)
    other.node.add(name="more", op="NoOp")
    with pytest.raises(AssertionError, match=r"unexpected node '\{\{node more\}\}"):
        tf.test.assert_equal_graph_def(other, first)
    with pytest.raises(TypeError, match=r"Expected tf\.GraphDef for actual, got str"):
        tf.test.assert_equal_graph_def("", first)
