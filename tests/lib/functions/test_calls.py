"""Calls of functions in a step: which stay calls, their shapes, their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.function_attribute import Function
from tfteach.lib.functions.defun import Defun
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall

floats = tf.float32


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def traced(session: tf.Session, fetches: Any) -> tuple[Any, set[str]]:
    """The values, and the op types in the run's trace."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    values = session.run(fetches, options=options, run_metadata=metadata)
    labels = [
        node.timeline_label
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    ]
    return values, {label.partition(" = ")[2].partition("(")[0] for label in labels}


def half_tanh(noinline: bool | None) -> Any:
    @Defun(floats, func_name=f"HalfTanh{noinline}", noinline=noinline)
    def function(x: Any) -> Any:
        return tf.tanh(x) * 0.5

    return function


@pytest.mark.parametrize("noinline", [None, False, True])
def test_noinline_keeps_calls_in_the_step(
    session: tf.Session, noinline: bool | None
) -> None:
    function = half_tanh(noinline)
    y = function(tf.placeholder_with_default([0.5, 0.6], [2]))
    values, types = traced(session, [y, tf.gradients(y, y.op.inputs[0])[0]])
    tanh = np.tanh(np.float32([0.5, 0.6]))
    np.testing.assert_allclose(values[0], tanh / 2, rtol=1e-6)
    np.testing.assert_allclose(values[1], (1 - tanh**2) / 2, rtol=1e-5)
    assert (function.name in types) == bool(noinline)


@pytest.mark.parametrize("call", [PartitionedCall, StatefulPartitionedCall])
@pytest.mark.parametrize("noinline", [False, True])
def test_calls_by_attribute_are_kept_too(
    session: tf.Session, call: Any, noinline: bool
) -> None:
    function = half_tanh(noinline)
    function.add_to_graph(tf.get_default_graph())
    spec = call((floats,), (floats,), Function(function.name))
    (y,) = spec([tf.placeholder_with_default([0.5], [1])])
    values, types = traced(session, y)
    np.testing.assert_allclose(values, np.tanh([0.5]) / 2, rtol=1e-6)
    assert (call.op_type in types) == noinline
    assert ("Tanh" in types) != noinline


def test_the_functions_attribute_decides_not_the_calls(session: tf.Session) -> None:
    x = tf.placeholder_with_default([0.5], [1])
    for noinline in (False, True):
        function = half_tanh(noinline)
        _, types = traced(session, function(x, noinline=not noinline))
        assert (function.name in types) == noinline


def test_random_numbers_and_errors_of_kept_calls(session: tf.Session) -> None:
    @Defun(floats, func_name="Noisy", noinline=True)
    def noisy(x: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_less(x, 1.0)]):
            return x + tf.random_uniform([2], seed=3)

    x = tf.placeholder(floats)
    y = noisy(x)
    found = [session.run(y, {x: 0.0}).tolist() for _ in range(2)]
    assert (
        np.float32(found).tolist()
        == np.float32(
            [[0.3869294, 0.36002624], [0.19575107, 0.07571161]]  # as TensorFlow's
        ).tolist()
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-w"):
        session.run(y, {x: 3.0})


@pytest.mark.parametrize("call", [PartitionedCall, StatefulPartitionedCall])
def test_static_shapes_pass_through_calls(session: tf.Session, call: Any) -> None:
    @Defun(floats, func_name="Pair")
    def pair(x: Any) -> Any:
        return x * 2.0, tf.zeros([3, 4])

    def shapes(*argument: Any) -> list[str]:
        spec = call((floats,), (floats, floats), Function(pair.name))
        return [str(t.shape) for t in spec([tf.placeholder(floats, *argument)])]

    pair.add_to_graph(tf.get_default_graph())
    assert shapes([2, 5]) == ["(2, 5)", "(3, 4)"]
    assert shapes([None, 5]) == ["(?, 5)", "(3, 4)"]
    assert shapes() == ["<unknown>", "(3, 4)"]
    # TensorFlow does not infer those of a call by name.
    assert [str(t.shape) for t in pair(tf.zeros([2, 5]))] == ["<unknown>"] * 2


FLOWS: dict[str, Callable[[Any], Any]] = {
    "while_loop": lambda x: tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, x)
    )[1],
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 1, lambda: x * x, lambda: x),
    "other branch": lambda x: tf.cond(tf.reduce_sum(x) > 9, lambda: x * x, lambda: x),
    "map_fn": lambda x: tf.map_fn(tf.square, x),
    "scan": lambda x: tf.scan(lambda a, b: a * b, x),
    "cond in loop": lambda x: tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.cond(i > 1, lambda: a * x, lambda: tf.tanh(a))),
        (0, x),
    )[1],
    "loop in loop": lambda x: tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (
            i + 1,
            tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x), (0, a))[1],
        ),
        (0, x),
    )[1],
}


@pytest.mark.parametrize("flow", FLOWS)
def test_gradients_of_functions_with_control_flow(
    session: tf.Session, flow: str
) -> None:
    # TensorFlow 1.15 returns zeros, or fails: "Retval[0] does not have value".
    function = Defun(floats, func_name="Flow")(FLOWS[flow])
    x = tf.placeholder(floats, [2])
    called = tf.gradients(function(x), x)[0]
    inline = tf.gradients(FLOWS[flow](x), x)[0]
    for _ in range(2):
        found, wanted = session.run([called, inline], {x: [2.0, 3.0]})
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
