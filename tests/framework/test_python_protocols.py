"""Graph objects as operands of Python's own syntax: asked of TensorFlow 1.15.5."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf
from tfteach.framework.operation import OperatorNotAllowedInGraphError

IN_GRAPH = "is not allowed in Graph execution. Use Eager execution or decorate"
SHAPE, SIZE = tf.TensorShape, tf.Dimension


@pytest.mark.parametrize(
    ("use", "kind", "words"),
    [
        (lambda t, v, r: 1 in t, OperatorNotAllowedInGraphError, "iterating over"),
        (lambda t, v, r: tf.add_n(t), OperatorNotAllowedInGraphError, "iterating over"),
        (lambda t, v, r: bool(r), OperatorNotAllowedInGraphError, IN_GRAPH),
        (lambda t, v, r: not r, OperatorNotAllowedInGraphError, "as a Python `bool`"),
        (lambda t, v, r: tf.add_n(3), TypeError, "'int' object is not iterable"),
        (lambda t, v, r: tf.add_n(v), TypeError, "'Variable' object is not iterable"),
        (lambda t, v, r: tf.add_n([]), ValueError, "inputs must be a list of at least"),
        (lambda t, v, r: tf.add_n(None), ValueError, "inputs must be a list of at"),
        (
            lambda t, v, r: tf.identity(t.op),
            TypeError,
            "Can't convert Operation 't' to",
        ),
        (lambda t, v, r: int(r), TypeError, "Non-integer variable can't be converted"),
        (lambda t, v, r: copy.deepcopy(v), TypeError, "can't pickle _thread.RLock"),
        (
            lambda t, v, r: copy.deepcopy(r),
            NotImplementedError,
            "__deepcopy__",
        ),
        (lambda t, v, r: SHAPE([2]) != None, ValueError, "inequality of unknown"),  # noqa: E711
        (lambda t, v, r: SHAPE(None) != [2], ValueError, "inequality of unknown"),
        (lambda t, v, r: SHAPE([2]) == [1.5], ValueError, "Ambiguous dimension: 1.5"),
    ],
)
def test_what_python_cannot_do(
    use: Callable[[Any, Any, Any], Any], kind: type[Exception], words: str
) -> None:
    with tf.Graph().as_default():
        check_refusal(use, kind, words)


def check_refusal(
    use: Callable[[Any, Any, Any], Any], kind: type[Exception], words: str
) -> None:
    t = tf.constant([1.0, 2.0], name="t")
    v = tf.Variable([1.0], name="v", use_resource=False)
    r = tf.Variable([1.0], name="r", use_resource=True)
    with pytest.raises(kind, match=words):
        use(t, v, r)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (SHAPE([None]) == SHAPE([None]), False),
        (SHAPE([None]) != SHAPE([None]), True),
        (SHAPE([None, 2]) == [None, 2], False),
        (SHAPE([2, 3]) == [2, 3], True),
        (SHAPE([2, 3]) != (2, 3), False),
        (SHAPE(None) == None, True),  # noqa: E711
        (SHAPE([2]) == None, False),  # noqa: E711
        (SHAPE([2]) == "a", False),
        (SHAPE([None]) in [SHAPE([None])], False),
        (bool(SIZE(0)), True),
        (bool(SIZE(None)), True),
        ((SIZE(None) or 5).value, None),
    ],
)
def test_unknown_sizes_are_never_equal_and_sizes_are_true(
    found: Any, expected: Any
) -> None:
    assert found is expected


def test_a_shape_with_unknown_sizes_is_itself() -> None:
    shape = SHAPE([None, 2])
    assert shape == shape
    assert (shape != shape) is False


def test_a_scope_of_control_dependencies_has_no_value() -> None:
    with tf.control_dependencies([tf.no_op()]) as scope:
        assert scope is None
