"""The switch between the two ways to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
from tfteach.engine.eager import context
from tfteach.framework import defaults


@pytest.fixture(autouse=True)
def new_program(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(defaults._STACKS, "graphs", [])
    tf.reset_default_graph()
    context.forget_eager_graph()
    yield
    context.forget_eager_graph()
    tf.reset_default_graph()


def test_a_program_switches_at_its_start() -> None:
    assert not tf.executing_eagerly()
    tf.enable_eager_execution()
    assert tf.executing_eagerly()
    assert tf.add(1, 2).numpy() == 3
    tf.enable_eager_execution()
    assert not tf.get_default_graph().get_operations()
    tf.disable_eager_execution()
    assert not tf.executing_eagerly()


def test_a_program_that_has_built_ops_cannot_switch() -> None:
    tf.constant(1.0)
    with pytest.raises(ValueError, match="must be called at program startup"):
        tf.enable_eager_execution()


def test_a_program_with_a_seed_for_its_graph_cannot_switch() -> None:
    tf.set_random_seed(1)
    with pytest.raises(ValueError, match="must be called at program startup"):
        tf.enable_eager_execution()


def test_switching_again_changes_nothing() -> None:
    tf.enable_eager_execution()
    tf.enable_eager_execution(execution_mode=99)  # as in TensorFlow, not even checked
    assert tf.executing_eagerly()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"config": 3}, TypeError, "config must be a tf.ConfigProto, but got"),
        ({"device_policy": 99}, ValueError, "device_policy must be one of None"),
        ({"execution_mode": 99}, ValueError, "execution_mode must be one of None"),
    ],
)
def test_arguments_are_checked(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tf.enable_eager_execution(**arguments)
    assert not tf.executing_eagerly()


def test_blocks_in_either_mode() -> None:
    with context.eager_mode():
        assert tf.executing_eagerly()
        with context.graph_mode():
            assert not tf.executing_eagerly()
            assert tf.constant(1.0).graph is tf.get_default_graph()
        with tf.Graph().as_default():
            assert not tf.executing_eagerly()
            with tf.init_scope():
                assert not tf.executing_eagerly()
    assert not tf.executing_eagerly()


def test_a_session_runs_the_global_graph() -> None:
    tf.enable_eager_execution()
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        tf.Session().run(tf.constant(1.0))
