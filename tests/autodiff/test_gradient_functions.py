"""Functions that return gradients of functions.  Source: TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tfteach.autodiff.gradient_functions import (
    gradients_function,
    implicit_grad,
    implicit_val_and_grad,
    make_vjp,
    val_and_grad_function,
)

pytestmark = pytest.mark.usefixtures("eagerly")


def f(x: Any, y: Any) -> Any:
    return x * x * y


def numbers(found: Any) -> list[Any]:
    return [None if t is None else t.numpy() for t in found]


def test_gradients_at_the_arguments() -> None:
    assert numbers(gradients_function(f)(2.0, 3.0)) == [12.0, 4.0]
    assert numbers(gradients_function(f)(tf.constant(2.0), 3.0)) == [12.0, 4.0]
    assert numbers(gradients_function(f)(2.0, 3.0, dy=2.0)) == [24.0, 8.0]
    assert numbers(gradients_function(f, [1])(2.0, 3.0)) == [4.0]
    assert numbers(gradients_function(f, ["y"])(2.0, 3.0)) == [4.0]
    assert numbers(gradients_function(f, ["x", "x"])(2.0, 3.0)) == [12.0, 12.0]
    assert numbers(gradients_function(lambda x: [x, x * 2])(2.0)) == [3.0]
    assert numbers(gradients_function(lambda x: 3.0)(2.0)) == [None]
    x = tf.constant(2.0)
    assert numbers(gradients_function(f)(x, x)) == [8.0, 4.0]
    assert gradients_function(lambda: tf.constant(1.0))() == []
    value, grads = val_and_grad_function(f)(2.0, 3.0)
    assert value.numpy() == 12.0
    assert numbers(grads) == [12.0, 4.0]


def test_higher_orders() -> None:
    assert numbers(gradients_function(gradients_function(f))(2.0, 3.0)) == [10.0, 4.0]


def test_the_product_can_be_asked_for_again() -> None:
    value, vjp = make_vjp(f)(tf.constant(2.0), tf.constant(3.0))
    assert value.numpy() == 12.0
    assert numbers(vjp()) == [12.0, 4.0]
    assert numbers(vjp(2.0)) == [24.0, 8.0]


def test_gradients_of_the_variables_that_a_function_reads() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    ((grad, variable),) = implicit_grad(lambda x: v * v * x * w)(3.0)
    assert grad.numpy() == 36.0
    assert variable is v
    value, pairs = implicit_val_and_grad(lambda x: v * v * x)(3.0)
    assert value.numpy() == 12.0
    assert [(g.numpy(), x is v) for g, x in pairs] == [(12.0, True)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gradients_function(f)(x=2.0, y=3.0), ValueError, "keyword arguments"),
        (lambda: make_vjp(f)(x=2.0, y=3.0), ValueError, "keyword arguments"),
        (lambda: gradients_function(f, ["z"])(2.0, 3.0), ValueError, "'z' is not in"),
        (lambda: gradients_function(f, [5])(2.0, 3.0), IndexError, "out of range"),
        (
            lambda: gradients_function(lambda x: None)(2.0),
            ValueError,
            "Cannot differentiate a function that returns None; did you forget to "
            "return a value from <lambda>",
        ),
        (
            lambda: implicit_grad(lambda x: x)(3.0),
            ValueError,
            "No trainable variables were accessed while the function was being",
        ),
    ],
)
def test_misuse(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
