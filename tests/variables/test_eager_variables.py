"""Variables of eager programs.  Source: TensorFlow 1.15.5."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import tfteach as tf

pytestmark = pytest.mark.usefixtures("eagerly")


def test_a_variable_has_its_value_at_once() -> None:
    v = tf.Variable(2.0)
    assert repr(v) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>"
    assert v.numpy() == 2.0
    assert (v + 1).numpy() == 3.0
    assert v.initializer is None
    assert bool(v)
    assert int(tf.Variable(3)) == 3
    assert copy.deepcopy(v).numpy() == 2.0
    assert tf.Variable(lambda: 3.0).numpy() == 3.0
    assert tf.global_variables() == []


def test_assignments_take_effect_at_once() -> None:
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    result = v.assign([3.0, 4.0])
    assert repr(result).startswith("<tf.Variable 'UnreadVariable' shape=(2,)")
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.5])
    assert result.numpy().tolist() == v.numpy().tolist() == [3.5, 4.5]
    assert before.numpy().tolist() == [1.0, 2.0]
    assert v.assign([0.0, 0.0], read_value=False) is None
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are incompatible"):
        v.assign([1.0, 2.0, 3.0])


def test_what_was_read_never_changes() -> None:
    v = tf.Variable(np.zeros(5000, np.float32))  # is updated in place
    first = v.read_value()
    flat = tf.reshape(first, [50, 100])
    v.assign_add(np.ones(5000, np.float32))
    assert first.numpy().sum() == flat.numpy().sum() == 0.0
    assert v.numpy().sum() == 5000.0


def test_names_have_scopes_and_repeat() -> None:
    with tf.name_scope("a"):
        assert tf.Variable(1.0, name="b").name == "a/b:0"
        assert tf.Variable(1.0, name="b").name == "a/b:0"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda v: v.op, AttributeError, "Tensor.op is meaningless"),
        (lambda v: v.graph, AttributeError, "Tensor.graph is meaningless"),
        (lambda v: v.create, RuntimeError, "Calling create is not supported when"),
        (lambda v: v.eval(), RuntimeError, "Trying to eval in EAGER mode"),
        (lambda v: v.to_proto(), RuntimeError, "to_proto not supported in EAGER mode."),
        (
            lambda v: v.initial_value,
            RuntimeError,
            "initial_value not supported in EAGER",
        ),
        (lambda v: int(v), TypeError, "Non-integer variable can't be converted"),
    ],
)
def test_what_only_variables_of_graphs_have(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(tf.Variable(2.0))


def test_the_value_lives_as_long_as_the_variable() -> None:
    v = tf.Variable(np.zeros(1000, np.float32))
    cell = weakref.ref(v.handle.value.value)
    del v
    gc.collect()
    assert cell() is None


def test_a_graph_inside_has_variables_of_its_own() -> None:
    with tf.Graph().as_default():
        w = tf.Variable(1.0, use_resource=True)
        assert w.initializer is not None
        with tf.Session() as sess:
            sess.run(w.initializer)
            assert sess.run(w) == 1.0
