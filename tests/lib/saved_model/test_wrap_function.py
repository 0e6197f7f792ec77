"""Code of graphs and sessions as functions."""

import pytest

import tfteach as tf
from tests.eagerly import eagerly
from tfteach.lib.saved_model.wrap_function import WrappedGraph, function_from_graph_def

__all__ = ["eagerly"]
pytestmark = pytest.mark.usefixtures("eagerly")
SCALAR = tf.TensorSpec([], tf.float32)


def add(x, do_add):
    v = tf.Variable(5.0)
    op = v.assign_add(x) if do_add else v.assign_sub(x)
    with tf.control_dependencies([op]):
        return v.read_value()


def test_each_function_has_its_variables():
    up = tf.compat.v1.wrap_function(add, [SCALAR, True])
    down = tf.compat.v1.wrap_function(add, [SCALAR, False])
    assert [float(f(1.0)) for f in (up, up, down, down)] == [6.0, 7.0, 4.0, 3.0]
    with pytest.raises(NotImplementedError, match="Keyword arguments not supported"):
        up(x=tf.constant(1.0))


def test_only_what_the_results_need_runs():
    v = tf.Variable(0)

    def f():
        v.assign_add(1, name="unused")
        return tf.constant(1), v.assign_add(10)

    found = tf.wrap_function(f, [])()
    assert [found[0].numpy(), found[1].numpy(), v.numpy()] == [1, 10, 10]


def test_parts_of_the_graph_become_functions():
    x = tf.Variable(3.0)

    def f(a):
        double = tf.identity(a * 2.0, name="double")
        return tf.identity(double * x, name="result")

    whole = tf.wrap_function(f, [SCALAR])
    first = whole.prune(whole.inputs, {"d": "double:0"})
    last = whole.prune("double:0", whole.outputs[0])
    assert first(tf.constant(2.0))["d"].numpy() == 4.0
    with tf.GradientTape() as tape:
        result = last(tf.constant(2.0))
    assert [result.numpy(), tape.gradient(result, x).numpy()] == [6.0, 2.0]
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        whole.prune(whole.graph.get_operation_by_name("double"), whole.outputs)
    other = tf.wrap_function(lambda a: a, [SCALAR])
    with pytest.raises(ValueError, match="feeds and fetches are from this graph"):
        whole.prune([], other.outputs)


def test_operations_run_and_give_none():
    v = tf.Variable(0)

    def f():
        v.assign(4, name="set", read_value=False)

    pruned = tf.wrap_function(f, []).prune([], "set")
    assert v.numpy() == 0
    assert pruned() is None
    assert v.numpy() == 4


def test_functions_of_one_graph_share_variables():
    def counter(x):
        with tf.variable_scope("vars", reuse=tf.AUTO_REUSE):
            return tf.get_variable("v", [], initializer=tf.zeros_initializer()), x

    graph = WrappedGraph()
    read = graph.wrap_function(lambda x: counter(x)[0] + x, [SCALAR], "read")
    change = graph.wrap_function(lambda x: counter(x)[0].assign_add(x), [SCALAR], "up")
    change(tf.constant(5.0))
    assert read(tf.constant(1.0)).numpy() == 6.0
    assert list(graph.functions) == ["read", "up"]
    assert [v.numpy() for v in graph.variables.values()] == [5.0]


def test_a_graph_def_becomes_a_function():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], "x")
        tf.add(x, 1.0, name="y")
    made = function_from_graph_def(graph.as_graph_def(), "x:0", {"y": "y:0"})
    assert made(tf.constant(2.0))["y"].numpy() == 3.0
