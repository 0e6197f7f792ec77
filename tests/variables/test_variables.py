"""Variables against real TensorFlow 1.15, and what one needs no oracle to know.

golden/variables.py builds the graphs (its docstring says how to make the file anew).
"""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import variables
from tests.test_golden_graphs import assert_same_nodes
from tfteach.ops.state.ref_variables import (
    Assign,
    DestroyTemporaryVariable,
    TemporaryVariable,
    Variable,
)

GOLDEN = json.loads((Path(variables.__file__).parent / "variables.json").read_text())

each_graph = pytest.mark.parametrize(
    "function", variables.GRAPHS, ids=lambda f: f.__name__
)

# TensorFlow warns of it in the same places.
sparse_to_dense = pytest.mark.filterwarnings(
    "ignore:Converting sparse IndexedSlices:UserWarning"
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def sess(graph):
    with tf.Session(graph=graph) as sess:
        yield sess


@each_graph
@sparse_to_dense
def test_graph_equals_the_golden_one(function):
    packed = base64.b64decode(GOLDEN[function.__name__]["graph"])
    wanted = tf.GraphDef.FromString(zlib.decompress(packed))
    graph, _ = variables.build(tf, function)
    made = graph.as_graph_def()
    assert_same_nodes(made, wanted)


@each_graph
@sparse_to_dense
def test_values_equal_the_golden_ones(function):
    wanted = GOLDEN[function.__name__]["values"]
    found = variables.results(tf, *variables.build(tf, function))
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        if isinstance(theirs, list) and theirs and isinstance(theirs[0], str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=1e-6)


def test_every_graph_is_in_the_file():
    assert {f.__name__ for f in variables.GRAPHS} == set(GOLDEN)


# ---- what a variable is


@pytest.mark.parametrize("use_resource", [False, True])
def test_properties(graph, use_resource):
    v = tf.Variable([[1.0, 2.0]], name="v", use_resource=use_resource, trainable=False)
    assert isinstance(v, tf.Variable)
    assert (v.name, v.op.name, v.device, v.graph) == ("v:0", "v", "", graph)
    assert v.shape.as_list() == v.get_shape().as_list() == [1, 2]
    assert v.dtype.name == ("float32" if use_resource else "float32_ref")
    assert v.initializer.name == "v/Assign"
    assert v.initial_value.op.type == "Const"
    assert v.trainable is False
    assert tf.trainable_variables() == []
    assert tf.global_variables() == [v]
    assert repr(v) == f"<tf.Variable 'v:0' shape=(1, 2) dtype={v.dtype.name}>"
    assert {v: 1}[v] == 1
    assert v == v
    assert v != tf.Variable(1.0)
    with pytest.raises(TypeError, match="not iterable"):
        iter(v)


@pytest.mark.parametrize("use_resource", [False, True])
def test_each_session_keeps_its_own_value(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    add = v.assign_add(1.0)
    init = tf.global_variables_initializer()
    with tf.Session() as one, tf.Session() as other:
        one.run(init)
        assert one.run([add, add]) == [2.0, 2.0]
        with pytest.raises(tf.errors.FailedPreconditionError, match="ninitialized"):
            other.run(v)
        other.run(init)
        assert other.run(v) == 1.0
        assert one.run(v) == 2.0


def test_constant_initializers_are_not_changed_by_updates(sess):
    start = np.zeros(5000, np.float32)
    v = tf.Variable(start)
    add = v.assign_add(np.ones(5000, np.float32))
    sess.run(v.initializer)
    for _ in range(3):
        sess.run(add.op)
    assert sess.run(v).tolist() == [3.0] * 5000
    sess.run(v.initializer)
    assert sess.run(v).tolist() == [0.0] * 5000
    assert start.any() == np.False_


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_was_fetched_does_not_change(sess, use_resource):
    v = tf.Variable(np.zeros((50, 50)), use_resource=use_resource)
    update = tf.scatter_add(v, [0], np.ones((1, 50)))
    sess.run(v.initializer)
    before, after = sess.run(v), sess.run(update)
    sess.run(update)
    assert before.sum() == 0
    assert after.sum() == 50
    assert sess.run(v).sum() == 100


def test_operators_are_the_tensors_own(sess):
    v = tf.Variable([3.0, -4.0])
    sess.run(v.initializer)
    found = sess.run([v + v, 1 - v, v / 2.0, 2.0 // v, v % 3.0, abs(v), v > 0, 2.0**v])
    wanted = [[6, -8], [-2, 5], [1.5, -2], [0, -1], [0, 2], [3, 4], [1, 0], [8, 0.0625]]
    for ours, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, right)
    again = v
    again += 1.0
    assert isinstance(again, tf.Tensor)
    resource = tf.Variable(1.0, use_resource=True)
    with pytest.raises(RuntimeError, match=r"assign_add\(value\)"):
        resource += 1.0


@pytest.mark.parametrize("use_resource", [False, True])
def test_load_eval_and_proto(sess, use_resource):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    v.load([5.0, 6.0], sess)
    assert v.eval(sess).tolist() == [5.0, 6.0]
    again = tf.Variable.from_proto(v.to_proto())
    assert (type(again), again.name) == (type(v), v.name)
    assert again.eval(sess).tolist() == [5.0, 6.0]
    assert again.initializer is v.initializer
    assert v.to_proto(export_scope="elsewhere") is None


def test_load_needs_a_session():
    with pytest.raises(ValueError, match="default session should be established"):
        tf.Variable(1.0).load(2.0)


def test_creators_decide_what_is_made():
    made = []

    def note(make, **kwargs):
        made.append(kwargs["name"])
        return make(**{**kwargs, "use_resource": True})

    with tf.variable_creator_scope(note):
        v = tf.Variable(1.0, name="seen")
        w = tf.get_variable("got", [2])
    assert made == ["seen", "got"]
    assert v.op.type == w.op.type == "VarHandleOp"
    assert tf.Variable(1.0).op.type == "VariableV2"


def test_resource_variables_by_default():
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    try:
        assert tf.Variable(1.0).op.type == "VarHandleOp"
        assert tf.Variable(1.0, use_resource=False).op.type == "VariableV2"
        assert tf.get_variable("v", [1]).op.type == "VarHandleOp"
    finally:
        tf.disable_resource_variables()
    assert tf.Variable(1.0).op.type == "VariableV2"


def test_deprecated_names():
    v = tf.Variable(1.0)
    assert tf.all_variables() == [v]
    for make in (tf.initialize_all_variables, lambda: tf.initialize_variables([v])):
        assert make().control_inputs == [v.initializer]
    assert tf.initialize_local_variables().control_inputs == []


# ---- what it refuses

REFUSED = {
    "no value": (lambda: tf.Variable(), ValueError, "initial_value must be specified"),
    "collections": (
        lambda: tf.Variable(1.0, collections="abc"), ValueError, "must be a list, tuple"
    ),
    "constraint": (
        lambda: tf.Variable(1.0, constraint=3), ValueError, "must be a callable"
    ),
    "no shape": (
        lambda: tf.Variable(tf.placeholder(tf.float32)),
        ValueError,
        "initial_value must have a shape specified",
    ),
    "synchronization": (
        lambda: tf.Variable(1.0, synchronization=7),
        ValueError,
        "Invalid variable synchronization mode: 7",
    ),
    "dtype": (
        lambda: tf.convert_to_tensor(tf.Variable(1.0), tf.int32),
        ValueError,
        "Incompatible type conversion requested to type 'int32' for variable of type "
        "'float32_ref'",
    ),
    "shape": (
        lambda: tf.Variable([1.0, 2.0]).assign([1.0]),
        ValueError,
        "Dimension 0 in both shapes must be equal, but are 2 and 1. Shapes are [2] and "
        "[1]. for 'Assign' (op: 'Assign') with input shapes: [2], [1].",
    ),
    "resource shape": (
        lambda: tf.Variable([1.0, 2.0], use_resource=True).assign([1.0]),
        ValueError,
        "Shapes (2,) and (1,) are incompatible",
    ),
    "no slices": (
        lambda: tf.Variable([1.0]).scatter_add([1.0]),
        TypeError,
        "sparse_delta is not IndexedSlices",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case):
    make, error, words = REFUSED[case]
    with pytest.raises(error) as caught:
        make()
    assert words in str(caught.value)


FAILING = {
    "assign": (
        lambda v, fed: tf.assign(v, fed),
        "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= "
        "[1]",
    ),
    "assign_add": (tf.assign_add, "Parameters and update must be the same size"),
    "index": (
        lambda v, fed: tf.scatter_add(v, [5], [1.0]), "indices[0] = 5 is not in [0, 3)"
    ),
    "updates": (
        lambda v, fed: tf.scatter_add(v, [1, 2], fed),
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = "
        "[], got updates.shape [1], indices.shape [2], params.shape [3]",
    ),
    "point": (
        lambda v, fed: tf.scatter_nd_update(v, [[5]], [1.0]),
        "indices[0] = [5] does not index into shape [3]",
    ),
    "slice": (
        lambda v, fed: v[:2].assign(fed),
        "sliced l-value shape [2] does not match r-value shape [1]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILING)
def test_fails_when_run_and_leaves_the_value_alone(case, sess):
    make, words = FAILING[case]
    v = tf.Variable([1.0, 2.0, 3.0])
    fed = tf.placeholder(tf.float32)
    target = make(v, fed)
    sess.run(v.initializer)
    with pytest.raises(tf.errors.OpError) as caught:
        sess.run(target, {fed: [1.0]})
    assert words in caught.value.message
    assert caught.value.op is target.op
    assert sess.run(v).tolist() == [1.0, 2.0, 3.0]


def test_updates_of_uninitialized_variables(sess):
    v = tf.Variable([1.0], name="v")
    r = tf.Variable([1.0], name="r", use_resource=True)
    for update in (tf.assign_add(v, [1.0]), tf.scatter_add(v, [0], [1.0])):
        with pytest.raises(
            tf.errors.FailedPreconditionError,
            match="Attempting to use uninitialized value v",
        ):
            sess.run(update)
    with pytest.raises(
        tf.errors.FailedPreconditionError,
        match="Error while reading resource variable r from Container: localhost",
    ):
        sess.run(r)
    for update in (r.assign_add([1.0]), tf.scatter_add(r, [0], [1.0])):
        with pytest.raises(tf.errors.NotFoundError, match="Resource localhost/r"):
            sess.run(update)


def test_count_up_to_ends(sess):
    counter = tf.Variable(0)
    step = tf.count_up_to(counter, 2)
    sess.run(counter.initializer)
    assert [sess.run(step), sess.run(step)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        sess.run(step)
    assert sess.run(counter) == 2


def test_old_and_temporary_buffers(sess):
    old = Variable((2,), tf.float32)(name="old")
    put = Assign()(old, [1.0, 2.0])
    temporary = TemporaryVariable((2,), tf.float32, "buffer")()
    filled = Assign()(temporary, [3.0, 4.0])
    last = DestroyTemporaryVariable("buffer")(filled)
    assert sess.run(put).tolist() == [1.0, 2.0]
    assert sess.run(old).tolist() == [1.0, 2.0]
    for _ in range(2):
        assert sess.run(last).tolist() == [3.0, 4.0]


def test_shapes_left_open(sess):
    fed = tf.placeholder(tf.float32)
    v = tf.Variable(fed, validate_shape=False, name="v")
    assert v.shape.ndims is None
    sess.run(v.initializer, {fed: [1.0, 2.0]})
    assert sess.run(v).tolist() == [1.0, 2.0]
    sess.run(tf.assign(v, [[3.0]], validate_shape=False))
    assert sess.run(v).tolist() == [[3.0]]
    w = tf.Variable([1.0], shape=tf.TensorShape(None), use_resource=True)
    assert w.shape.ndims is None
    sess.run(w.initializer)
    sess.run(w.assign([[1.0, 2.0]], read_value=False))
    assert sess.run(w).tolist() == [[1.0, 2.0]]
