"""Watched queues: what moves through them, and why nothing does."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tfteach.explain.pipelines.pipeline_rates import PipelineRun, watch_pipelines
from tfteach.explain.pipelines.pipeline_verdict import judge_river
from tfteach.explain.pipelines.queue_waits import queue_states, waits_for
from tfteach.explain.pipelines.rivers import River

pytestmark = pytest.mark.usefixtures("graph_whose_threads_end", "hangs_are_soon")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    found = []
    for i in range(2):
        path = tmp_path / f"{i}.csv"
        path.write_text("".join(f"{j},{2 * j}\n" for j in range(200)))
        found.append(str(path))
    return found


def csv_batch(files: list[str], threads: int = 2, **options: Any) -> Any:
    names = tf.train.string_input_producer(files, **options)
    _, line = tf.TextLineReader().read(names)
    columns = tf.decode_csv(line, [[0.0], [0.0]])
    return tf.train.shuffle_batch(columns, 8, 60, 20, num_threads=threads)[0]


def run_queues(element: Any, steps: int) -> tuple[PipelineRun, Exception | None]:
    coord = tf.train.Coordinator()
    error: Exception | None = None
    with tf.Session() as session, watch_pipelines() as run:
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord)
        try:
            for _ in range(steps):
                session.run(element)
        except tf.errors.OpError as raised:
            error = raised
    coord.request_stop()
    with contextlib.suppress(tf.errors.OpError):
        coord.join(threads)
    return run, error


def test_queues(files: list[str]) -> None:
    run, error = run_queues(csv_batch(files), 40)
    assert error is None
    (river,) = run.rivers()
    filling = river.step.first_s > 0  # by how long it takes, the first is no step
    assert river.step.steps + filling == 40
    names, filled, fill, batches, step = (
        river.rates[s.key] for s in river.pipeline.stages
    )
    assert batches.elements == 320
    assert fill.elements >= 320
    assert fill.threads == 2
    assert names.threads == 1
    assert filled.capacity == 32
    assert batches.capacity == 60
    assert fill.busy + fill.waits_in + fill.waits_out == pytest.approx(1)
    assert step.elements + filling == 40
    assert river.narrowest is not None
    text = str(run)
    assert "shuffle_batch/random_shuffle_queue: " in text
    assert "2 of 2 threads running" in text


def hang(element: Any, is_hanging: Any, waiting: int = 1) -> tuple[River, str]:
    """Run a step that never ends in a thread, and report on it.

    Args:
      element: what the step fetches.
      is_hanging: starts in its session what is to wait, too.
      waiting: the number of ops that will.
    """
    session = tf.Session()

    def step() -> None:
        with pytest.raises(tf.errors.OpError):
            session.run(element)

    thread = threading.Thread(target=step)
    with watch_pipelines() as run:
        is_hanging(session)
        thread.start()
        while run.stuck_s < 0.12 or len(waits_for(session)) < waiting:
            time.sleep(0.01)
        (river,) = run.rivers()
        session.close()
        thread.join()
    return river, str(judge_river(river))


def test_queue_runners_that_were_never_started(files: list[str]) -> None:
    river, text = hang(csv_batch(files), lambda session: None)
    lines = text.splitlines()
    assert lines[0].startswith("shuffle_batch (test_queue_hangs.py line ")
    assert lines[0].endswith(
        "for elements of shuffle_batch/random_shuffle_queue, which has 0."
    )
    assert "tf.train.start_queue_runners was never called" in lines[1]
    assert "2 threads should run shuffle_batch/random_shuffle_queue_enqueue" in lines[1]
    assert lines[2].startswith("- `coord = tf.train.Coordinator()`")
    (wait,) = river.waits
    assert (wait.op, wait.is_enqueue) == ("shuffle_batch", False)
    assert wait.source is not None
    assert str(river.queues["input_producer"]) == (
        "input_producer: 0 of 32; 1 thread, never started"
    )


def test_the_cause_is_followed_upwards(files: list[str]) -> None:
    element = csv_batch(files, 1)

    def start_the_last(session: Any) -> None:
        last = tf.get_collection("queue_runners")[1]
        last.create_threads(session, tf.train.Coordinator(), True, True)

    text = hang(element, start_the_last, waiting=2)[1]
    assert "Its 1 thread (TextLineReader, DecodeCSV) in turn waits for" in text
    assert "1 thread should run input_producer/input_producer_EnqueueMany" in text


def test_a_queue_that_the_program_must_fill() -> None:
    queue = tf.FIFOQueue(3, tf.float32, [[]])
    queue.enqueue(1.0)
    text = hang(queue.dequeue(), lambda session: None)[1]
    assert "Only fifo_queue_enqueue (test_queue_hangs.py line " in text
    assert "your program must run it" in text


def test_a_queue_that_nothing_fills() -> None:
    queue = tf.FIFOQueue(3, tf.float32, [[]])
    text = hang(queue.dequeue(), lambda session: None)[1]
    assert "No op of the graph enqueues anything into fifo_queue." in text


def test_a_full_queue() -> None:
    queue = tf.FIFOQueue(1, tf.float32, [[]])
    add = queue.enqueue(1.0)
    queue.dequeue()
    text = hang(add, lambda session: session.run(add))[1]
    assert text.startswith("fifo_queue_enqueue (test_queue_hangs.py line ")
    assert "for room in fifo_queue, which has 1 of 1." in text


def test_threads_that_failed() -> None:
    def fail(x: Any) -> Any:
        raise ValueError("no such row")

    value = tf.numpy_function(fail, [tf.constant(1.0)], tf.float32)
    value.set_shape([])
    run, error = run_queues(tf.train.batch([value], 4, num_threads=2), 3)
    assert isinstance(error, tf.errors.OutOfRangeError)
    verdict = judge_river(run.rivers()[0])
    assert verdict.kind == "stuck"
    assert "Of 2 threads that run batch/fifo_queue_enqueue" in str(verdict)
    assert "no such row" in str(verdict)
    assert verdict.narrowest == "batch/fifo_queue_enqueue"


def test_the_input_ends(files: list[str]) -> None:
    run, error = run_queues(csv_batch(files, 1, num_epochs=1), 100)
    assert isinstance(error, tf.errors.OutOfRangeError)
    (river,) = run.rivers()
    assert river.step.steps + (river.step.first_s > 0) == 50
    state = river.queues["input_producer"]
    assert state.is_closed
    assert state.runners[0].ends
    assert "the input has ended" in str(state)


def test_the_queues_of_a_session_without_a_watch(files: list[str]) -> None:
    csv_batch(files)
    with tf.Session() as session:
        states = queue_states(session)
        assert not any(state.exists for state in states.values())
        session.run("input_producer/input_producer_Size:0")
        states = queue_states(session)
        assert [state.exists for state in states.values()] == [True, False]
        assert states["shuffle_batch/random_shuffle_queue"].least == 20


def test_an_interrupt_leaves_the_report_of_the_wait(files: list[str]) -> None:
    element = csv_batch(files)
    options = tf.RunOptions(timeout_in_ms=300)
    watch = watch_pipelines()
    with tf.Session() as session:
        run = watch.__enter__()
        while not run._rivers:  # the wait that its sampler saw
            with pytest.raises(tf.errors.DeadlineExceededError) as raised:
                session.run(element, options=options)
        watch.__exit__(raised.type, raised.value, raised.tb)
    (river,) = run.rivers()
    assert river.waits
    assert "start_queue_runners was never called" in str(run)
