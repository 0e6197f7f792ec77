"""Graphs deeper than Python's recursion limit; what is cached of them stays true."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.runs.pruning import explain_run
from tfteach.framework.constant_values import (
    constant_shape,
    constant_value,
    folded_value,
)

DEEP = 1500


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    assert sys.getrecursionlimit() < DEEP
    with tf.Graph().as_default() as graph:
        yield graph


def test_sizes_computed_by_thousands_of_ops() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    constant, unknown, whole = tf.constant([2, 3]), tf.shape(x), tf.shape(tf.ones([6]))
    for _ in range(DEEP):
        constant, unknown, whole = constant + 0, unknown + 0, tf.identity(whole)
    assert tf.reshape(tf.ones([6]), constant).shape == [2, 3]
    assert tf.reshape(tf.ones([6]), whole).shape == [6]
    reshaped = tf.reshape(x, unknown)
    assert reshaped.shape.as_list() == [None, None]
    with tf.Session() as session:
        assert session.run(reshaped, {x: np.ones([2, 3])}).shape == (2, 3)


def test_sizes_joined_and_cut_many_times() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    joined = packed = tf.shape(x)
    for _ in range(400):
        joined = tf.concat([joined[:1], [3]], 0)
        packed = tf.stack([packed[0], 3])
    assert tf.reshape(x, joined).shape.as_list() == [None, 3]
    assert tf.reshape(x, packed).shape.as_list() == [None, 3]


def test_each_of_many_ops_asks_for_sizes_computed_before_it() -> None:
    count = tf.constant(0)
    for i in range(1, 1100):
        count = count + 1
        assert tf.fill([count, 2], 0.0).shape == [i, 2]


def test_what_was_unknown_is_asked_again_when_a_shape_is_refined() -> None:
    x = tf.placeholder(tf.float32, [None, None])
    sizes = tf.concat([tf.shape(x)[:1] + 1, tf.shape(x)[1:]], 0)
    y = tf.placeholder(tf.float32)
    assert tf.reshape(y, sizes).shape.as_list() == [None, None]
    assert constant_value(sizes) is None
    x.set_shape([None, 5])
    assert constant_shape(tf.identity(tf.shape(x))) == (None, 5)
    assert constant_shape(tf.identity(sizes)) == (None, 5)
    x.set_shape([4, None])
    assert constant_shape(sizes) == (5, 5)
    assert folded_value(sizes).tolist() == [5, 5]


def test_a_changed_op_changes_what_hangs_on_it() -> None:
    two, three = tf.constant(2), tf.constant(3)
    five, doubled = two + three, (two + three) * 2
    assert constant_value(doubled) == 10
    doubled.op._update_input(0, five)
    five.op._update_input(1, two)
    assert constant_value(five) == 4
    assert constant_value(doubled) == 8


def test_a_value_kept_by_the_graph_cannot_be_changed() -> None:
    value = constant_value(tf.constant([1, 2]) + 1)
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 7


def test_initial_values_that_depend_on_each_other() -> None:
    first = variable = tf.Variable(1.0)
    shared = tf.get_variable("v", initializer=1.0, use_resource=True)
    for _ in range(450):
        variable = tf.Variable(variable.initial_value + 1.0)
    for i in range(100):
        value = shared.initialized_value() + 1.0
        shared = tf.get_variable(f"v{i}", initializer=value, use_resource=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([first, variable, shared]) == [1.0, 451.0, 101.0]


def test_initial_values_through_a_thousand_ops() -> None:
    value = tf.Variable(1.0) + 0.0
    for _ in range(1100):
        value = value + 1.0
    variable = tf.Variable(value)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(variable) == 1101.0


def test_a_deep_graph_runs_is_differentiated_and_copied(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x
    ops = []
    for _ in range(1100):
        y = y + x
        ops.append(y.op)
    gradient = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert session.run([y, gradient], {x: 2.0}) == [2202.0, 1101.0]
    needs = explain_run(graph, y, [x])
    assert len(needs.why(ops[0]).path) > 1000
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(graph.as_graph_def(), name="")
    assert len(copy.get_operations()) == len(graph.get_operations())


def test_readers_of_a_tensor_after_changes_of_ops() -> None:
    x, y = tf.constant(1.0), tf.constant(2.0)
    first, second, third = x + y, tf.negative(y), x * x
    assert x.consumers() == [first.op, third.op]
    second.op._update_input(0, x)
    assert x.consumers() == [first.op, second.op, third.op]
    assert y.consumers() == [first.op]
    third.op._update_input(0, y)
    assert x.consumers() == [first.op, second.op, third.op]
    third.op._update_input(1, y)
    assert x.consumers() == [first.op, second.op]
    assert y.consumers() == [first.op, third.op]
    third.op._add_control_inputs([first.op])
    second.op._add_control_input(first.op)
    assert first.op.control_outputs == [second.op, third.op]
    second.op._remove_all_control_inputs()
    assert first.op.control_outputs == [third.op]
    assert tf.negative(first).op.inputs[0].consumers()[-1].type == "Neg"


def test_gradients_of_many_loops_and_branches() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x
    for _ in range(12):
        y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * 2.0), [0, y])[1]
        y = tf.cond(y > 0.0, lambda y=y: y + 1.0, lambda y=y: y - 1.0)
    gradient = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert session.run(gradient, {x: 1.0}) == 4.0**12
