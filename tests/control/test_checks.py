"""Checks while building and in runs; test_control_flow_oracle.py has more."""

import numpy as np
import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def fed():
    return tf.placeholder_with_default([1.0, 2.0], [2], name="px")


AT_ONCE = {
    "equal": (lambda: tf.assert_equal(1, 2), (
        "Condition x == y did not hold element-wise:\nx (assert_equal_1/x:0) = \n1\n"
        "y (assert_equal_1/y:0) = \n2")),
    "message": (lambda: tf.assert_less(2, 1, message="mine"), "mine\nCondition x < y"),
    "positive": (lambda: tf.assert_positive(-1), (
        "\nCondition x > 0 did not hold element-wise:\n"
        "x (assert_positive/x:0) = \n-1")),
    "negative": (lambda: tf.assert_negative([0, -1]), "Condition x < 0 did not hold"),
    "non_negative": (lambda: tf.assert_non_negative(-1), "Condition x >= 0 did not"),
    "non_positive": (lambda: tf.assert_non_positive(1), "Condition x <= 0 did not"),
    "none_equal": (lambda: tf.assert_none_equal([1, 2], 2), "Condition x != y did not"),
    "less_equal": (lambda: tf.assert_less_equal(2, 1), "Condition x <= y did not hold"),
    "greater": (lambda: tf.assert_greater(1, 1), "Condition x > y did not hold"),
    "greater_equal": (lambda: tf.assert_greater_equal(0, 1), "Condition x >= y did"),
    "data": (lambda: tf.assert_equal(1, 2, data=["own", 3]), "own\n3"),
}  # fmt: skip


@pytest.mark.parametrize("case", AT_ONCE)
def test_constants_are_checked_at_once(case):
    build, message = AT_ONCE[case]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        build()
    assert caught.value.message.startswith(message) or message in caught.value.message


IN_THE_RUN = {  # the check, and a value that breaks it
    "equal": (lambda x: tf.assert_equal(x, [1.0, 2.0]), [1.0, 3.0]),
    "none_equal": (lambda x: tf.assert_none_equal(x, [3.0, 5.0]), [1.0, 5.0]),
    "less": (lambda x: tf.assert_less(x, 3.0), [1.0, 3.0]),
    "less_equal": (lambda x: tf.assert_less_equal(x, 2.0), [1.0, 2.5]),
    "positive": (tf.assert_positive, [1.0, 0.0]),
    "negative": (lambda x: tf.assert_negative(-x), [1.0, 0.0]),
    "non_negative": (tf.assert_non_negative, [1.0, -1.0]),
    "non_positive": (lambda x: tf.assert_non_positive(-x), [1.0, -1.0]),
    "near": (lambda x: tf.assert_near(x, [1.0, 2.0 + 1e-7]), [1.0, 2.001]),
    "greater": (lambda x: tf.assert_greater(3.0, x), [1.0, 3.0]),
    "greater_equal": (lambda x: tf.assert_greater_equal(x, 1.0), [1.0, 0.5]),
}


@pytest.mark.parametrize("case", IN_THE_RUN)
def test_fed_values_are_checked_in_the_run(case):
    x = fed()
    build, bad = IN_THE_RUN[case]
    check = build(x)
    with tf.Session() as session:
        session.run(check)
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed: "):
            session.run(check, {x: bad})


BUILDING = {
    "rank": (lambda: tf.assert_rank(fed(), 2), ValueError, (
        ".  Tensor px:0 must have rank 2.  Received rank 1, shape (2,)")),
    "at_least": (lambda: tf.assert_rank_at_least(fed(), 2, message="m"), ValueError, (
        "m.  Tensor px:0 must have rank at least 2.  Received rank 1, shape (2,)")),
    "in": (lambda: tf.assert_rank_in(fed(), [0, 2]), ValueError, (
        ".  Tensor px:0 must have rank in (0, 2).  Received rank 1, shape (2,)")),
    "rank no scalar": (
        lambda: tf.assert_rank(fed(), [1]), ValueError, "Rank must be a scalar."),
    "rank type": (lambda: tf.assert_rank(fed(), 1.0), TypeError, (
        "  assert_rank/rank:0 must be of type <dtype: 'int32'>")),
    "integer": (lambda: tf.assert_integer(fed()), TypeError, (
        '  Expected "x" to be integer type.  Found: px:0 of dtype <dtype: \'float32\'>'
    )),
    "type": (lambda: tf.assert_type(fed(), tf.int32), TypeError, (
        "  px:0 must be of type <dtype: 'int32'>")),
    "scalar": (lambda: tf.assert_scalar(fed()), ValueError, (
        "Expected scalar shape for px:0, saw shape: (2,).")),
    "float types": (
        lambda: tf.assert_same_float_dtype([fed(), None, tf.constant(1, name="c")]),
        ValueError, ("c:0, type=<dtype: 'int32'>, must be of the same type (<dtype: "
                     "'float32'>) as px:0.")),
    "no float": (lambda: tf.assert_same_float_dtype([], tf.int32), ValueError, (
        "Expected floating point type, got <dtype: 'int32'>.")),
    "text": (lambda: tf.assert_proper_iterable("s"), TypeError, (
        "Expected argument \"values\" to be a \"proper\" iterable.  Found: <class 'str"
    )),
    "number": (lambda: tf.assert_proper_iterable(3), TypeError, (
        "Expected argument \"values\" to be iterable.  Found: <class 'int'>")),
    "order": (lambda: tf.is_non_decreasing(tf.constant(["a"])), TypeError, (
        "Expected x to be numeric, instead found: ")),
}  # fmt: skip


@pytest.mark.parametrize("case", BUILDING)
def test_refused_while_building(case):
    build, kind, message = BUILDING[case]
    with pytest.raises(kind) as caught:
        build()
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message)


def test_ranks_known_in_the_run_only():
    x, rank = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    exact, several = tf.assert_rank(x, rank), tf.assert_rank_in(x, [0, rank])
    with tf.Session() as session:
        session.run([exact, several], {x: [1.0], rank: 1})
        session.run(several, {x: 1.0, rank: 1})
        for check in (exact, several):
            with pytest.raises(tf.errors.InvalidArgumentError, match="assertion"):
                session.run(check, {x: [1.0], rank: 2})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
            session.run(exact, {x: [1.0], rank: [1]})


def test_types_and_order():
    assert tf.assert_same_float_dtype() is tf.float32
    assert tf.assert_same_float_dtype([tf.constant(np.float64(1))]) is tf.float64
    assert tf.is_numeric_tensor(fed())
    assert not tf.is_numeric_tensor(tf.constant("s"))
    assert not tf.is_numeric_tensor(3)
    tf.assert_proper_iterable([1])
    assert tf.assert_scalar(3).name == "assert_scalar:0"
    x = tf.placeholder(tf.int32)
    order = [tf.is_non_decreasing(x), tf.is_strictly_increasing(x)]
    with tf.Session() as session:
        for value, wanted in {
            (): [True, True], (1,): [True, True], (1, 1): [True, False],
            (1, 2, 3): [True, True], (2, 1): [False, False],
        }.items():  # fmt: skip
            assert session.run(order, {x: value}) == wanted


def shapes_in_a_graph(name=None):
    a = tf.placeholder(tf.float32, [None, 2], name="a")
    b = tf.placeholder(tf.float32, [1, None], name="b")
    return tf.debugging.assert_shapes([(a, ("N", "N")), (b, ("*", "N"))], name=name)


def test_sizes_that_are_not_known_are_checked_in_the_run(graph):
    check = shapes_in_a_graph()
    with tf.Session() as session:
        session.run(check, {"a:0": [[1.0, 2.0]] * 2, "b:0": [[3.0, 4.0]]})
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(check, {"a:0": [[1.0, 2.0]] * 2, "b:0": [[3.0]]})
    assert caught.value.message.startswith(
        "assertion failed: [] [Specified by tensor a:0 dimension 0] "
        "[Tensor b:0 dimension] [-1] [must have size] [2] [Received shape: ] [1 1]"
    )
    names = [op.name for op in graph.get_operations() if op.type == "Assert"]
    assert names == [
        "assert_shapes/Assert/Assert",
        "assert_shapes/Assert_1/Assert",
    ]


def test_known_sizes_that_differ_are_refused():
    x, y = tf.zeros([2, 3], name="x"), tf.zeros([2], name="y")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("D",))])
    assert str(caught.value) == (
        ".  Specified by tensor x:0 dimension 1.  Tensor y:0 dimension 0 must have "
        "size 3.  Received size 2, shape (2,)"
    )
