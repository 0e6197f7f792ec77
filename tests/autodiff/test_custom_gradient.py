"""Functions with their own gradients: tf.custom_gradient and tf.nn.swish."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def evaluate(tensors: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(tensors)


def test_the_returned_function_is_the_gradient() -> None:
    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        """Says it triples."""
        return x * 2.0, lambda dy: dy * 3.0

    x = tf.constant([1.0, 2.0])
    y = doubled(x)
    found = evaluate([y, *tf.gradients(y * y, x)])
    np.testing.assert_array_equal(found[0], [2.0, 4.0])
    np.testing.assert_array_equal(found[1], [2 * 2.0 * 3, 2 * 4.0 * 3])
    assert doubled.__doc__ == "Says it triples."


def test_several_arguments_and_results() -> None:
    @tf.custom_gradient
    def both(x: Any, y: Any) -> Any:
        return (x + y, x * y), lambda ds, dp: (ds * 10.0, dp * 100.0)

    x, y = tf.constant(2.0), tf.constant(5.0)
    total, product = both(x, y)
    grads = tf.gradients([total, product], [x, y])
    assert evaluate([total, product, *grads]) == [7.0, 10.0, 10.0, 100.0]


def test_what_it_cannot_do_is_refused() -> None:
    weight = tf.get_variable("weight", [])

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return x * weight, lambda dy: dy

    @tf.custom_gradient
    def with_variables(x: Any) -> Any:
        return x * 1.0, lambda dy, variables: (dy, [])

    with pytest.raises(TypeError, match=r"must accept a keyword argument 'variables'"):
        scaled(1.0)
    with pytest.raises(TypeError, match="scope must have use_resource=True"):
        with_variables(1.0)
    with pytest.raises(ValueError, match="keywords arguments only when eager"):
        scaled(x=1.0)


def test_swish_and_its_gradient() -> None:
    x = np.float32([-2.0, 0.0, 1.5])
    features = tf.constant(x)
    y = tf.nn.swish(features)
    gate = 1 / (1 + np.exp(-x))
    found, (grad,) = evaluate([y, tf.gradients(y, features)])
    np.testing.assert_allclose(found, x * gate, rtol=1e-6)
    np.testing.assert_allclose(grad, gate * (1 + x * (1 - gate)), rtol=1e-6)
