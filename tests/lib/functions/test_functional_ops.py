"""`If`, `While`, `For` and calls of functions: errors in TensorFlow 1.15's words.

Their graphs and values are among the golden ones of test_defun.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf
from tfteach.framework.errors import OpError
from tfteach.lib.functions import functional_ops as ops
from tfteach.lib.functions.defun import Defun

FLOAT, INT = tf.float32, tf.int32


@Defun(INT, FLOAT)
def add(i, v):
    return tf.cast(i, FLOAT) + v


@Defun(INT, FLOAT)
def two_values(i, v):
    return v, v


@Defun(INT, FLOAT)
def number(i, v):
    return i


@Defun(FLOAT)
def positive(x):
    return x > 0.0


@Defun(FLOAT)
def less(x):
    return x - 1.0


@Defun(FLOAT)
def twice(x):
    return x * 2.0


@Defun(FLOAT)
def pair(x):
    return x, x


@Defun(FLOAT)
def whole(x):
    return tf.cast(x, INT)


def remote(target: str) -> Any:
    return ops.remote_call(target, [3.0], [FLOAT], twice)


INVALID, INTERNAL = tf.errors.InvalidArgumentError, tf.errors.InternalError
REFUSED: list[tuple[Callable[[], Any], type[OpError], str]] = [
    (
        lambda: ops.For([0], 9, 1, [0.0], add),
        INVALID,
        r"start must be a scalar, but \[1\]",
    ),
    (
        lambda: ops.For(0, [9], 1, [0.0], add),
        INVALID,
        r"limit must be a scalar, but \[1\]",
    ),
    (
        lambda: ops.For(tf.placeholder_with_default([[0]], None), 9, 1, [0.0], add),
        INVALID,
        r"start must be a scalar, but \[1,1\]",
    ),
    (
        lambda: ops.For(0, 10, -1, [0.0], add),
        INVALID,
        "Invalid start/limit/delta: 0 10 -1",
    ),
    (
        lambda: ops.For(0, 10, 0, [0.0], add),
        INVALID,
        "Invalid start/limit/delta: 0 10 0",
    ),
    (
        lambda: ops.For(10, 0, 3, [0.0], add),
        INVALID,
        "Invalid start/limit/delta: 10 0 3",
    ),
    (
        lambda: ops.For(0, 10, 1, [0.0], two_values),
        INVALID,
        "For loop body returned 2 arguments. Expected: 1",
    ),
    (
        lambda: ops.For(0, 10, 1, [0.0], number),
        INVALID,
        r"Expects arg\[1\] to be float but int32 is provided",
    ),
    (
        lambda: ops.While([3.0], positive, pair),
        INVALID,
        "While loop body returned 2 arguments. Expected: 1",
    ),
    (
        lambda: ops.While([3.0], pair, less),
        INVALID,
        "Expected a single scalar return value from WhileOp cond, got 2 tensors.",
    ),
    (
        lambda: ops.While([3.0], positive, whole),
        INVALID,
        r"Expects arg\[0\] to be float but int32 is provided",
    ),
    (
        lambda: ops.If(False, [3.0], twice, whole),
        INTERNAL,
        "Expect 0-th output is of type float but get int32",
    ),
    (
        lambda: ops.If(True, [3.0, 4.0], twice, less),
        INVALID,
        "Expects 1 arguments, but 2 is provided",
    ),
    (
        lambda: ops.partitioned_call([3.0], twice, executor_type="NONE_SUCH"),
        tf.errors.NotFoundError,
        "No executor factory registered for the given executor type: NONE_SUCH "
        "Registered factories are {SINGLE_THREADED_EXECUTOR, , DEFAULT}.",
    ),
    (
        lambda: remote("/cpu:7"),
        INTERNAL,
        "Currently don't support instantiating functions on device: "
        "/job:localhost/replica:0/task:0/device:CPU:7",
    ),
    (
        lambda: remote("junk"),
        INVALID,
        "Could not parse junk into a device specification.",
    ),
]


@pytest.mark.parametrize(("build", "kind", "message"), REFUSED)
def test_a_run_fails_in_tensorflows_words(
    build: Callable[[], Any], kind: type[OpError], message: str
) -> None:
    with tf.Graph().as_default():
        found = build()
        with tf.Session() as session, pytest.raises(kind, match=message) as caught:
            session.run(found)
        assert caught.value.op.graph is found[0].graph


def test_a_condition_must_not_capture() -> None:
    with tf.Graph().as_default():
        c = tf.constant(2.0)

        @Defun(FLOAT)
        def greater(x):
            return x > c

        with pytest.raises(ValueError, match="without implicitly captured inputs"):
            ops.While([3.0], greater, less)
        with pytest.raises(ValueError, match="signatures do not match"):
            ops.While([3.0], add, less)
        assert {op.type for op in c.graph.get_operations()} == {"Const"}


def test_a_gradients_function_returns_a_gradient_for_each_argument() -> None:
    @Defun(FLOAT, FLOAT, FLOAT)
    def too_many(x, dy, dz):
        return x, dy + dz

    @Defun(FLOAT, grad_func=too_many)
    def forward(x):
        return x, x

    @Defun(FLOAT, FLOAT)
    def of_another_type(x, dy):
        return tf.cast(x, INT)

    @Defun(FLOAT, grad_func=of_another_type)
    def other(x):
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(1.0)
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"SymGrad expects to return 1 tensor\(s\), but get 2 tensor\(s\)",
        ):
            session.run(tf.gradients(tf.add_n(forward(x)), x))
        with pytest.raises(
            tf.errors.InternalError,
            match="Output 0 of type int32 does not match declared output type float",
        ):
            session.run(tf.gradients(other(x), x))


def test_a_body_must_not_wait_for_outer_operations() -> None:
    with tf.Graph().as_default():
        outer = tf.constant(1.0)

        @Defun(FLOAT)
        def waits(y):
            with tf.control_dependencies([outer]):
                return y + 1.0

        with pytest.raises(ValueError, match="is not an element of this graph"):
            waits(2.0)


def test_the_number_of_output_names_is_that_of_the_results() -> None:
    @Defun(FLOAT, func_name="Named", out_names=["a", "b"])
    def named(x):
        return x

    with (
        tf.Graph().as_default(),
        pytest.raises(
            tf.errors.InvalidArgumentError,
            match="output names size = 2 outputs size = 1",
        ),
    ):
        named(1.0)
