"""Hooks, monitored sessions and their files are TensorFlow's."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import session_hooks, supervisors, training_loops
from tfteach.lib.training import supervisor_threads
from tfteach.lib.training.hooks import logged_values

PROGRAMS = [
    (module, program)
    for module in (training_loops, session_hooks, supervisors)
    for program in module.PROGRAMS
]
model = training_loops.model


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()
    yield
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()


def recorded(module):
    return json.loads(Path(module.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize(
    ("module", "program"), PROGRAMS, ids=[p.__name__ for _, p in PROGRAMS]
)
def test_as_in_tensorflow(module, program, monkeypatch):
    monkeypatch.setattr(logged_values, "_warnings_left", logged_values._MAX_WARNINGS)
    monkeypatch.setattr(supervisor_threads, "_lines_left", 10)
    before = threading.active_count()
    found = training_loops.run(tf, program)
    expected = recorded(module)[program.__name__]
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == value, key
    assert threading.active_count() <= before


class Records(tf.train.SessionRunHook):
    """Fetches a tensor, and records its values."""

    def __init__(self, fetches):
        self.fetches, self.seen = fetches, []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.fetches)

    def after_run(self, run_context, run_values):
        self.seen.append(run_values.results)


def test_the_warning_of_a_constant_step_comes_five_times(monkeypatch, caplog):
    monkeypatch.setattr(logged_values, "_warnings_left", logged_values._MAX_WARNINGS)
    loss, _, _ = model(tf)
    hook = tf.train.StepCounterHook(every_n_steps=100)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(9):
            session.run(loss)
    assert len([r for r in caplog.records if "has not been" in r.message]) == 5


def test_summaries_every_third_step(tmp_path):
    loss, train, _ = model(tf)
    op = tf.summary.scalar("value", loss)
    hook = tf.train.SummarySaverHook(3, output_dir=str(tmp_path), summary_op=op)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(8):
            session.run(train)
    events = training_loops.events(tf, str(tmp_path))
    assert [step for kind, step, _ in events if kind == "summary"] == [1, 4, 7]


def test_waiting_for_the_global_step(monkeypatch):
    _, _, step = model(tf)
    increment = tf.assign_add(step, 1500)
    waits, sessions = [], []

    class Others(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            sessions.append(session)

    def sleep(seconds):
        waits.append(seconds)
        sessions[0].run(increment)

    monkeypatch.setattr("time.sleep", sleep)
    hook = tf.train.GlobalStepWaiterHook(4000)
    with tf.train.MonitoredSession(hooks=[Others(), hook]) as session:
        assert session.run(step) == 4500
        assert session.run(step) == 4500
    assert waits == [0.5] * 3
    with tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(0)]) as session:
        assert session.run(step) == 0
    assert len(waits) == 3


def test_a_worker_waits_until_the_model_is_ready(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    model(tf)
    with pytest.raises(tf.errors.DeadlineExceededError, match="after waiting 0 secs"):
        tf.train.MonitoredTrainingSession(is_chief=False, max_wait_secs=0)
    tf.reset_default_graph()
    c = tf.constant(2)
    chiefs, all_workers = Records(c), Records(c)
    with tf.train.MonitoredTrainingSession(
        is_chief=False, hooks=[all_workers], chief_only_hooks=[chiefs]
    ) as session:
        assert session.run(c) == 2
    assert (chiefs.seen, all_workers.seen) == ([], [2])


def test_nested_fetches_and_one_hook_twice():
    x = tf.placeholder(tf.float32, [2], name="x")
    mine, one_more, double = [x + 3.0], x + 1.0, x * 2.0
    first, second = Records({"a": [x, one_more], "b": double}), Records(x)
    with tf.train.MonitoredSession(hooks=[first, second, first]) as session:
        found = session.run(mine, {x: [1.0, 2.0]})
    np.testing.assert_array_equal(found, [[4.0, 5.0]])
    np.testing.assert_array_equal(first.seen[0]["a"][1], [2.0, 3.0])
    np.testing.assert_array_equal(first.seen[1]["b"], [2.0, 4.0])
    np.testing.assert_array_equal(second.seen, [[1.0, 2.0]])


def test_traced_runs_reach_hooks_and_caller():
    x = tf.constant(2.0) * 3.0
    seen = []

    class Trace(tf.train.SessionRunHook):
        def before_run(self, run_context):
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            return tf.train.SessionRunArgs(None, options=options)

        def after_run(self, run_context, run_values):
            seen.append(len(run_values.run_metadata.step_stats.dev_stats))

    mine, options = tf.RunMetadata(), tf.RunOptions(timeout_in_ms=60_000)
    with tf.train.MonitoredSession(hooks=[Trace()]) as session:
        assert session.run(x, options=options, run_metadata=mine) == 6.0
    assert seen == [1]
    assert len(mine.step_stats.dev_stats) == 1
    assert options.trace_level == 0, "the caller's options are not changed"


def test_the_innermost_session_as_programs_reach_it():
    _, train, _ = model(tf)
    with tf.train.MonitoredTrainingSession() as session:
        assert isinstance(session._sess._sess._sess._sess, tf.Session)
        assert session._tf_sess() is session._sess._sess._sess._sess
        session.run(train)


def queue_model():
    queue = tf.FIFOQueue(4, tf.int64, shapes=[[]])
    numbers = tf.train.create_global_step()
    fill = queue.enqueue(numbers.assign_add(1))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    return queue


def test_queue_runners_start_and_end_with_the_session():
    queue = queue_model()
    item = queue.dequeue()
    before = threading.active_count()
    with tf.train.MonitoredSession() as session:
        assert session.run(item) >= 1
        assert threading.active_count() > before
    assert threading.active_count() <= before


def test_the_end_of_the_input_ends_the_loop():
    queue = tf.FIFOQueue(2, tf.int64, shapes=[[]])
    count = tf.get_variable("n", [], tf.int64, tf.zeros_initializer())
    fill = queue.enqueue(tf.count_up_to(count, 3))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [fill]))
    item, seen = queue.dequeue(), []
    with tf.train.MonitoredTrainingSession() as session:
        while not session.should_stop():
            seen.append(int(session.run(item)))
    assert seen == [0, 1, 2]


def test_a_thread_that_fails_is_reported():
    """By `close` at the latest; preemption makes a new session."""
    model(tf)
    for kind, raised in ((ValueError, True), (tf.errors.AbortedError, False)):
        creations = []

        class Thread(tf.train.SessionRunHook):
            def after_create_session(self, session, coord, kind=kind, made=creations):
                made.append(session)
                if len(made) == 1:
                    lost = kind("own") if kind is ValueError else kind(None, None, "x")
                    coord.request_stop(lost)

        session = tf.train.MonitoredSession(hooks=[Thread()])
        assert session.should_stop() is raised
        assert len(creations) == (1 if raised else 2)
        if raised:
            with pytest.raises(ValueError, match="own"):
                session.close()
        else:
            session.close()
        assert session.should_stop()


def test_a_hook_that_raises_leaves_nothing_behind(tmp_path):
    _, train, _ = model(tf)

    class Fail(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            raise KeyError("own")

    before = threading.active_count()
    with (
        pytest.raises(KeyError, match="own"),
        tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_checkpoint_steps=1, hooks=[Fail()]
        ) as session,
    ):
        session.run(train)
    assert threading.active_count() <= before
    assert not tf.get_default_graph().finalized
    tf.train.load_checkpoint(str(tmp_path))


def test_a_finalized_graph_stays_so():
    _, train, _ = model(tf)
    scaffold = tf.train.Scaffold().finalize()
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        session.run(train)
    assert tf.get_default_graph().finalized
