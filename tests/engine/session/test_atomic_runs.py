"""The writes of a run to variables take effect together, or not at all."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.framework import transaction

L0 = tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0)
UNOPTIMIZED = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=L0))
SMALL, LARGE = [4], [64, 64]
every_kind = pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "res"])
every_size = pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])
every_path = pytest.mark.parametrize("config", [None, UNOPTIMIZED], ids=["-", "L0"])


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def get_variable(name: str, shape: list[int], use_resource: bool) -> Any:
    return tf.get_variable(
        name, shape, initializer=tf.zeros_initializer(), use_resource=use_resource
    )


def update(kind: str, v: Any, shape: list[int]) -> Any:
    ones = tf.ones(shape)
    if kind == "assign":
        return v.assign(v + 1.0)
    if kind == "assign_add":
        return v.assign_add(ones)
    if kind == "scatter":
        return tf.scatter_add(v, [0], ones[:1])
    if kind == "slice":
        return v[1:2].assign(ones[1:2])
    return tf.train.AdamOptimizer(0.1).apply_gradients([(ones, v)])


@every_kind
@every_size
@every_path
@pytest.mark.parametrize("kind", ["assign", "assign_add", "scatter", "slice", "adam"])
def test_a_failed_run_writes_nothing(
    kind: str, shape: list[int], use_resource: bool, config: Any
) -> None:
    a = get_variable("a", shape, use_resource)
    b = get_variable("b", shape, use_resource)
    fails = tf.placeholder(tf.bool, [])
    writes = [update(kind, a, shape), update(kind, b, shape)]
    with tf.control_dependencies(writes):
        check = tf.Assert(tf.logical_not(fails), ["too late"])
    everything = tf.global_variables()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for i in range(HOT_AFTER_RUNS + 2):
            before = session.run(everything)
            with pytest.raises(tf.errors.InvalidArgumentError, match="too late"):
                session.run(check, {fails: True})
            for old, new in zip(before, session.run(everything), strict=True):
                np.testing.assert_array_equal(old, new)
            session.run(check, {fails: False})
            after = session.run([a, b])
            assert after[0].sum() != before[0].sum() or (kind == "slice" and i > 0)
            np.testing.assert_array_equal(*after)


@every_size
@every_path
def test_who_reads_behind_a_write_sees_it(shape: list[int], config: Any) -> None:
    v = get_variable("v", shape, True)
    w = get_variable("w", shape, False)
    read = []
    for variable in (v, w):
        with tf.control_dependencies([variable.assign_add(tf.ones(shape)).op]):
            first = variable.read_value()
        with tf.control_dependencies([first]):
            again = variable.assign_add(tf.ones(shape)).op
        with tf.control_dependencies([again]):
            read += [first, variable.read_value()]
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for i in range(HOT_AFTER_RUNS + 2):
            got = session.run(read)
            if config is not None:  # else the late read of a ref variable is its buffer
                assert got[0].max() == 2 * i + 1
            assert got[1].min() == got[3].min() == 2 * i + 2
            assert session.run(v).min() == session.run(w).min() == 2 * i + 2


def test_a_function_that_runs_the_session_sees_what_was_written_before_it() -> None:
    v = get_variable("v", LARGE, True)
    seen = []
    with tf.control_dependencies([v.assign_add(tf.ones(LARGE)).op]):
        look = tf.py_func(lambda: seen.append(session.run(v).min()), [], [])
    with tf.Session() as session:
        session.run(v.initializer)
        for i in range(HOT_AFTER_RUNS + 2):
            session.run(look)
            assert seen[-1] == i + 1


def test_inner_runs_end_their_own_transactions() -> None:
    v, w = get_variable("v", SMALL, True), get_variable("w", SMALL, True)
    inner = w.assign_add(tf.ones(SMALL))

    def fail() -> None:
        session.run(inner)
        raise ValueError("after the inner run")

    with tf.control_dependencies([v.assign_add(tf.ones(SMALL)).op]):
        failing = tf.py_func(fail, [], [])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="inner run"):
            session.run(failing)
        assert session.run(v).max() == 0.0
        assert session.run(w).min() == 1.0


def test_another_threads_writes_survive_a_failure() -> None:
    v = get_variable("v", SMALL, True)
    add = v.assign_add(tf.ones(SMALL)).op

    def interfere() -> None:
        thread = threading.Thread(target=session.run, args=(add,))
        thread.start()
        thread.join()
        raise ValueError("after the other thread")

    with tf.control_dependencies([add]):
        failing = tf.py_func(interfere, [], [])
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(failing)
        assert session.run(v).min() >= 1.0  # not lost


def test_slots_of_another_shape_are_refused_before_anything_is_written() -> None:
    v = tf.Variable(tf.zeros([64, 64]))
    slot = tf.Variable(tf.zeros([4]), validate_shape=False)
    from tfteach.ops.training.training_ops import ApplyMomentum

    apply = ApplyMomentum()(v._ref(), slot._ref(), 0.1, tf.ones([64, 64]), 0.9)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"var and accum do not have the same shape\[64,64\] \[4\]",
        ):
            session.run(apply)
        assert session.run(v).max() == 0.0


@pytest.mark.usefixtures("interruptible")
class TestInterrupts:
    def test_the_commit_is_not_interrupted(self) -> None:
        interrupted = []

        def interrupt() -> None:
            signal.raise_signal(signal.SIGINT)
            interrupted.append(1)

        writes = transaction.Transaction()
        writes.defer(interrupt)
        writes.defer(lambda: interrupted.append(2))
        with pytest.raises(KeyboardInterrupt):
            writes.commit()
        assert interrupted == [1, 2]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_a_step_is_whole_or_not_at_all(self) -> None:
        """Interrupts at many moments of a training step, in the middle of it too."""
        shape = [64, 64]
        names = "abcdef"
        variables = [get_variable(name, shape, name < "d") for name in names]
        step = tf.train.get_or_create_global_step()
        grads = [(tf.ones(shape) * 0.5, v) for v in variables]
        train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients(grads, step)
        everything = tf.global_variables()
        rng = np.random.default_rng(0)
        done = 0
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(HOT_AFTER_RUNS + 1):
                session.run(train)
            start = time.perf_counter()
            session.run(train)
            length_s = time.perf_counter() - start
            for _ in range(40):
                timer = threading.Timer(rng.uniform(0, 4) * length_s, interrupt_main)
                before = session.run(step)
                try:
                    timer.start()
                    for _ in range(200):
                        session.run(train)
                    timer.join()
                    time.sleep(1)
                except KeyboardInterrupt:
                    done += 1
                timer.join()
                values = session.run(everything)
                first = values[0]
                for variable, value in zip(everything, values, strict=True):
                    if variable.op.name in names:
                        np.testing.assert_array_equal(value, first)
                assert session.run(step) >= before
        assert done == 40


def interrupt_main() -> None:
    _thread.interrupt_main()


class TestTimeouts:
    LIMIT = tf.RunOptions(timeout_in_ms=20)

    @every_path
    def test_a_slow_run_fails_and_writes_nothing(self, config: Any) -> None:
        v = get_variable("v", LARGE, True)
        slow = tf.py_func(lambda: time.sleep(0.05), [], [])
        with tf.control_dependencies([v.assign_add(tf.ones(LARGE)).op]):
            late = tf.group(slow)
        with tf.Session(config=config) as session:
            session.run(v.initializer)
            with pytest.raises(tf.errors.DeadlineExceededError) as caught:
                session.run([late, v.assign_add(tf.ones(LARGE)).op], options=self.LIMIT)
            assert caught.value.message == "Timed out waiting for notification"
            assert caught.value.op is None
            assert session.run(v).max() == 0.0
            session.run(slow)  # the session works on

    def test_a_loop_that_never_ends(self) -> None:
        v = get_variable("v", SMALL, True)

        def body(i: Any) -> Any:
            with tf.control_dependencies([v.assign_add(tf.ones(SMALL))]):
                return i + 1

        loop = tf.while_loop(lambda i: i >= 0, body, [0])
        with tf.Session() as session:
            session.run(v.initializer)
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(loop, options=self.LIMIT)
            assert session.run(v).max() == 0.0

    def test_the_limit_of_a_session(self) -> None:
        slow = tf.py_func(lambda: time.sleep(0.05), [], [])
        with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as session:
            late = pytest.raises(tf.errors.DeadlineExceededError)
            with late:
                session.run(slow)
            with late:
                session.make_callable(slow)()
            for timeout in (0, -1):
                with pytest.raises(tf.errors.DeadlineExceededError):
                    session.run(slow, options=tf.RunOptions(timeout_in_ms=timeout))
            for op in (slow, tf.no_op()):
                session.run(op, options=tf.RunOptions(timeout_in_ms=60_000))
