"""get_variable and variable_scope: sharing, defaults, parts, and TensorFlow's errors.

Names against real TensorFlow: test_variables.py, functions of golden/variables.py.
"""

import inspect

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.convert import convert


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def reusing(**kwargs):
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        return tf.get_variable(**kwargs)


# ---- sharing


def test_reuse_gives_the_same_variable():
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("v", [2])
        scope.reuse_variables()
        assert tf.get_variable("v") is v
    with tf.variable_scope(scope, reuse=True):
        assert tf.get_variable("v", [2]) is v
    for _ in range(2):
        with tf.variable_scope("b", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [1])
    assert [x.name for x in tf.global_variables()] == ["a/v:0", "b/w:0"]
    assert w.name == "b/w:0"


def test_reuse_is_inherited_and_ends_with_the_scope():
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        with tf.variable_scope("b", reuse=False) as inner:
            assert inner.reuse is True
        assert tf.get_variable("v", [2]) is v
    assert tf.get_variable_scope().reuse is False


def test_each_graph_has_variables_of_its_own():
    v = tf.get_variable("v", [2])
    with tf.Graph().as_default():
        assert tf.get_variable("v", [3]) is not v


def line_of(function, text):
    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if text in line)


def test_a_second_variable_is_refused_with_the_line_of_the_first():
    tf.get_variable("v", [2])
    line = line_of(
        test_a_second_variable_is_refused_with_the_line_of_the_first, '("v", [2])'
    )
    with pytest.raises(ValueError, match="already exists") as caught:
        tf.get_variable("v", [2])
    message = str(caught.value)
    assert message.startswith(
        "Variable v already exists, disallowed. Did you mean to set reuse=True or "
        "reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n"
    )
    assert f'{__file__}", line {line}, in test_a_second' in message
    assert 'tf.get_variable("v", [2])' in message


REFUSED = {
    "missing": (
        lambda: reusing(name="nope", shape=[1]),
        "Variable nope does not exist, or was not created with tf.get_variable(). Did "
        "you mean to set reuse=tf.AUTO_REUSE in VarScope?",
    ),
    "shape": (
        lambda: reusing(name="v", shape=[3, 3]),
        "Trying to share variable v, but specified shape (3, 3) and found shape "
        "(2, 3).",
    ),
    "dtype": (
        lambda: reusing(name="v", shape=[2, 3], dtype=tf.int32),
        "Trying to share variable v, but specified dtype int32 and found dtype "
        "float32_ref.",
    ),
    "no shape": (lambda: tf.get_variable("n"), "The initializer passed is not valid."),
    "unknown shape": (
        lambda: tf.get_variable("n", [None, 2]), "The initializer passed is not valid."
    ),
    "shape and value": (
        lambda: tf.get_variable("n", [2], initializer=tf.ones([2])),
        "If initializer is a constant, do not specify shape.",
    ),
    "dtype of value": (
        lambda: tf.get_variable("n", initializer=tf.ones([2]), dtype=tf.int32),
        "Initializer type '<dtype: 'float32'>' and explicit dtype '<dtype: 'int32'>' "
        "don't match.",
    ),
    "no default initializer": (
        lambda: tf.get_variable("n", [2], dtype=tf.complex64),
        "An initializer for variable n of <dtype: 'complex64'> is required",
    ),
    "custom getter": (
        lambda: tf.get_variable("n", [2], custom_getter=3),
        "Passed a custom_getter which is not callable: 3",
    ),
    "partitioner": (
        lambda: tf.get_variable("n", [3], partitioner=3),
        "Partitioner must be callable, but received: 3",
    ),
    "parts": (
        lambda: tf.get_variable("n", [3], partitioner=lambda **_: 3),
        "Partitioner must return a sequence, but saw: 3",
    ),
    "rank of parts": (
        lambda: tf.get_variable("n", [3, 3], partitioner=lambda **_: [2]),
        "Partitioner returned a partition list that does not match the Variable's "
        "rank: [2] vs. (3, 3)",
    ),
    "two axes": (
        lambda: tf.get_variable("n", [3, 3], partitioner=lambda **_: [2, 2]),
        "Can only slice a variable along one dimension: shape: (3, 3), partitioning: "
        "[2, 2]",
    ),
    "no parts": (
        lambda: tf.get_variable("n", [3, 3], partitioner=lambda **_: [0, 1]),
        "Partitioner returned zero partitions for some axes: [0, 1]",
    ),
    "whole there": (
        lambda: tf.get_variable(
            "v", [2, 3], partitioner=tf.fixed_size_partitioner(2)
        ),
        "A partitioner was provided, but an unpartitioned version of the variable was "
        "found: v.",
    ),
    "parts there": (
        lambda: tf.get_variable("parts", [4]),
        "No partitioner was provided, but a partitioned version of the variable was "
        "found: parts/part_0.",
    ),
    "parts again": (
        lambda: tf.get_variable(
            "parts", [4], partitioner=tf.fixed_size_partitioner(2)
        ),
        "Partitioned variable with name parts already exists.",
    ),
    "reuse": (
        lambda: tf.variable_scope("a", reuse=3),
        "The reuse parameter must be True or False or None.",
    ),
    "reuse without name": (
        lambda: tf.variable_scope(None, "d", reuse=True).__enter__(),
        "reuse=True cannot be used without a name_or_scope",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case):
    make, words = REFUSED[case]
    tf.get_variable("v", [2, 3])
    tf.get_variable("parts", [4], partitioner=tf.fixed_size_partitioner(2))
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the table has the words
        make()
    assert words in str(caught.value)


def test_names_of_scopes_have_types():
    with pytest.raises(TypeError, match="default_name is None then name_or_scope"):
        tf.variable_scope(None)
    with pytest.raises(TypeError, match="must be a string or VariableScope"):
        tf.variable_scope(3).__enter__()
    with pytest.raises(TypeError, match="must be `True` or `False`"):
        tf.variable_scope("a", auxiliary_name_scope=1)


# ---- what scopes hand down


def test_scope_defaults_and_setters():
    def halve(v):
        return v * 0.5

    with tf.variable_scope(
        "a", initializer=tf.ones_initializer(), regularizer=halve, dtype=tf.float64,
        use_resource=True, constraint=halve,
    ) as scope:  # fmt: skip
        assert scope.name == "a"
        assert scope.original_name_scope == "a/"
        v = tf.get_variable("v", [2])
        assert v.dtype is tf.float64
        assert v.op.type == "VarHandleOp"
        assert v.constraint is halve
        assert v.initial_value.op.name == "a/v/Initializer/ones"
        with tf.variable_scope("b") as inner:
            assert inner.initializer is scope.initializer
            assert inner.regularizer is halve
            assert inner.dtype is tf.float64
            assert inner.use_resource is True
            assert inner.constraint is None  # TF does not hand it down
            inner.set_dtype(tf.float32)
            inner.set_use_resource(False)
            inner.set_regularizer(None)
            inner.set_initializer(tf.zeros_initializer())
            inner.set_caching_device("/cpu:0")
            w = tf.get_variable("w", [2])
        assert w.dtype.name == "float32_ref"
        assert w.value().device == "/device:CPU:0"
        assert w.initial_value.op.name == "a/b/w/Initializer/zeros"
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "a/v/Regularizer/mul:0"
    assert scope.global_variables() == scope.trainable_variables() == [v, w]
    assert scope.local_variables() == []


def test_custom_getters_nest():
    seen = []

    def getter(label):
        def get(getter, name, *args, **kwargs):
            seen.append((label, name))
            return getter(name + label, *args, **kwargs)

        return get

    with tf.variable_scope("a", custom_getter=getter("_outer")):
        with tf.variable_scope("b", custom_getter=getter("_inner")):
            v = tf.get_variable("v", [1])
        own = tf.get_variable("w", [1], custom_getter=getter("_own"))
    assert v.name == "a/b/v_inner_outer:0"
    assert own.name == "a/w_own:0"
    assert seen == [("_inner", "a/b/v"), ("_outer", "a/b/v_inner"), ("_own", "a/w")]


def test_getter_without_constraint_gets_none():
    def get(getter, name, shape, dtype, initializer, regularizer, reuse, trainable,
            collections, caching_device, partitioner, validate_shape, use_resource,
            synchronization, aggregation):  # fmt: skip
        return getter(name, shape, dtype)

    v = tf.get_variable("v", [1], custom_getter=get, constraint=abs)
    assert v.constraint is None


def test_local_variables():
    v = tf.get_local_variable("v", [1], collections=["mine"])
    assert tf.local_variables() == tf.get_collection("mine") == [v]
    assert tf.global_variables() == tf.trainable_variables() == []


def test_a_scope_object_can_be_entered_twice():
    scope = tf.variable_scope("a", reuse=tf.AUTO_REUSE)
    with scope:
        first = tf.get_variable("v", [1])
        assert tf.constant(1.0).name == "a/Const:0"
    with scope:
        assert tf.get_variable("v", [1]) is first
        assert tf.constant(1.0).name == "a_1/Const:0"
    assert tf.get_variable_scope().name == ""


def test_an_error_inside_leaves_no_scope_open():
    with pytest.raises(KeyError), tf.variable_scope("a"):
        raise KeyError
    assert tf.get_variable_scope().name == ""
    assert tf.get_default_graph().get_name_scope() == ""


def test_variable_op_scope_takes_values_first():
    with tf.variable_op_scope([], None, "name"):
        assert tf.get_variable("v", [1]).name == "name/v:0"


# ---- variables in parts


def test_parts_read_and_assign_as_one():
    cut = tf.fixed_size_partitioner(3)
    v = tf.get_variable("v", [7, 2], partitioner=cut, initializer=tf.ones_initializer())
    assert [p.shape.as_list() for p in v] == [[3, 2], [2, 2], [2, 2]]
    assert (v.name, v.dtype, v.shape.as_list(), len(v)) == ("v", tf.float32, [7, 2], 3)
    specs = [p._get_save_slice_info().spec for p in v]
    assert specs == ["7 2 0,3:0,2", "7 2 3,2:0,2", "7 2 5,2:0,2"]
    new = np.arange(14, dtype=np.float32).reshape(7, 2)
    updates = v.assign(new), v.assign_add(new), v.assign_sub(tf.ones((7, 2)))
    product = tf.matmul(v, [[1.0], [1.0]])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(v.as_tensor()).tolist() == np.ones((7, 2)).tolist()
        for update in updates:
            sess.run(update)
        np.testing.assert_allclose(sess.run(v.as_tensor()), 2 * new - 1)
        right = (2 * new - 1).sum(1, keepdims=True)
        np.testing.assert_allclose(sess.run(product), right)
    again = reusing(name="v", shape=[7, 2])
    assert again is v
    with pytest.raises(NotImplementedError, match="as a reference"):
        convert(v, as_ref=True)


@pytest.mark.parametrize(
    ("partitioner", "parts"),
    [
        (tf.fixed_size_partitioner(5), [5, 1]),
        (tf.fixed_size_partitioner(20, axis=1), [1, 3]),
        (tf.variable_axis_size_partitioner(24), [5, 1]),
        (tf.variable_axis_size_partitioner(24, max_shards=2), [2, 1]),
        (tf.min_max_variable_partitioner(4, min_slice_size=40), [3, 1]),
        (tf.min_max_variable_partitioner(2, min_slice_size=1), [2, 1]),
        (tf.min_max_variable_partitioner(), [1, 1]),
    ],
)
def test_partitioners(partitioner, parts):
    assert partitioner(shape=tf.TensorShape([10, 3]), dtype=tf.float32) == parts


# ---- templates (names as TensorFlow 1.15 gives them)


def weighted(x, by=1.0):
    return x * tf.get_variable("w", [], initializer=tf.ones_initializer()) * by


def test_calls_of_a_template_share_variables():
    template = tf.make_template("tm", weighted, by=3.0)
    assert template.variables == []
    assert template.variable_scope is None
    first, second = template(tf.constant(2.0)), template(tf.constant(3.0))
    assert [first.name, second.name] == ["tm/mul_1:0", "tm_1/mul_1:0"]
    (w,) = tf.global_variables()
    assert w.name == "tm/w:0"
    assert template.variables == template.trainable_weights == [w]
    assert template.non_trainable_variables == template.local_variables == []
    assert template.name == template.var_scope.name == "tm"
    assert template.variable_scope_name == "tm/"
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run([first, second]) == [6.0, 9.0]
    tf.make_template("tm", weighted)(tf.constant(1.0))
    assert tf.global_variables()[1].name == "tm_1/w:0"


def test_a_unique_name_is_taken_as_it_is():
    a = tf.make_template("a", weighted, unique_name_="both")
    b = tf.make_template("b", weighted, unique_name_="both")
    assert a(tf.constant(1.0)).name == "both/mul_1:0"
    with pytest.raises(ValueError, match="Variable both/w already exists"):
        b(tf.constant(1.0))


def test_a_template_with_its_scope_at_once():
    template = tf.make_template("tm", weighted, create_scope_now_=True)
    with tf.variable_scope("other"):
        names = [template(tf.constant(1.0)).name for _ in range(2)]
    assert names == ["other/tm/mul_1:0", "other/tm_1/mul_1:0"]
    assert [v.name for v in tf.global_variables()] == ["tm/w:0"]


def test_what_templates_refuse():
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, weighted)
    made = []
    anew = tf.make_template("tm", lambda: tf.Variable(1.0))
    anew()
    with pytest.raises(
        ValueError,
        match="Trainable variable created when calling a template after the first time",
    ) as caught:
        anew()
    assert "test_variable_scope.py" in caught.value.__notes__[0]

    def another():
        made.append(0)
        return tf.get_variable(f"w{len(made)}", [])

    template = tf.make_template("tm", another)
    template()
    with pytest.raises(ValueError, match="Variable tm_1/w2 does not exist"):
        template()
