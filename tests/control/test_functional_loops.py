"""What loops and branches as functions accept, and what only AutoGraph builds."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf


def test_less_specific_invariants_of_loops(functional: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        _, array, x = tf.while_loop(
            lambda i, *_: i < 3,
            lambda i, array, x: (i + 1, array.write(i, x), tf.zeros([i + 2])),
            [0, tf.TensorArray(tf.float32, 3, infer_shape=False), tf.zeros([1])],
            [tf.TensorShape([]), tf.TensorShape(None), tf.TensorShape([None])],
        )
        assert x.shape.as_list() == [None]
        assert session.run([array.read(2), x])[1].shape == (4,)
        with pytest.raises(ValueError, match=r"shape \(1,\), but has shape \(2,\)"):
            tf.while_loop(lambda x: True, lambda x: tf.zeros([2]), [tf.zeros([1])])
        with pytest.raises(TypeError, match="type <dtype: 'int32'> but has type <d"):
            tf.while_loop(lambda x: True, lambda x: tf.cast(x, tf.float32), [0])


def test_a_condition_of_one_element_is_squeezed(functional: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[5.0]])
        y = tf.while_loop(lambda x: x < 45.0, lambda x: x * 3.0, [x])
        (grad,) = tf.gradients(y, x)
        assert session.run([y, grad]) == [[[45.0]], [[9.0]]]


def test_gradients_of_a_loop_whose_values_are_the_same_each_time(
    functional: None,
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.Variable(0.0), tf.Variable(0.0)
        first, second = tf.scan(
            lambda *_: (a, b), tf.zeros([5]), initializer=(0.0, 0.0)
        )
        grads = tf.gradients(first + tf.stop_gradient(second), [a, b])
        session.run(tf.global_variables_initializer())
        assert session.run(grads) == [5.0, 0.0]


def test_functions_know_sizes_and_gradients_of_what_they_capture() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, sizes = tf.constant(3.0), tf.constant([2, 3])

        @tf.function
        def grow():
            assert tf.reshape(tf.range(6), sizes).shape == (2, 3)
            assert tf.fill(tf.concat([[4], sizes], 0), 0.0).shape == (4, 2, 3)
            return tf.gradients(x * x, [x])

        assert session.run(grow()) == [6.0]


# ---- what only AutoGraph writes


def test_a_loop_without_variables(functional: None) -> None:
    v = tf.get_variable("count", initializer=0, use_resource=True)

    def body() -> tuple[()]:
        v.assign_add(2)
        return ()

    assert tf.while_loop(lambda: v < 5, body, []) == []
    assert tf.while_loop(lambda: v < 5, body, (), return_same_structure=True) == ()


@pytest.mark.parametrize(
    ("if_true", "if_false", "message"),
    [
        (lambda: 1, lambda: None, r"of cond must match.*\[0\].*: 1\n.*\[1\].*: 0\n"),
        (lambda: (1, None), lambda: (1, 2), r"\[0\].*: 1\n.*\[1\].*: 2\n"),
        (lambda: (1, None), lambda: (None, 1), "Mismatch in element count"),
    ],
)
def test_branches_that_return_none(
    functional: None, if_true: Any, if_false: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=f"(?s){message}"):
        tf.cond(tf.placeholder(tf.bool, []), if_true, if_false)


def test_cases_that_return_none(functional: None) -> None:
    with pytest.raises(ValueError, match="outputs of case must match"):
        tf.switch_case(tf.placeholder(tf.int32, []), [lambda: 1, lambda: None])


def test_values_from_outside_of_a_loop_become_variables(functional: None) -> None:
    """An iteration waits for the one before, even if its result does not need it."""
    a = tf.placeholder_with_default(3, [])

    def inner(k: Any, b: Any) -> Any:
        return k + 1, tf.identity(a)

    def outer(i: Any, b: Any) -> Any:
        _, b = tf.while_loop(
            lambda k, b: tf.cond(k < 1, lambda: a < b, lambda: False), inner, [0, b]
        )
        return i + 1, b

    found = tf.while_loop(lambda i, b: i < 2, outer, [0, 6])
    with tf.Session() as session:
        assert session.run(found) == [2, 3]


def test_effects_on_what_a_loop_captures_happen_once_an_iteration(
    functional: None,
) -> None:
    numbers = tf.data.Dataset.range(5).make_one_shot_iterator()

    def body(has: Any, total: Any, count: Any) -> Any:
        element = tf.data.experimental.get_next_as_optional(numbers)
        has = element.has_value()
        more = tf.cond(has, lambda: total + element.get_value(), lambda: total)
        return has, more, count + 1

    start = [True, tf.constant(0, tf.int64), 0]
    found = tf.while_loop(lambda has, total, count: has, body, start)
    with tf.Session() as session:
        assert session.run(found) == [False, 10, 6]
