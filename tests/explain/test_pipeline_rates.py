"""Watched pipelines: their figures, and the verdict on them."""

from __future__ import annotations

import contextlib
import gc
import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain import pipeline_rates, pipeline_verdict
from tfteach.explain.buffer_history import MOST_LEVELS, BufferHistory
from tfteach.explain.dataset_river import Draws, _spent
from tfteach.explain.pipeline_rates import PipelineRun, watch_pipelines
from tfteach.explain.pipeline_stages import Pipeline, Stage
from tfteach.explain.pipeline_verdict import judge_river
from tfteach.explain.pipelines import explain_pipelines
from tfteach.explain.queue_hangs import hang_of, is_filling
from tfteach.explain.queue_river import OpMeter, _used
from tfteach.explain.queue_waits import queue_states
from tfteach.explain.rivers import River
from tfteach.framework import pipeline_meters
from tfteach.framework.pipeline_meters import StageMeter, Totals

Data = tf.data.Dataset
PAUSE_S = 0.004


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    before = threading.active_count()
    with tf.Graph().as_default() as graph:
        yield graph
    end_s = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < end_s:
        gc.collect()  # sessions, and with them the threads of their iterators
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the time counts as a hang."""
    monkeypatch.setattr(pipeline_verdict, "HANGS_S", 0.1)
    monkeypatch.setattr(pipeline_rates, "STUCK_S", 0.05)


def slow(x: Any) -> Any:
    time.sleep(PAUSE_S)
    return x


def slow_map(count: int = 400) -> Any:
    data = Data.from_tensor_slices(np.arange(count, dtype=np.float32))
    return data.map(lambda x: tf.numpy_function(slow, [x], tf.float32))


def run_of(element: Any, steps: int, pause_s: float = 0.0) -> PipelineRun:
    with tf.Session() as session, watch_pipelines() as run:
        for _ in range(steps):
            session.run(element)
            time.sleep(pause_s)
    return run


def only(run: PipelineRun) -> River:
    (river,) = run.rivers()
    return river


def test_the_step_waits_for_a_slow_map() -> None:
    element = slow_map().batch(4).make_one_shot_iterator().get_next()
    river = only(run_of(element, 12))
    verdict = judge_river(river)
    assert verdict.kind == "data"
    assert verdict.headline.startswith("The step waits for data: ")
    assert river.step.steps == 12
    assert river.step.waits > 0.7
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert [rates[kind].elements for kind in ("source", "map", "batch")] == [48, 48, 12]
    assert rates["map"].busy > 0.6
    assert rates["batch"].waits_in > 0.6
    assert rates["source"].busy < 0.4
    assert rates["source"].waits_out > 0.6
    assert rates["step"].busy < 0.3
    # Four pauses for each step.
    assert rates["map"].could_per_s < 1 / (4 * PAUSE_S)
    assert verdict.narrowest.endswith("MapDataset")
    assert "The narrowest stage is map(lambda) (test_pipeline_rates.py line " in str(
        verdict
    )
    assert "num_parallel_calls=4" in verdict.advice[0]  # before prefetch
    assert river.step.line is not None
    assert river.step.line.text == "session.run(element)"


def test_the_data_wait_for_a_slow_step() -> None:
    element = Data.range(1000).batch(4).make_one_shot_iterator().get_next()
    river = only(run_of(element, 12, PAUSE_S))
    verdict = judge_river(river)
    assert verdict.kind == "step"
    assert verdict.headline.startswith("The data wait for the step")
    assert verdict.narrowest == ""
    assert verdict.advice[0].startswith("Nothing to widen here")
    assert river.step.per_s < 1 / PAUSE_S


def test_data_and_step_that_take_turns_gain_by_prefetch() -> None:
    made = slow_map().make_one_shot_iterator().get_next()
    ahead = slow_map().prefetch(2).make_one_shot_iterator().get_next()
    before = run_of(made, 12, PAUSE_S)
    verdict = judge_river(only(before))
    assert verdict.kind in ("both", "data")  # by how long pauses take
    assert any("`prefetch(1)` at the end" in line for line in verdict.advice)
    for _ in range(3):  # other processes may take the core that prefetching needs
        after = run_of(ahead, 24, PAUSE_S)
        verdict = judge_river(only(after), before.rivers())
        if verdict.factor > 1.05:
            break
    assert verdict.factor > 1.05
    assert "times as fast as the run before (" in verdict.gain
    assert not any(line.startswith("`prefetch") for line in verdict.advice)
    river = only(after)
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert rates["prefetch"].capacity == 2
    assert rates["map"].busy > 0.3  # in the thread of prefetch


def test_the_gain_counts_examples_if_batches_differ() -> None:
    small = slow_map().batch(2).make_one_shot_iterator().get_next()
    large = slow_map().batch(8).make_one_shot_iterator().get_next()
    before, after = run_of(small, 8), run_of(large, 4)
    verdict = judge_river(only(after), before.rivers())
    assert "examples/s)" in verdict.gain
    assert 0.4 < verdict.factor < 2.5


def test_a_shuffle_that_fills_first() -> None:
    data = slow_map(3000).shuffle(30).batch(2)
    river = only(run_of(data.make_one_shot_iterator().get_next(), 10))
    verdict = judge_river(river)
    assert river.step.first_s > 30 * PAUSE_S
    assert river.step.steps == 9
    assert "shuffle first fills its buffer of 30" in str(verdict)
    assert any("3000 rows stay near" in line for line in verdict.advice)
    (shuffle,) = [s for s in river.pipeline.stages if s.kind == "shuffle"]
    assert river.rates[shuffle.key].elements == 18
    assert river.rates[shuffle.key][6:8] == (29, 30)


def test_pauses_are_not_charged_to_a_stage_that_reads_fast_ones() -> None:
    """The batch is timed with the pauses of its thread, most of the map is not."""
    meters = {"map": StageMeter(), "batch": StageMeter()}
    pipeline = Pipeline(
        "dataset",
        "it",
        [
            Stage("map", "map", "map"),
            Stage("batch", "batch", "batch", inputs=("map",)),
            Stage("step", "step", "step", inputs=("batch",)),
        ],
        tf.get_default_graph(),
    )
    fast, batch = meters["map"], meters["batch"]
    fast.add(1000)
    for _ in range(100):
        fast.timed(6_000)
        fast.usual(6_000.0)
    fast.untimed(900, 6_000.0, 10_000_000)
    batch.add(10)
    batch.timed(20_000_000)  # two thirds of it pauses
    for mean_ns in (800_000.0, 800_000.0, 30_000_000.0):
        batch.usual(mean_ns)
    draws = Draws("it")
    draws.meters.update(meters)
    for _ in range(2):
        draws.begin()
        draws.end()
    totals = {key: meter.totals() for key, meter in meters.items()}
    assert totals["map"].elapsed_ns == pytest.approx(6e6)
    spent = _spent(pipeline, meters, totals)
    # Usually 6 of 9.6 ms are the map's: so they are of the 20 ms.
    assert spent["map"] == pytest.approx(20e6 * 6 / 9.6)
    assert spent["map"] + spent["batch"] == pytest.approx(20e6)


def test_a_shuffle_that_runs_as_one_with_repeat() -> None:
    data = Data.range(40).map(lambda i: i + 1).shuffle(10, 1).repeat().batch(4)
    river = only(run_of(data.make_one_shot_iterator().get_next(), 30))
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert rates["shuffle"].capacity == 10
    assert rates["repeat"].capacity is None
    assert rates["shuffle"].elements == rates["repeat"].elements >= 120
    assert rates["repeat"].busy == pytest.approx(0, abs=0.01)


def test_a_program_that_fills_its_queue_itself() -> None:
    queue = tf.FIFOQueue(9, tf.float32, [[]])
    add, take = queue.enqueue(1.0), queue.dequeue_many(4)
    with tf.Session() as session, watch_pipelines() as run:
        for _ in range(3):
            for _ in range(4):
                session.run(add)
            session.run(take)
    river = only(run)
    fill, held, step = (river.rates[s.key] for s in river.pipeline.stages)
    assert fill.elements == held.elements == 12
    assert fill.busy == 0  # it is the step's thread
    assert step.elements == 3
    assert river.narrowest is None


def test_a_thread_that_waits_is_not_the_one_that_works() -> None:
    data = slow_map().batch(4).prefetch(2)
    river = only(run_of(data.make_one_shot_iterator().get_next(), 10))
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert rates["prefetch"].busy == 0
    assert rates["prefetch"].waits_in > 0.5
    assert rates["batch"].waits_in > 0.5
    assert river.narrowest is not None
    assert river.narrowest.kind == "map"


def test_elements_that_wait_in_a_queue_are_not_used_yet() -> None:
    queue = tf.FIFOQueue(1000, tf.float32, [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
    (pipeline,) = explain_pipelines()
    meters = {"fifo_queue_enqueue": [OpMeter()], "take": [OpMeter()]}
    meters["fifo_queue_enqueue"][0].passed(800)
    meters["take"][0].passed(-200)
    stages = [
        stage._replace(takes=("take",)) if stage.kind == "step" else stage
        for stage in pipeline.stages
    ]
    pipeline = Pipeline("queues", "fifo_queue", stages, pipeline.graph)
    assert _used(pipeline.stages[0], meters, pipeline) == 0.25


def test_totals_since_an_earlier_moment() -> None:
    later, earlier = Totals(9, 8.0, 7, 6, True, 5.0), Totals(1, 2.0, 3, 4, False, 1.0)
    assert later.since(earlier) == (8, 6.0, 4, 2, True, 4.0)


def test_dequeued_elements_are_counted() -> None:
    queue = tf.FIFOQueue(9, tf.float32, [[]])
    add, take = queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.dequeue()
    with tf.Session() as session, watch_pipelines() as run:
        session.run(add)
        for _ in range(3):
            session.run(take)
    fill, held, step = only(run).rates.values()
    assert (fill.elements, held.elements, step.elements) == (3, 3, 3)


def test_a_shuffle_that_fills_is_no_hang() -> None:
    going, release = threading.Event(), threading.Event()

    def hang(x: Any) -> Any:
        if x == 5:
            going.set()
            assert release.wait(20)
        return x

    data = Data.range(30).map(lambda x: tf.numpy_function(hang, [x], tf.int64))
    element = data.shuffle(20).make_one_shot_iterator().get_next()
    with tf.Session() as session, watch_pipelines() as run:
        thread = threading.Thread(target=session.run, args=[element])
        thread.start()
        assert going.wait(20)
        river = only(run)
        shuffle = next(s for s in river.pipeline.stages if s.kind == "shuffle")
        assert is_filling(shuffle, river)
        assert (
            hang_of(
                river._replace(rates={shuffle.key: river.rates[shuffle.key]}), 0.0, str
            )
            is None
        )
        verdict = judge_river(river)
        release.set()
        thread.join()
    assert verdict.kind == "idle"
    assert verdict.headline == (
        "shuffle fills its buffer before the first element: 5 of 20."
    )


def test_epochs_that_a_cache_would_spare() -> None:
    data = slow_map(6).repeat(3)
    river = only(run_of(data.make_one_shot_iterator().get_next(), 18))
    assert any("`cache()` behind map" in line for line in judge_river(river).advice)
    data = slow_map(6).cache().repeat(3)
    river = only(run_of(data.make_one_shot_iterator().get_next(), 18))
    assert not any("cache()" in line for line in judge_river(river).advice)


def test_an_iterator_that_began_before_the_watch() -> None:
    element = slow_map().make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(element)
        with watch_pipelines() as run:
            for _ in range(5):
                session.run(element)
    river = only(run)
    assert river.is_partial
    assert list(river.rates) == ["step"]
    assert river.step.waits > 0.6
    assert "initialized before it was watched" in str(judge_river(river))


def test_nothing_moved() -> None:
    Data.range(3).make_one_shot_iterator().get_next()
    with watch_pipelines() as run:
        pass
    assert run.rivers() == []
    assert str(run) == "No pipeline moved: no iterator or queue was used."
    assert pipeline_meters.watch() is None
    with watch_pipelines(), pytest.raises(RuntimeError), watch_pipelines():
        pass


def test_the_report() -> None:
    element = slow_map().shuffle(9).batch(2).make_one_shot_iterator().get_next()
    run = run_of(element, 10)
    head, titles, *rows = str(run).splitlines()
    assert head.startswith("OneShotIterator: ")
    assert titles.split() == ["elements/s", "busy", "waits", "idle", "buffer"]
    names = [row.split()[0] for row in rows[:5]]
    assert names == ["from_tensor_slices", ">map(lambda)", "shuffle", "batch", "step"]
    assert " of 9 " in rows[2]
    assert "The step waits for data" in rows[6]
    assert not run.is_open
    assert run.stuck_s == 0


def test_a_hang_in_a_map() -> None:
    going, release = threading.Event(), threading.Event()

    def hang(x: Any) -> Any:
        going.set()
        assert release.wait(20)
        return x

    data = Data.range(5).map(lambda x: tf.numpy_function(hang, [x], tf.int64))
    element = data.make_one_shot_iterator().get_next()
    with tf.Session() as session, watch_pipelines() as run:
        thread = threading.Thread(target=session.run, args=[element])
        thread.start()
        assert going.wait(20)
        while run.stuck_s < 0.1:
            time.sleep(0.001)
        (river,) = run.rivers()
        release.set()
        thread.join()
    (mapped,) = [s for s in river.pipeline.stages if s.kind == "map"]
    assert river.rates[mapped.key].is_asked_s > 0
    assert river.step.steps == 0


# ---- queues


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
    river = only(run)
    assert river.step.steps == 40
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
    assert step.elements == 40
    assert river.narrowest is not None
    text = str(run)
    assert "shuffle_batch/random_shuffle_queue: " in text
    assert "2 of 2 threads running" in text


def hang(element: Any, is_hanging: Any) -> tuple[River, str]:
    """Run a step that never ends in a thread, and report on it."""
    session = tf.Session()

    def step() -> None:
        with pytest.raises(tf.errors.OpError):
            session.run(element)

    thread = threading.Thread(target=step)
    with watch_pipelines() as run:
        is_hanging(session)
        thread.start()
        while run.stuck_s < 0.12:
            time.sleep(0.01)
        (river,) = run.rivers()
        session.close()
        thread.join()
    return river, str(judge_river(river))


def test_queue_runners_that_were_never_started(files: list[str]) -> None:
    river, text = hang(csv_batch(files), lambda session: None)
    lines = text.splitlines()
    assert lines[0].startswith("shuffle_batch (test_pipeline_rates.py line ")
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

    text = hang(element, start_the_last)[1]
    assert "Its 1 thread (TextLineReader, DecodeCSV) in turn waits for" in text
    assert "1 thread should run input_producer/input_producer_EnqueueMany" in text


def test_a_queue_that_the_program_must_fill() -> None:
    queue = tf.FIFOQueue(3, tf.float32, [[]])
    queue.enqueue(1.0)
    text = hang(queue.dequeue(), lambda session: None)[1]
    assert "Only fifo_queue_enqueue (test_pipeline_rates.py line " in text
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
    assert text.startswith("fifo_queue_enqueue (test_pipeline_rates.py line ")
    assert "for room in fifo_queue, which has 1 of 1." in text


def test_threads_that_failed() -> None:
    def fail(x: Any) -> Any:
        raise ValueError("no such row")

    value = tf.numpy_function(fail, [tf.constant(1.0)], tf.float32)
    value.set_shape([])
    run, error = run_queues(tf.train.batch([value], 4, num_threads=2), 3)
    assert isinstance(error, tf.errors.OutOfRangeError)
    verdict = judge_river(only(run))
    assert verdict.kind == "stuck"
    assert "Of 2 threads that run batch/fifo_queue_enqueue" in str(verdict)
    assert "no such row" in str(verdict)
    assert verdict.narrowest == "batch/fifo_queue_enqueue"


def test_the_input_ends(files: list[str]) -> None:
    run, error = run_queues(csv_batch(files, 1, num_epochs=1), 100)
    assert isinstance(error, tf.errors.OutOfRangeError)
    river = only(run)
    assert river.step.steps == 50
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
    options = tf.RunOptions(timeout_in_ms=400)
    watch = watch_pipelines()
    with tf.Session() as session:
        run = watch.__enter__()
        with pytest.raises(tf.errors.DeadlineExceededError) as raised:
            session.run(element, options=options)
        watch.__exit__(raised.type, raised.value, raised.tb)
    assert only(run).waits
    assert "start_queue_runners was never called" in str(run)


def test_history_of_buffers() -> None:
    history = BufferHistory()
    for i in range(10_000):
        history.add("a", i * 1_000_000, i, 20_000)
    levels = history.levels("a")
    assert MOST_LEVELS / 4 < len(levels) <= MOST_LEVELS
    assert levels[0] == (0.0, 0, 20_000)
    assert levels[-1].held > 9_000
    gaps = [b.held - a.held for a, b in itertools.pairwise(levels)]
    assert max(gaps) <= 2 * min(gaps)
    assert history.levels("b") == []
