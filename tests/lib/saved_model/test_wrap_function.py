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


def names(function):
    return [op.name for op in function.graph.get_operations()]


def test_nodes_of_parts_keep_their_names():
    v = tf.Variable(3.0)

    def f(x):
        return tf.cond(x > 0, lambda: x * v, lambda: x + v, name="c")

    whole = tf.wrap_function(f, [SCALAR])
    part = whole.prune(whole.inputs[0], whole.outputs[0])
    assert {"c", "c/Identity"} < set(names(part))
    assert set(names(part)) == set(names(whole))
    again = part.prune(part.inputs[0], part.outputs[0])
    assert names(again) == names(part)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = again(x)
    assert [float(g) for g in tape.gradient(result, [x, v])] == [3.0, 2.0]


@pytest.fixture
def branches():
    """A function of a GraphDef with Switch and Merge nodes: a branch's value, too."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.cond(x[0] > 0, lambda: x * x, lambda: -x, name="branch")
    graph_def = graph.as_graph_def()

    def imported(x):
        elements = ["branch/Merge:0", "branch/mul:0"]
        return tf.import_graph_def(graph_def, {"x": x}, elements, name="")

    return tf.wrap_function(imported, [tf.TensorSpec([2], tf.float32)])


def test_what_a_branch_that_was_not_taken_returns_is_empty(branches):
    plus_one = tf.function(lambda x: branches(x)[1] + 1)
    for function in branches, tf.function(branches):
        taken, inside = function(tf.constant([2.0, 1.0]))
        assert [taken.numpy().tolist(), inside.numpy().tolist()] == [[4.0, 1.0]] * 2
        taken, inside = function(tf.constant([-2.0, 1.0]))
        assert [taken.numpy().tolist(), inside.numpy().tolist()] == [[2.0, -1.0], []]
    assert plus_one(tf.constant([-2.0, 1.0])).shape == (0,)


@pytest.mark.parametrize("is_pruned", [False, True])
def test_gradients_of_branches_of_a_graph_def(branches, is_pruned):
    function = branches.prune(branches.inputs[0], branches.outputs[0])
    if not is_pruned:
        whole = branches

        def function(x):
            return whole(x)[0]

    for x, gradient, second in (
        ([2.0, 1.0], [4.0, 2.0], [2.0, 2.0]),
        ([-2.0, 1.0], [-1.0, -1.0], [0.0, 0.0]),
    ):
        x = tf.constant(x)
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                result = function(x)
            found = inner.gradient(result, x)
        assert found.numpy().tolist() == gradient
        assert outer.gradient(found, x).numpy().tolist() == second


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
