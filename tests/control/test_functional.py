"""map_fn, scan, folds and switch_case: what runs and what is refused.

Their graphs and gradients are compared in test_loops.py.
"""

import numpy as np
import pytest

import tfteach as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


FUNCTION_ERRORS = {
    "no function": (lambda: tf.map_fn(3, [1.0]), TypeError, "fn must be callable"),
    "scalar": (
        lambda: tf.map_fn(lambda x: x, 1.0),
        ValueError,
        r"elems must be a 1\+ dimensional Tensor, not a scalar",
    ),
    "scalars": (
        lambda: tf.map_fn(lambda x: x, (1.0, 2.0)),
        ValueError,
        r"elements in elems must be 1\+ dimensional Tensors, not scalars",
    ),
    "sparse": (
        lambda: tf.map_fn(lambda x: x, tf.SparseTensor([[0, 0]], [1.0], [1, 1])),
        TypeError,
        "To perform a map on the values of a sparse tensor use either",
    ),
    "structure": (
        lambda: tf.map_fn(lambda x: (x, x), tf.constant([1.0])),
        (TypeError, ValueError),
        "have the same nested structure",
    ),
    "lengths": (
        lambda: tf.map_fn(
            lambda x: x[0], (tf.zeros([2]), tf.zeros([3])), dtype=tf.float32
        ),
        ValueError,
        "Dimensions 2 and 3 are not compatible",
    ),
    "scan's structure": (
        lambda: tf.scan(lambda a, x: (a, x), tf.constant([1.0, 2.0])),
        (TypeError, ValueError),
        "have the same nested structure",
    ),
    "scan's type": (
        lambda: tf.scan(lambda a, x: tf.to_int32(a), tf.constant([1.0, 2.0])),
        tf.errors.InvalidArgumentError,
        "was passed int32 from scan/while/NextIteration_2:0 incompatible with expected",
    ),
    "scan's shape": (
        lambda: tf.scan(lambda a, x: tf.concat([a, a], 0), tf.zeros([2, 1])),
        ValueError,
        r"Inconsistent shapes: saw \(2,\) but expected \(1,\)",
    ),
    "foldl": (lambda: tf.foldl(1, [1.0]), TypeError, "fn must be callable"),
    "foldr": (lambda: tf.foldr(1, [1.0]), TypeError, "fn must be callable"),
}


@pytest.mark.parametrize("case", FUNCTION_ERRORS)
def test_functions_refuse(session, case):
    build, kind, message = FUNCTION_ERRORS[case]
    with pytest.raises(kind, match=message):
        build()
    assert session.graph.control_flow_context is None
    assert tf.get_variable_scope().caching_device is None


def test_empty_sequences(session):
    x = tf.placeholder(tf.float32, [None])
    last = tf.foldl(lambda a, e: a + e, x, initializer=7.0)
    mapped = tf.map_fn(lambda e: e * 2.0, tf.zeros([0, 2]), dtype=tf.float32)
    assert session.run(last, {x: []}) == 7
    assert session.run(mapped).shape == (0, 2)  # as the body's graph says
    first = tf.scan(lambda a, e: a + e, x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="from index 0 but array"):
        session.run(first, {x: []})
    known = tf.scan(lambda a, e: a + e, x, initializer=1.0)
    assert session.run(known, {x: []}).shape == (0,)


def test_results_of_changing_shapes(session):
    n = tf.constant([1, 2])
    for infer, message in ((True, "inferred element shape"), (False, "inconsistent")):
        made = tf.map_fn(tf.range, n, infer_shape=infer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(made)
    grown = tf.scan(
        lambda a, x: tf.concat([a, x], 0)[-2:],
        tf.constant([[1.0], [2.0]]),
        initializer=tf.zeros([2]),
        infer_shape=False,
    )
    assert session.run(grown).tolist() == [[0, 1], [1, 2]]


# ---- switch_case


def ten():
    return tf.constant(10)


def twenty():
    return tf.constant(20)


def test_switch_case(session):
    k = tf.placeholder(tf.int32, [])
    last = tf.switch_case(k, [ten, twenty, lambda: tf.constant(30)])
    named = tf.switch_case(k, {1: twenty, 0: ten}, default=lambda: tf.constant(9))
    nested = tf.switch_case(k, [lambda: (ten(), [twenty()]), lambda: (ten(), [ten()])])
    only = tf.switch_case(k, [ten])
    x = tf.constant(3.0)
    powers = tf.switch_case(k, [lambda: x, lambda: x * x])
    [grad] = tf.gradients(powers, x)
    for number, wanted in {
        -1: (30, 9, (10, [10]), 10, 9.0, 6.0),
        0: (10, 10, (10, [20]), 10, 3.0, 1.0),
        1: (20, 20, (10, [10]), 10, 9.0, 6.0),
        5: (30, 9, (10, [10]), 10, 9.0, 6.0),
    }.items():
        found = session.run((last, named, nested, only, powers, grad), {k: number})
        assert found == wanted


SWITCH_REFUSED = {
    "number": (1, [ten], TypeError, "branch_index must a Tensor, got"),
    "float": (1.0, [ten], TypeError, "branch_index must an integer Tensor, got"),
    "long": (np.int64(1), [ten], TypeError, "'Case' Op has type int64 that does not"),
    "none": (np.int32(1), [], ValueError, "at least one item in branch_fns"),
    "text": (np.int32(1), "ab", TypeError, "branch_fns must be a list, tuple, or dict"),
    "single": (np.int32(1), [(0,)], TypeError, "Each entry in branch_fns must be a 2-"),
    "key": (np.int32(1), [("0", ten)], TypeError, "key must be a Python `int`, got"),
    "call": (np.int32(1), [(0, 3)], TypeError, "fn for key 0 must be callable."),
    "gap": (np.int32(1), [(0, ten), (2, ten)], ValueError, r"\[0 to 2\) but found {0,"),
    "types": (
        np.int32(1),
        [ten, lambda: tf.constant(1.0)],
        TypeError,
        "must have the same number, type, and overall structure of return values",
    ),
}


@pytest.mark.parametrize("case", SWITCH_REFUSED)
def test_switch_case_refuses(session, case):
    index, branches, kind, message = SWITCH_REFUSED[case]
    with pytest.raises(kind, match=message):
        tf.switch_case(index if type(index) is int else tf.constant(index), branches)
