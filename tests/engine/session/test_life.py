"""The life of a session: closing, nesting, threads, callables, partial runs, traces."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.session import base_session

INVALID = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def test_a_closed_session() -> None:
    c = tf.constant(1.0)
    sess = tf.Session()
    sess.run(c)
    sess.close()
    sess.close()
    for call in (
        lambda: sess.run(c),
        lambda: sess.run([c]),
        lambda: sess.partial_run_setup([c], []),
    ):
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            call()
    for call in (sess.list_devices, lambda: sess.make_callable(c)):
        with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
            call()


def test_closing_forgets_variables_and_sessions_do_not_share_them() -> None:
    v = tf.Variable(1.0)
    bump = v.assign_add(1.0)
    with tf.Session() as one, tf.Session() as two:
        one.run(v.initializer)
        one.run(bump)
        with pytest.raises(tf.errors.FailedPreconditionError):
            two.run(v)
        two.run(v.initializer)
        assert (one.run(v), two.run(v)) == (2.0, 1.0)
    with tf.Session() as three, pytest.raises(tf.errors.FailedPreconditionError):
        three.run(v)


def test_a_session_is_freed_with_its_last_reference() -> None:
    v = tf.Variable(np.ones(1000, np.float32))
    sess = tf.Session()
    sess.run(v.initializer)
    sess.run(v)
    gone = weakref.ref(sess)
    del sess
    gc.collect()
    assert gone() is None


def test_an_interactive_session_open_at_exit_is_silent() -> None:
    code = "import tfteach as tf; kept = tf.InteractiveSession(graph=tf.Graph())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_reset_closes_the_sessions_of_the_process() -> None:
    c = tf.constant(1.0)
    sess = tf.Session()
    sess.run(c)
    tf.Session.reset("")
    with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
        sess.run(c)
    with pytest.raises(TypeError, match="list of container names"):
        tf.Session.reset("", "a")
    with tf.Session() as fresh:
        assert fresh.run(c) == 1.0


def test_with_makes_session_and_graph_the_default() -> None:
    other = tf.Graph()
    outer = tf.get_default_graph()
    with tf.Session(graph=other) as sess:
        assert tf.get_default_session() is sess
        assert tf.get_default_graph() is other
        with (
            pytest.raises(
                RuntimeError,
                match=r"Session context managers are not re-entrant. Use "
                r"`Session.as_default\(\)` if you want to enter a session",
            ),
            sess,
        ):
            pass
        with tf.Session() as inner:
            assert tf.get_default_session() is inner
        assert tf.get_default_session() is sess
    assert tf.get_default_session() is None
    assert tf.get_default_graph() is outer
    keep = tf.Session(graph=other)
    with keep.as_default(), keep.as_default():
        assert tf.get_default_session() is keep
        assert tf.get_default_graph() is outer
    with other.as_default():
        c = tf.constant(2.0)
    assert keep.run(c) == 2.0  # as_default does not close


def test_an_error_in_the_block_leaves_it_cleanly() -> None:
    with pytest.raises(ZeroDivisionError), tf.Session() as sess:
        _ = 1 / 0
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(tf.constant(1.0))


def test_interactive_sessions() -> None:
    first = tf.InteractiveSession()
    c = tf.constant(3.0)
    assert c.eval() == 3.0
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        second = tf.InteractiveSession()
    assert tf.get_default_session() is second
    second.close()
    assert tf.get_default_session() is first
    first.close()
    first.close()
    assert tf.get_default_session() is None
    own = tf.Graph()
    third = tf.InteractiveSession(graph=own)
    assert tf.get_default_graph() is own
    third.close()
    assert tf.get_default_graph() is not own


def test_make_callable() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.multiply(x, 2.0, name="y")
    with tf.Session() as sess:
        double = sess.make_callable(y, [x])
        for i in range(15):
            assert double([1.0, i]).tolist() == [2.0, 2.0 * i]
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\)"):
            double([1.0, 2.0, 3.0])
        with pytest.raises(INVALID, match="You must feed a value for placeholder"):
            double()
        assert double([1.0, 2.0], "ignored").tolist() == [2.0, 4.0]
        both = sess.make_callable({"a": y, "b": [y.op]}, ["x:0"])
        got = both([1.0, 2.0])
        assert got["a"].tolist() == [2.0, 4.0]
        assert got["b"] == [None]
        assert sess.make_callable(y.op, [x])([1.0, 2.0]) is None
        with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
            sess.make_callable(y, x)
        traced = sess.make_callable(y, [x], accept_options=True)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        traced([1.0, 2.0], options=options, run_metadata=metadata)
        assert metadata.step_stats.dev_stats
        assert double([1.0, 2.0], options=options).tolist() == [2.0, 4.0]
        with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword arg"):
            traced([1.0, 2.0], bogus=3)
        sparse = tf.sparse_placeholder(tf.float32, [2, 2], name="sparse")
        dense = sess.make_callable(tf.sparse.to_dense(sparse), [sparse])
        assert dense(([[0, 1]], [5.0], [2, 2])).tolist() == [[0.0, 5.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="closed Session"):
        double([1.0, 2.0])


# ---- partial runs


class Sums:
    def __init__(self) -> None:
        self.a, self.b, self.c = (tf.placeholder(tf.float32, [], n) for n in "abc")
        self.count = tf.Variable(0.0, name="count")
        with tf.control_dependencies([self.count.assign_add(1.0)]):
            self.first = tf.add(self.a, self.b, name="first")
        self.second = tf.multiply(self.first, self.c, name="second")

    def set_up(self, sess: tf.Session) -> object:
        return sess.partial_run_setup(
            [self.first, self.second], [self.a, self.b, self.c]
        )


def test_partial_run_runs_no_op_twice() -> None:
    s = Sums()
    with tf.Session() as sess:
        sess.run(s.count.initializer)
        for i in range(3):
            handle = s.set_up(sess)
            assert sess.partial_run(handle, s.first, {s.a: 1, s.b: 2}) == 3.0
            assert sess.partial_run(handle, s.second, {s.c: 3.0 + i}) == 9.0 + 3 * i
            with pytest.raises(INVALID, match="Must run 'setup' before performing"):
                sess.partial_run(handle, s.second, {s.c: 1.0})
        assert sess.run(s.count) == 3.0


def test_partial_run_feeds_first_and_feeds_intermediates() -> None:
    s = Sums()
    with tf.Session() as sess:
        sess.run(s.count.initializer)
        handle = s.set_up(sess)
        assert sess.partial_run(handle, [], {s.a: 1, s.b: 2}) == []
        assert sess.partial_run(handle, [s.second], {s.c: 2.0}) == [6.0]
        assert sess.partial_run(handle, s.first) == 3.0
        handle = sess.partial_run_setup([s.first, s.second], [s.a, s.b, s.first, s.c])
        assert sess.partial_run(handle, s.second, {s.first: 5.0, s.c: 2.0}) == 10.0


def test_partial_run_errors() -> None:
    s = Sums()
    with tf.Session() as sess:
        sess.run(s.count.initializer)
        for fetch, feeds, words in (
            (s.first, {}, "The fetch first:0 has already been fetched."),
            (s.second, {s.a: 1, s.c: 3}, "The feed a:0 has already been fed."),
            (s.second, {}, "Fetch c:0 can't be computed from the feeds that have been "
             "fed so far."),
            ([], {s.count: 1.0}, "The feed count:0 was not specified in "
             "partial_run_setup."),
        ):  # fmt: skip
            handle = s.set_up(sess)
            sess.partial_run(handle, s.first, {s.a: 1, s.b: 2})
            with pytest.raises(INVALID) as caught:
                sess.partial_run(handle, fetch, feeds)
            assert words in str(caught.value)
            assert sess.partial_run(handle, s.second, {s.c: 2}) == 6.0
        handle = s.set_up(sess)
        with pytest.raises(RuntimeError, match="requires empty target_list"):
            sess.partial_run(handle, s.count.op)
        with pytest.raises(INVALID, match="Must specify at least one target to fetch"):
            sess.partial_run_setup([], [])
        with pytest.raises(INVALID, match="Must run 'setup' before performing"):
            sess.partial_run("foo", s.first, {s.a: 1})


# ---- options


def test_run_metadata_holds_every_op_that_ran() -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.add(x, [1.0, 2.0, 3.0], name="y")
    z = tf.multiply(y, y, name="z")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as sess:
        for _ in range(15):
            value = sess.run(z, {x: [0, 0, 0]}, options=options, run_metadata=metadata)
            assert value.tolist() == [1.0, 4.0, 9.0]
        _, device = metadata.step_stats.dev_stats  # the first is /host:CPU
        assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
        rows = {row.node_name: row for row in device.node_stats}
        assert {"y", "z"} <= set(rows)
        assert rows["z"].timeline_label == "z = Mul(y, y)"
        assert rows["y"].timeline_label == "y = Add(_arg_x_0_0, y/y)"
        description = rows["z"].output[0].tensor_description
        assert description.dtype == tf.float32.as_datatype_enum
        assert description.allocation_description.requested_bytes == 12
        sess.run(z, {x: [0, 0, 0]}, options=tf.RunOptions())


@pytest.mark.parametrize("by", ["options", "config"])
def test_a_run_that_takes_too_long(by: str) -> None:
    wait = threading.Event()
    slow = tf.py_func(lambda: np.float32(wait.wait(0.1)), [], tf.float32)
    y = tf.add(tf.add(slow, 1.0), 1.0)
    config = tf.ConfigProto(operation_timeout_in_ms=20) if by == "config" else None
    options = tf.RunOptions(timeout_in_ms=20) if by == "options" else None
    with tf.Session(config=config) as sess:
        for _ in range(2):
            with pytest.raises(
                tf.errors.DeadlineExceededError,
                match="Timed out waiting for notification",
            ):
                sess.run(y, options=options)
        assert sess.run(y, options=tf.RunOptions(timeout_in_ms=60_000)) == 2.0


def test_threads_share_a_session() -> None:
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(0.0)
    bump = v.assign_add(1.0)
    outs = [tf.multiply(x, float(i)) for i in range(4)]
    wrong: list[object] = []
    with tf.Session() as sess:
        sess.run(v.initializer)

        def work(number: int) -> None:
            for i in range(100):
                got = sess.run(outs[number], {x: np.full(10, i, np.float32)})
                if not (got == i * number).all():
                    wrong.append((number, i, got))
                sess.run(bump)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert sess.run(v) == 400.0


def test_a_thread_has_no_default_session() -> None:
    seen: list[object] = []
    with tf.Session():
        thread = threading.Thread(target=lambda: seen.append(tf.get_default_session()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_programs_are_forgotten_when_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base_session, "MAX_PROGRAMS", 20)
    x = tf.placeholder(tf.float32, [])
    often = x * 2.0
    with tf.Session() as session:
        session.run(often, {x: 1.0})
        program = session._programs[next(iter(session._programs))]
        for i in range(100):
            session.run(tf.constant(float(i)))
            assert session.run(often, {x: float(i)}) == 2.0 * i
        assert len(session._programs) == 20
        assert len(session._ready) == 10
        assert program in session._programs.values()


def test_a_training_loop_needs_no_more_memory_in_time() -> None:
    rng = np.random.RandomState(0)
    data = rng.rand(16, 4).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 4])
    loop = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v * 0.9), [0, x])
    weights = tf.get_variable("w", [4, 3], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(loop[1], weights)))
    train = tf.train.AdamOptimizer().minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def steps(count: int) -> int:
            for i in range(count):
                session.run([train, loss], {x: data[: 4 + i % 3]})
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            steps(150)
            before = steps(100)
            after = steps(400)
        finally:
            tracemalloc.stop()
    assert after - before < 20_000  # 50 bytes a step: less than any array takes


def test_what_was_fed_before_may_be_forbidden_later(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(y, {x: 1.0}) == 2.0
        graph.prevent_feeding(x)
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(y, {x: 1.0})


@pytest.mark.parametrize("in_branch", [False, True])
def test_a_fetched_read_shows_what_the_run_has_written(in_branch: bool) -> None:
    with tf.Session() as session:
        v = tf.Variable(1.0)
        session.run(v.initializer)
        change = v.assign(5.0)
        fetches = [v.value(), tf.identity(v), change]
        if in_branch:
            fetches.append(tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0))
        assert session.run(fetches)[:3] == [5.0, 5.0, 5.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_run_that_a_closing_session_does_not_stop_keeps_its_variables(use_resource):
    with tf.Graph().as_default():
        session = tf.Session()
        variable = tf.Variable(3.0, use_resource=use_resource)
        session.run(variable.initializer)
        with tf.control_dependencies([tf.py_func(session.close, [], [])]):
            added = variable.assign_add(1.0)
        assert session.run(added) == 4.0
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run(added)
