"""What observers of eager execution are told."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tfteach.engine.eager.context import eager_graph
from tfteach.engine.eager.function_program import FunctionRun
from tfteach.framework.observers import OpRan
from tfteach.framework.recording import tapes

pytestmark = pytest.mark.usefixtures("eagerly")


def told(run: Any) -> list[Any]:
    events: list[Any] = []
    with eager_graph().observe(events.append):
        run()
    return events


def test_each_op_with_its_name_and_line() -> None:
    def run() -> None:
        with tf.name_scope("a"):
            tf.square(2.0, name="b")
        tf.square(2.0)
        tf.Variable(1.0, name="v")

    events = told(run)
    assert [(type(e), e.name) for e in events] == [
        (OpRan, "a/b"),
        (OpRan, "Square"),
        (OpRan, "v"),
        (OpRan, "v/AssignVariableOp"),
    ]
    assert events[0].op.outputs[0].numpy() == 4.0
    assert events[0].op.source.text == 'tf.square(2.0, name="b")'
    assert events[0].elapsed_s > 0
    assert events[0].error is None


def test_an_op_that_fails() -> None:
    def run() -> None:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]), name="wrong")

    (*_, failed) = told(run)
    assert failed.name == "wrong"
    assert failed.error is not None
    assert failed.op.source.text.startswith("tf.matmul")


def test_the_handle_of_a_variable_knows_its_name() -> None:
    with tf.name_scope("layer"):
        v = tf.Variable(1.0, name="v")
    assert v.handle.source.name == "layer/v"


def test_a_function_is_announced_and_can_be_followed() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def double(x: Any) -> Any:
        return x * v

    x = tf.constant(3.0)
    double(x)
    ends: list[Any] = []

    def observer(event: Any) -> None:
        assert isinstance(event, FunctionRun)
        ends.append((event.graph.name, event.inputs))
        event.at_end.append(lambda outputs, _: ends.append(outputs))

    with eager_graph().observe(observer):
        y = double(x)
    assert float(y) == 6.0
    (name, inputs), (output,) = ends
    assert name == "double"
    assert inputs[0] is x
    assert inputs[1] is v.handle
    assert float(output) == 6.0


def test_a_function_that_fails_ends_with_none() -> None:
    @tf.function
    def check(x: Any) -> Any:
        return tf.check_numerics(x, "bad")

    ends: list[Any] = []

    def observer(event: Any) -> None:
        if isinstance(event, FunctionRun):
            event.at_end.append(lambda outputs, _: ends.append(outputs))

    with eager_graph().observe(observer), pytest.raises(tf.errors.InvalidArgumentError):
        check(tf.constant(float("nan")))
    assert ends == [None]


def test_which_gradient_is_computed() -> None:
    found: list[Any] = []

    def observer(event: Any) -> None:
        backward = tapes.backward
        found.append(None if backward is None else backward.results[0])

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(x)
        z = tf.exp(y)
    with eager_graph().observe(observer):
        tape.gradient(z, x)
        tf.square(x)
    of_z, *of_y, after = found
    assert of_z is z
    assert of_y
    assert all(each is y for each in of_y)
    assert after is None
    assert tapes.backward is None
