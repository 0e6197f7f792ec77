"""Writes to reference variables show in what was read before; TF 1.15.5's values.

Each program runs three times.  Control dependencies order every two ops that matter, so
twenty sessions of TensorFlow gave the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.engine.flow.test_nested_blocks import DATAFLOW, NESTED, session_of
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.engine.flow.dataflow import DataflowProgram


def behind(value: Any, write: Callable[[], Any]) -> Any:
    """`value + 0`, computed after a write that waits for `value`."""
    with tf.control_dependencies([value]):
        written = write()
    with tf.control_dependencies([written]):
        return value + 0


def count(s: Any, by: int = 1) -> Callable[[], Any]:
    return lambda: tf.assign_add(s, by)


def condition_reads(s: Any) -> Any:
    return tf.while_loop(lambda i: s < 5, lambda i: behind(i, count(s)) + 1, [0])


def condition_of_a_function(s: Any) -> Any:
    """The assignment is an output of the body."""
    return tf.while_loop(
        lambda i, a: a < 5, lambda i, a: (i + 1, tf.assign_add(s, 1)), [0, 0]
    )


def loop_variable_starts_as_read(s: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, behind(a, count(s))

    return tf.while_loop(lambda i, a: i < 3, body, [0, s])


def loop_variable_is_handed_on(s: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return behind(i, count(s)) + 1, a

    return tf.while_loop(lambda i, a: i < 3, body, [0, s])


def branch_returns_the_variable(s: Any) -> Any:
    return behind(tf.cond(s > 0, lambda: s, lambda: s + 1), count(s))


def write_in_a_branch_read_inside(s: Any) -> Any:
    return tf.cond(s > 0, lambda: behind(tf.identity(s), count(s)), lambda: 0)


def write_in_a_branch_read_outside(s: Any) -> Any:
    now = tf.identity(s)
    done = tf.cond(s > 0, lambda: tf.assign_add(s, 1), lambda: tf.assign_add(s, 2))
    with tf.control_dependencies([done]):
        return now + 0


def read_after_a_loop(s: Any) -> Any:
    done = tf.while_loop(lambda i: i < 4, lambda i: behind(i, count(s)) + 1, [0])
    with tf.control_dependencies([done]):
        return s + 0


def exit_of_a_loop(s: Any) -> Any:
    _, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), [0, s])
    return behind(a, count(s, 5))


def nested_loops(s: Any) -> Any:
    def inner(j: Any) -> Any:
        return behind(j, count(s, 3)) + 1

    def body(i: Any) -> Any:
        return behind(tf.while_loop(lambda j: s < 20, inner, [i]), count(s, -10)) + 1

    return tf.while_loop(lambda i: i < 3, body, [0])


def two_writes(s: Any) -> Any:
    first = behind(s._ref(), count(s))
    with tf.control_dependencies([first]):
        read = s.read_value()
    return behind(read, count(s, 5))


def fetched_branch(s: Any) -> Any:
    value = tf.cond(s > 0, lambda: s, lambda: 3)
    return [value, behind(value, count(s))]


@pytest.mark.parametrize(
    ("build", "expected", "last"),
    [
        (condition_reads, [4, 0, 0], 5),
        (condition_of_a_function, [[4, 5], [1, 6], [1, 7]], 7),
        (loop_variable_starts_as_read, [[3, 2], [3, 5], [3, 8]], 10),
        (loop_variable_is_handed_on, [[3, 4], [3, 7], [3, 10]], 10),
        (branch_returns_the_variable, [2, 3, 4], 4),
        (write_in_a_branch_read_inside, [2, 3, 4], 4),
        (write_in_a_branch_read_outside, [2, 3, 4], 4),
        (read_after_a_loop, [5, 9, 13], 13),
        (exit_of_a_loop, [6, 11, 16], 16),
        (nested_loops, [8, 4, 4], 10),
        (two_writes, [7, 13, 19], 19),
        (fetched_branch, [[2, 2], [3, 3], [4, 4]], 4),
    ],
)
@pytest.mark.parametrize("kind", [NESTED, DATAFLOW])
def test_ops_behind_a_write_see_it(
    build: Callable[[Any], Any], expected: list[Any], last: int, kind: bool
) -> None:
    variable = tf.Variable(1, name="s", use_resource=False)
    fetched = build(variable)
    with session_of(kind) as session:
        session.run(variable.initializer)
        found = [np.asarray(session.run(fetched)).tolist() for _ in range(3)]
        assert found == expected
        assert session.run(variable) == last
        for _ in range(HOT_AFTER_RUNS):  # the same once the step is compiled
            session.run(variable.initializer)
            assert np.asarray(session.run(fetched)).tolist() == expected[0]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda v: tf.identity(v),
    "reshape": lambda v: tf.reshape(v, [2, 2]),
    "expand_dims": lambda v: tf.expand_dims(v, 0),
    "squeeze": lambda v: tf.squeeze(tf.expand_dims(v, 0)),
    "stop_gradient": lambda v: tf.stop_gradient(v),
    "all of a slice": lambda v: tf.slice(v, [0], [4]),
    "new axis": lambda v: v[:, None],
    "split of one": lambda v: tf.split(v, 1)[0],
    "tuple": lambda v: tf.tuple([v])[0],
    "identity_n": lambda v: tf.identity_n([v])[0],
    "default of a placeholder": lambda v: tf.placeholder_with_default(v, [4]),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "sum": lambda v: v + 0,
    "row": lambda v: v[0],
    "slice": lambda v: v[1:3],
    "strided": lambda v: v[::2],
    "unstack": lambda v: tf.unstack(v)[0],
    "split": lambda v: tf.split(v, 2)[0],
    "transpose": lambda v: tf.transpose(tf.reshape(v, [2, 2])),
    "diagonal": lambda v: tf.linalg.diag_part(tf.reshape(v, [2, 2])),
    "reverse": lambda v: tf.reverse(v, [0]),
    "gather": lambda v: tf.gather(v, [0, 1]),
    "where": lambda v: tf.where([True] * 4, v, v),
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "assign": lambda v: tf.assign(v, [5, 6, 7, 8]),
    "add": lambda v: tf.assign_add(v, [4, 4, 4, 4]),
    "rows": lambda v: tf.scatter_update(v, [3, 0, 1, 2], [8, 5, 6, 7]),
    "points": lambda v: tf.scatter_nd_add(v, [[0], [1], [2], [3]], [4, 4, 4, 4]),
    "slices": lambda v: tf.assign(v[0:4], [5, 6, 7, 8]),
    "shape": lambda v: tf.reshape(
        tf.assign(v, [[5, 6], [7, 8]], validate_shape=False), [4]
    ),
}


@pytest.mark.parametrize(
    ("view", "write"),
    [
        *((view, "assign") for view in (*VIEWS, *COPIES)),
        *((view, write) for view in ("reshape", "slice") for write in WRITES),
    ],
)
def test_views_show_writes_and_copies_do_not(view: str, write: str) -> None:
    variable = tf.Variable([1, 2, 3, 4], name="v", use_resource=False)
    is_view = view in VIEWS
    value = (VIEWS if is_view else COPIES)[view](variable)
    fetched = behind(value, lambda: WRITES[write](variable))
    with tf.Session() as session:
        session.run(variable.initializer)
        before = session.run(value)
        found = session.run(fetched)
        assert found.tolist() == (before + 4 if is_view else before).tolist()
        assert session.run(variable).reshape(-1).tolist() == [5, 6, 7, 8]


def test_an_array_of_another_size_is_another_buffer() -> None:
    variable = tf.Variable([1, 2, 3, 4], name="v", use_resource=False)
    value = tf.reshape(variable, [4])
    fetched = behind(value, lambda: tf.assign(variable, [5], validate_shape=False))
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(fetched).tolist() == [1, 2, 3, 4]
        assert session.run(variable).tolist() == [5]


def test_resource_variables_keep_what_was_read() -> None:
    variable = tf.Variable(1, name="s", use_resource=True)
    fetched = loop_variable_is_handed_on(variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(fetched) == (3, 1)


def test_a_failed_run_leaves_the_variable_alone() -> None:
    variable = tf.Variable([1.0, 2.0], use_resource=False)
    value = behind(tf.reshape(variable, [2]), lambda: tf.assign(variable, [3.0, 4.0]))
    with tf.control_dependencies([value]):
        fails = tf.Assert(False, ["late"])
    with tf.Session() as session:
        session.run(variable.initializer)
        held = session.run(variable)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run([value, fails])
        assert session.run(variable).tolist() == [1.0, 2.0]
        session.run(value)
        assert held.tolist() == [1.0, 2.0]  # what was fetched is the caller's own
        assert session.run(variable).tolist() == [3.0, 4.0]


def test_an_assignment_returned_by_the_body_is_read() -> None:
    """The loop variable is a number, the body's output a reference."""
    variable = tf.Variable(1, use_resource=False)
    loop = condition_of_a_function(variable)
    with session_of(NESTED) as session:
        session.run(variable.initializer)
        assert session.run(loop[1] + loop[0]) == 9
        [(program, _)] = list(session._programs.values())[-1:]
        assert not isinstance(program, DataflowProgram)
