"""Lists that loops fill for their gradients: stacks where nothing else reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.op_traits import Collection
from tfteach.ops.state.tensor_list_ops import TensorListPushBack, TensorListStack


@pytest.fixture(autouse=True)
def functional() -> Iterator[None]:
    tf.enable_control_flow_v2()
    with tf.Graph().as_default():
        yield
    tf.disable_control_flow_v2()


def loop(x: Any, n: Any = 5, **options: Any) -> Any:
    return tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * x), [0, x], **options
    )[1]


def value(x: float, n: int = 5) -> float:
    y = x
    for _ in range(n):
        y = float(np.sin(y)) * x
    return y


def derivative(f: Callable[[float], float], x: float) -> Any:
    return pytest.approx((f(x + 1e-5) - f(x - 1e-5)) / 2e-5, rel=1e-6)


def lists_and_stacks(session: Any, *tensors: Any) -> tuple[int, int]:
    """The numbers of ops in the step that append to lists, and that push on stacks."""
    specs = [node.op.spec for node in session.planned_step(tensors, ()).nodes]
    lists = sum(isinstance(spec, TensorListPushBack) for spec in specs)
    return lists, sum(spec.collection_role is Collection.PUSH for spec in specs)


@pytest.mark.parametrize("most", [None, 5, 9])
def test_a_gradient_pops_what_its_loop_pushed(most: int | None) -> None:
    x = tf.constant(1.5, tf.float64)
    y = loop(x, maximum_iterations=most)
    [grad] = tf.gradients(y, x)
    with tf.Session() as session:
        for _ in range(14):  # also as a specialized program
            found = session.run(grad)
        assert found == derivative(value, 1.5)
        assert lists_and_stacks(session, grad) == (0, 2)


def test_the_number_of_iterations_may_differ_from_run_to_run() -> None:
    x, n = tf.constant(1.5, tf.float64), tf.placeholder(tf.int32, [])
    [grad] = tf.gradients(loop(x, n), x)
    with tf.Session() as session:
        for count in (3, 0, 7, 3):
            wanted = derivative(lambda x, n=count: value(x, n), 1.5)  # type: ignore[misc]
            assert session.run(grad, {n: count}) == wanted


def test_lists_that_two_gradients_read_stay_lists() -> None:
    x = tf.constant(1.5, tf.float64)
    y = loop(x)
    [first] = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run(first) == derivative(value, 1.5)
        [second] = tf.gradients(2.0 * y, x)
        again, twice = session.run([first, second])
        assert again == derivative(value, 1.5)
        assert twice == 2 * again
        assert lists_and_stacks(session, first, second)[0] == 2


def test_a_list_that_is_read_otherwise_stays_one() -> None:
    x = tf.constant(1.5, tf.float64)
    [grad] = tf.gradients(loop(x, 3), x)
    node = tf.get_default_graph().get_operation_by_name("while")
    sines = TensorListStack(tf.float64)(node.outputs[5], -1)
    with tf.Session() as session:
        found, slope = session.run([sines, grad])
        np.testing.assert_allclose(found, np.sin([1.5, value(1.5, 1), value(1.5, 2)]))
        assert slope == derivative(lambda x: value(x, 3), 1.5)
        assert lists_and_stacks(session, grad) == (1, 1)


def test_nested_loops() -> None:
    x = tf.constant(1.1, tf.float64)

    def body(i: Any, y: Any) -> Any:
        return i + 1, loop(x, 2) * y

    y = tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]
    [grad] = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run(grad) == derivative(lambda x: value(x, 2) ** 3 * x, 1.1)
