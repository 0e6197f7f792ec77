"""Branches and loops as nested blocks: they do what dataflow does, faster."""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.nested_source import NestedProgram
from tfteach.ops.core.control_flow_ops import Merge, Switch

NESTED, DATAFLOW = True, False


def session_of(kind: bool) -> tf.Session:
    """A session that runs control flow as nested blocks, or as dataflow."""
    config = tf.ConfigProto()
    if kind is DATAFLOW:
        options = config.graph_options.optimizer_options
        options.opt_level = type(options).L0
    return tf.Session(config=config)


def run_both(
    fetches: Any, feeds: Any = None, init: bool = False
) -> tuple[Any, NestedProgram]:
    """The values, which are the same both ways, and the nested program."""
    values = []
    for kind in (NESTED, DATAFLOW):
        with session_of(kind) as session:
            if init:
                session.run(tf.global_variables_initializer())
            values.append(session.run(fetches, feeds))
            program = list(session._programs.values())[-1][0]
            wanted = NestedProgram if kind is NESTED else DataflowProgram
            assert isinstance(program, wanted)
            if kind is NESTED:
                nested = program
    for ours, theirs in zip(
        *map(tf.contrib.framework.nest.flatten, values), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
        assert getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)
    return values[0], nested


# ---- random programs


class _Maker:
    """Builds a random program of arithmetic, branches and loops."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.trace = tf.Variable(0, name="trace", use_resource=seed % 2 == 0)

    def values(self, values: list[tf.Tensor], depth: int) -> list[tf.Tensor]:
        for _ in range(self.random.randint(1, 3)):
            pick = self.random.choice
            kind = self.random.random()
            if depth and kind < 0.3:
                values = [*values, self.branch(values, depth - 1)]
            elif depth and kind < 0.6:
                values = [*values, self.loop(values, depth - 1)]
            elif kind < 0.7:  # an effect: what it counts, not when, is certain
                with tf.control_dependencies([tf.assign_add(self.trace, 1)]):
                    values = [*values, tf.identity(values[-1])]
            else:
                op = pick([tf.add, tf.subtract, tf.minimum, tf.maximum])
                values = [*values, op(pick(values), pick([*values, 3])) % 101]
        return values

    def predicate(self, values: list[tf.Tensor]) -> tf.Tensor:
        value = self.random.choice(values)
        return self.random.choice([value % 2 > 0, value > 5, tf.constant(True)])

    def branch(self, values: list[tf.Tensor], depth: int) -> tf.Tensor:
        def one() -> Any:
            return self.values(values, depth)[-2:]

        predicate = self.predicate(values)
        found = tf.cond(predicate, one, one)
        return found[0] - found[1]

    def loop(self, values: list[tf.Tensor], depth: int) -> tf.Tensor:
        turns = self.random.randint(0, 3)
        outer = self.random.sample(values, min(2, len(values)))

        def body(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> Any:
            made = self.values([i, a, b, *outer], depth)
            return i + 1, b, made[-1]

        def goes_on(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
            return tf.logical_and(i < turns, b < 90)

        start = [0, self.random.choice(values), self.random.choice(values)]
        return tf.add_n(tf.while_loop(goes_on, body, start, parallel_iterations=1))


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_do_what_dataflow_does(seed: int) -> None:
    numbers = random.Random(-seed)
    x, y = numbers.randint(-9, 9), numbers.randint(-9, 9)
    with tf.Graph().as_default():
        first, second = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
        maker = _Maker(seed)
        values = maker.values([first, second], depth=3)
        counts = []
        for kind in (NESTED, DATAFLOW):
            with session_of(kind) as session:
                session.run(tf.global_variables_initializer())
                fed = {first: x, second: y}
                found = session.run(values, fed)
                # In a run of its own: what only a dead branch takes, nothing waits for.
                counts.append([*found, session.run(maker.trace)])
        assert counts[0] == counts[1]


# ---- one by one


def test_a_loop_is_a_python_loop() -> None:
    n = tf.placeholder(tf.int32, [])
    _, value = tf.while_loop(
        lambda i, v: i < n, lambda i, v: (i + 1, v * 2.0), [0, tf.ones([3])]
    )
    found, program = run_both(value, {n: 5})
    assert found.tolist() == [32.0] * 3
    assert [line.strip()[:5] for line in program.source.split("\n")].count("while") == 1
    assert "if" not in program.source


def test_only_the_branch_that_is_taken_runs() -> None:
    predicate = tf.placeholder(tf.bool, [])
    ran = []

    def note(name: str) -> Any:
        return lambda: tf.py_func(lambda: ran.append(name) or np.int32(1), [], tf.int32)

    value = tf.cond(predicate, note("true"), note("false"))
    with session_of(NESTED) as session:
        session.run(value, {predicate: True})
        session.run(value, {predicate: False})
    assert ran == ["true", "false"]


def test_a_branch_inside_a_loop_inside_a_branch() -> None:
    x = tf.placeholder(tf.float32, [])

    def turn(i: tf.Tensor, v: tf.Tensor) -> Any:
        return i + 1, tf.cond(v > 10.0, lambda: v - 7.0, lambda: v * x)

    def go() -> tf.Tensor:
        return tf.while_loop(lambda i, v: i < 6, turn, [0, x])[1]

    value = tf.cond(x > 1.0, go, lambda: -x)
    gradient = tf.gradients(value, x)[0]
    for fed in (3.0, 0.5):
        run_both([value, gradient], {x: fed})


def test_effects_in_loops_and_their_order() -> None:
    variable = tf.get_variable("v", [], tf.int32, tf.zeros_initializer())

    def turn(i: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([variable.assign_add(i)]):
            return tf.identity(i) + 1

    loop = tf.while_loop(lambda i: i < 5, turn, [0])
    with tf.control_dependencies([loop]):
        after = tf.identity(variable.read_value())
    assert run_both([loop, after], init=True)[0] == [5, 10]


def test_random_numbers_are_drawn_in_each_turn() -> None:
    tf.set_random_seed(1)
    draw = lambda i, v: (i + 1, v + tf.random_uniform([2]))  # noqa: E731
    value = tf.while_loop(lambda i, v: i < 3, draw, [0, tf.zeros([2])])[1]
    run_both(value)


def test_errors_name_the_op_and_the_line() -> None:
    x = tf.placeholder(tf.float32, [None])
    bad = tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.reshape(v, [3])),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    with session_of(NESTED) as session:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(bad, {x: [1.0, 2.0]})
        assert caught.value.op.name == "while/Reshape"
        assert "test_nested_blocks.py" in str(caught.value)
        assert session.run(bad[1], {x: [1.0, 2.0, 3.0]}).tolist() == [1.0, 2.0, 3.0]


def test_an_interrupt_ends_a_loop() -> None:
    def stop(i: Any) -> Any:
        if i == 3:
            raise KeyboardInterrupt
        return np.int32(i + 1)

    def turn(i: tf.Tensor) -> tf.Tensor:
        made = tf.py_func(stop, [i], tf.int32)
        made.set_shape([])
        return made

    endless = tf.while_loop(lambda i: i >= 0, turn, [0])
    with session_of(NESTED) as session:
        with pytest.raises(KeyboardInterrupt):
            session.run(endless)
        assert session.run(tf.constant(1)) == 1


def test_a_time_limit_ends_a_loop() -> None:
    endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    start = time.monotonic()
    with session_of(NESTED) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(endless, options=tf.RunOptions(timeout_in_ms=50))
    assert time.monotonic() - start < 5


def test_the_number_of_the_branch() -> None:
    x = tf.placeholder(tf.float32, [])
    low, high = Switch()(x, x > 0.0)
    merge = Merge()([low * 2.0, high * 3.0])
    for fed, wanted in ((1.0, (3.0, 1)), (-1.0, (-2.0, 0))):
        found, _ = run_both(list(merge), {x: fed})
        assert tuple(found) == wanted


def test_what_has_no_such_structure_runs_as_dataflow() -> None:
    x = tf.placeholder(tf.float32, [])
    low, _ = Switch()(x, x > 0.0)
    _, high = Switch()(x, x > 5.0)  # not the other's opposite
    merge = Merge()([low * 2.0, high * 3.0])
    with session_of(NESTED) as session:
        assert session.run(merge[0], {x: 6.0}) == 18.0
        program = list(session._programs.values())[-1][0]
        assert isinstance(program, DataflowProgram)


def test_a_feed_that_a_loop_keeps_is_copied() -> None:
    fed = np.ones(100, np.float32)
    x = tf.placeholder(tf.float32, [100])
    variable = tf.get_variable("v", initializer=tf.zeros([100]))

    def turn(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> Any:
        with tf.control_dependencies([variable.assign(a)]):
            return tf.identity(i) + 1, b, a

    loop = tf.while_loop(lambda i, a, b: i < 2, turn, [0, tf.zeros([100]), x])
    with session_of(NESTED) as session:
        session.run(tf.global_variables_initializer())
        session.run(loop[0], {x: fed})
        fed[:] = 7.0
        assert session.run(variable).max() == 1.0


def test_large_values_of_a_turn_are_given_back() -> None:
    x = tf.placeholder(tf.float32, [1000])
    value = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.exp(v * 0.5) - 1.0), [0, x]
    )[1]
    _, program = run_both(value, {x: np.ones(1000)})
    assert program.source.count("= None") >= 2


def calls_of_first_run(branches: int) -> int:
    seen = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal seen
        seen += event == "call"

    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.bool, [])
        x = y = tf.placeholder(tf.float32, [3])
        for _ in range(branches):
            y = tf.cond(fed, lambda y=y: tf.tanh(y), lambda y=y: y * 2.0)
            y = tf.sin(y) + x
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            session.run(y, {fed: True, x: [1.0, 2.0, 3.0]})
        finally:
            sys.setprofile(before)
    return seen


def test_work_before_the_first_run_grows_with_the_branches_not_their_square() -> None:
    calls_of_first_run(2)
    assert calls_of_first_run(80) < 2.2 * calls_of_first_run(40)
