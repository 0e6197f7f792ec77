"""Runs that wait for a queue: what ends them, and that they delay no other run."""

from __future__ import annotations

import functools
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf

ENOUGH_S = 60.0


def waits_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + ENOUGH_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def in_line(session: tf.Session) -> int:
    """The number of ops that wait in the session."""
    return len(session.resources.cancellation.condition_of_waits)


def started(count: int, run: Callable[[], Any]) -> tuple[list[threading.Thread], list]:
    """Threads that call `run`, and the errors they will have met."""
    errors: list[tf.errors.OpError] = []

    def work() -> None:
        try:
            run()
        except tf.errors.OpError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, errors


def test_forty_threads_wait_when_the_session_closes() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    full = tf.FIFOQueue(0, tf.int32, shapes=[[]])
    before = threading.active_count()
    session = tf.Session()
    out, outs, put = queue.dequeue(), queue.dequeue_many(3), full.enqueue(1)
    threads, errors = [], []
    for fetch in (out, outs, put, [out, put]):
        more, found = started(10, lambda fetch=fetch: session.run(fetch))
        threads += more
        errors.append(found)
    waits_for(lambda: in_line(session) == 50)
    session.close()
    for thread in threads:
        thread.join(ENOUGH_S)
    assert threading.active_count() == before
    texts = [{e.message.split("\n")[0] for e in found} for found in errors]
    dequeue, enqueue = (f"{x} operation was cancelled" for x in ("Dequeue", "Enqueue"))
    assert texts[:3] == [{dequeue}, {dequeue}, {enqueue}]
    assert texts[3] <= {dequeue, enqueue}
    assert [len(found) for found in errors] == [10] * 4
    assert all(type(e) is tf.errors.CancelledError for found in errors for e in found)
    assert errors[0][0].op is out.op
    assert in_line(session) == 0


def test_other_runs_go_on_beside_one_that_waits() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    v = tf.Variable(0)
    with tf.Session() as session:
        session.run(v.initializer)
        threads, errors = started(1, lambda: session.run(queue.dequeue()))
        waits_for(lambda: in_line(session) == 1)
        for _ in range(20):
            session.run(tf.assign_add(v, 1))
        assert session.run(v) == 20
        session.run(queue.enqueue(1))
        threads[0].join(ENOUGH_S)
        assert not errors


@pytest.mark.parametrize("kind", ["run", "session", "callable", "two ops"])
def test_a_time_limit_ends_a_wait(kind: str) -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    out: Any = queue.dequeue()
    if kind == "two ops":
        out = [out, tf.FIFOQueue(1, tf.int32, shapes=[[]]).dequeue()]
    limit = tf.RunOptions(timeout_in_ms=60)
    config = tf.ConfigProto(operation_timeout_in_ms=60 if kind == "session" else 0)
    before = threading.active_count()
    with tf.Session(config=config) as session:
        start = time.monotonic()
        run: Callable[..., Any] = functools.partial(session.run, out)
        if kind == "callable":
            run = session.make_callable(out, accept_options=True)
        with pytest.raises(tf.errors.DeadlineExceededError) as caught:
            run(options=None if kind == "session" else limit)
        assert time.monotonic() - start >= 0.06
        assert caught.value.message == "Timed out waiting for notification"
        assert in_line(session) == 0
        waits_for(lambda: threading.active_count() == before)
        enough = tf.RunOptions(timeout_in_ms=int(ENOUGH_S * 1000))
        session.run(queue.enqueue(5), options=enough)
        assert session.run(queue.dequeue(), options=enough) == 5


def interrupt_once_it_waits(session: tf.Session) -> threading.Thread:
    def interrupt() -> None:
        waits_for(lambda: in_line(session) > 0)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    return thread


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("several", [False, True])
def test_ctrl_c_ends_a_wait_and_the_queue_keeps_its_elements(several: bool) -> None:
    queue = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    before = threading.active_count()
    with tf.Session() as session:
        session.run(queue.enqueue_many([[1, 2]]))
        batch: Any = queue.dequeue_many(3)
        if several:
            batch = [batch, tf.FIFOQueue(1, tf.int32).dequeue()]
        thread = interrupt_once_it_waits(session)
        with pytest.raises(KeyboardInterrupt):
            session.run(batch)
        thread.join(ENOUGH_S)
        waits_for(lambda: threading.active_count() == before)
        if not several:
            assert session.run(queue.dequeue_many(2)).tolist() == [1, 2]
        session.run(queue.enqueue(3))
        assert session.run(queue.dequeue()) == 3


def test_a_failed_op_ends_the_waits_of_its_step() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    with tf.Session() as session:
        wrong = tf.py_func(lambda: 1 // 0, [], tf.int64)
        with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
            session.run([queue.dequeue(), wrong])
        assert in_line(session) == 0
        session.run(queue.enqueue(3))
        assert session.run(queue.dequeue()) == 3


def test_a_step_waits_for_its_own_other_op_in_every_run() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    value = tf.placeholder(tf.int32, [])
    both = [queue.enqueue(value), queue.dequeue()]
    with tf.Session() as session:
        for i in range(30):
            assert session.run(both, {value: i})[1] == i


def test_waiting_beside_a_limit_of_user_code() -> None:
    """A py_func that runs another session is not under the outer run's limit."""
    inner_graph = tf.Graph()
    with inner_graph.as_default():
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        out, put = queue.dequeue(), queue.enqueue(4)
    inner = tf.Session(graph=inner_graph)

    def wait() -> int:
        threading.Timer(0.2, lambda: inner.run(put)).start()
        return int(inner.run(out))

    with tf.Session() as session:
        options = tf.RunOptions(timeout_in_ms=100)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(tf.py_func(wait, [], tf.int64), options=options)
    inner.close()


def test_ops_that_wait_for_other_resources_than_queues() -> None:
    """Staging areas and accumulators wait for another thread, and end with the run."""
    area = tf.contrib.staging.StagingArea([tf.int32], [[]], capacity=1)
    put, get, later = area.put([tf.constant(7)]), area.get(), area.peek(0)
    total = tf.ConditionalAccumulator(tf.float32, [])
    limit = tf.RunOptions(timeout_in_ms=30)
    with tf.Session() as session:
        for fetch in (get, later, total.take_grad(1)):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(fetch, options=limit)
        threads, errors = started(1, lambda: session.run(put))
        threads[0].join(ENOUGH_S)
        full, more = started(1, lambda: session.run(put))
        waits_for(lambda: in_line(session) == 1)
        assert session.run(later) == [7]
        assert session.run(get) == [7]
        full[0].join(ENOUGH_S)
        assert session.run(get) == [7]
        waiting, ended = started(2, lambda: session.run([get, total.take_grad(1)]))
        waits_for(lambda: in_line(session) >= 4)
    for thread in waiting:
        thread.join(ENOUGH_S)
    assert errors == more == []
    words = "(Unstage|TakeGrad) operation was cancelled"
    assert all(re.match(words, error.message) for error in ended)
    assert len(ended) == 2
