"""tf.train.Coordinator, LooperThread and QueueRunner."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    before = set(threading.enumerate())
    with tf.Graph().as_default() as graph:
        yield graph
    end = time.monotonic() + 60
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.001)
    assert set(threading.enumerate()) <= before


def stop_with(coord: tf.train.Coordinator, error: BaseException, info: bool) -> None:
    try:
        raise error
    except BaseException as caught:
        coord.request_stop(sys.exc_info() if info else caught)


@pytest.mark.parametrize("info", [False, True])
def test_the_first_error_is_raised_by_join(info: bool) -> None:
    coord = tf.train.Coordinator()
    assert not coord.should_stop()
    assert not coord.joined
    assert coord.wait_for_stop(0.01) is False
    coord.raise_requested_exception()
    stop_with(coord, ValueError("first"), info)
    stop_with(coord, KeyError("second"), info)
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()
    for _ in range(2):
        with pytest.raises(ValueError, match="first"):
            coord.join()
    assert coord.joined
    assert coord.should_stop()
    assert coord.wait_for_stop(0.01)
    with pytest.raises(KeyError):  # nobody joins again
        stop_with(coord, KeyError("late"), info)
    coord.clear_stop()
    assert not coord.should_stop()
    assert not coord.joined
    coord.join()


def test_which_exceptions_end_cleanly() -> None:
    end = tf.errors.OutOfRangeError(None, None, "end")
    coord = tf.train.Coordinator()
    stop_with(coord, end, False)
    coord.join()
    coord = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    stop_with(coord, ValueError(), False)
    coord.join()
    coord.clear_stop()
    stop_with(coord, end, True)
    with pytest.raises(tf.errors.OutOfRangeError):
        coord.join()
    with pytest.raises(TypeError, match="ex must be an exception"):
        tf.train.Coordinator().request_stop("text")


def test_threads_that_go_on() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="busy")
    thread.start()
    coord = tf.train.Coordinator()
    coord.register_thread(thread)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running: busy"):
        coord.join(stop_grace_period_secs=0.05)
    coord.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    release.set()
    coord.join([thread])


def test_stop_on_exception_and_loops() -> None:
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise ValueError("mine")
    with pytest.raises(ValueError, match="mine"):
        coord.join()
    coord, calls = tf.train.Coordinator(), []

    def count(step: int, to: int) -> None:
        calls.append(step)
        if len(calls) == to:
            coord.request_stop()

    loop = tf.train.LooperThread.loop
    coord.join([loop(coord, None, count, (1,), {"to": 4})])
    coord.clear_stop()
    coord.join([loop(coord, 0.001, count, (2, 9))])
    assert calls == [1] * 4 + [2] * 5
    coord.clear_stop()
    failing = loop(coord, None, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        coord.join([failing])
    with pytest.raises(ValueError, match="'coord' argument must be a Coordinator: 3"):
        tf.train.LooperThread(3, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="require that you also pass 'target'"):
        tf.train.LooperThread(coord, None, args=(1,))


def counted(limit: int | None = None) -> tuple[Any, tf.train.QueueRunner]:
    """A queue that two threads fill with 1, 2, 3, ... from a variable."""
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    counter = tf.Variable(0, name="counter")
    number = counter.assign_add(1, use_locking=True)
    if limit is not None:
        number = tf.count_up_to(counter, limit)
    with tf.name_scope("s"):
        runner = tf.train.QueueRunner(queue, [queue.enqueue(number)] * 2)
    return queue, runner


def test_a_queue_is_filled_until_the_coordinator_stops() -> None:
    queue, runner = counted()
    tf.train.add_queue_runner(runner)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        name = "QueueRunnerThread-fifo_queue-"
        assert [t.name.removeprefix(name) for t in threads] == [
            "s/fifo_queue_enqueue", "s/fifo_queue_enqueue", "close_on_stop",
        ]  # fmt: skip
        assert all(thread.daemon for thread in threads)
        assert runner.create_threads(session, coord) == []
        out = queue.dequeue()
        found = {int(session.run(out)) for _ in range(50)}
        assert len(found) >= 45  # two threads may enqueue one value of the variable
        coord.request_stop()
        coord.join(threads)
        assert session.run(queue.is_closed())
        assert runner.exceptions_raised == []


def test_the_end_of_the_input_closes_the_queue() -> None:
    queue, runner = counted(limit=7)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        found = []
        out = queue.dequeue()
        for _ in range(7):
            found.append(int(session.run(out)))
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insuf"):
            session.run(out)
        assert sorted(found) == list(range(7))
        assert not coord.should_stop()
        coord.request_stop()
        coord.join(threads)


def test_an_error_of_the_input_reaches_join() -> None:
    queue = tf.FIFOQueue(3, tf.int64, shapes=[[]])
    wrong = tf.py_func(lambda: 1 // 0, [], tf.int64)
    wrong.set_shape([])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(wrong)])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        with pytest.raises(tf.errors.OutOfRangeError):  # stopping closes the queue
            session.run(queue.dequeue())
        with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
            coord.join(threads)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_without_a_coordinator_the_runner_keeps_the_error() -> None:
    queue = tf.FIFOQueue(3, tf.int64, shapes=[[]])
    wrong = tf.py_func(lambda: 1 // 0, [], tf.int64)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(wrong)])
    with tf.Session() as session:
        (thread,) = runner.create_threads(session)
        thread.start()
        thread.join(60)
        assert [type(e) for e in runner.exceptions_raised] == [tf.errors.UnknownError]
        (again,) = runner.create_threads(session)  # the first one has ended
        assert runner.exceptions_raised == []
        assert not again.is_alive()


def test_protos_and_meta_graphs(graph: tf.Graph) -> None:
    with tf.name_scope("a"):
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
        types = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        enqueue = [queue.enqueue(1)] * 2
        runner = tf.train.QueueRunner(
            queue, enqueue, queue_closed_exception_types=types
        )
    tf.train.add_queue_runner(runner)
    assert str(runner.to_proto()).splitlines() == [
        'queue_name: "a/fifo_queue"',
        'enqueue_op_name: "a/fifo_queue_enqueue"',
        'enqueue_op_name: "a/fifo_queue_enqueue"',
        'close_op_name: "a/fifo_queue_Close"',
        'cancel_op_name: "a/fifo_queue_Close_1"',
        "queue_closed_exception_types: OUT_OF_RANGE",
        "queue_closed_exception_types: CANCELLED",
    ]
    assert runner.to_proto(export_scope="other") is None
    proto = runner.to_proto()
    again = tf.train.QueueRunner.from_proto(proto)
    assert again.queue is queue.queue_ref.op
    assert again.enqueue_ops == enqueue
    assert (again.close_op, again.cancel_op) == (runner.close_op, runner.cancel_op)
    assert again.queue_closed_exception_types == types
    del proto.queue_closed_exception_types[:]
    assert tf.train.QueueRunner(
        queue_runner_def=proto
    ).queue_closed_exception_types == (tf.errors.OutOfRangeError,)


def test_a_meta_graph_brings_its_queue_runners() -> None:
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(5)]))
    queue.dequeue(name="out")
    exported = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(exported)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        assert [session.run("out:0") for _ in range(5)] == [5] * 5
        coord.request_stop()
        coord.join(threads)


def test_wrong_arguments(caplog: pytest.LogCaptureFixture) -> None:
    queue = tf.FIFOQueue(3, tf.int32)
    runner = tf.train.QueueRunner
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        runner(queue)
    with pytest.raises(ValueError, match="are mutually exclusive"):
        runner(queue, queue_runner_def=1)
    with pytest.raises(TypeError, match="but saw: <class 'ValueError'>"):
        runner(queue, [queue.enqueue(1)], queue_closed_exception_types=(ValueError,))
    with pytest.raises(TypeError, match="but saw: 3"):
        runner(queue, [queue.enqueue(1)], queue_closed_exception_types=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Cannot start queue runners: No default ses"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match="sess must be a"):
        tf.train.start_queue_runners(sess=3)
    with tf.Session() as session:
        assert tf.train.start_queue_runners(session) == []
    assert "no queue runners were defined" in caplog.text

    class MonitoredSession:
        pass

    assert tf.train.start_queue_runners(MonitoredSession()) == []
