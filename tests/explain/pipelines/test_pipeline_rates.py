"""Watched pipelines: their figures, and the verdict on them."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.pipeline_clock import PipelineClock
from tfteach.explain.pipelines.buffer_history import MOST_LEVELS, BufferHistory
from tfteach.explain.pipelines.dataset_river import Draws, _spent
from tfteach.explain.pipelines.pipeline_rates import PipelineRun, watch_pipelines
from tfteach.explain.pipelines.pipeline_stages import Pipeline, Stage
from tfteach.explain.pipelines.pipeline_verdict import judge_river
from tfteach.explain.pipelines.pipelines import explain_pipelines
from tfteach.explain.pipelines.queue_hangs import hang_of, is_filling
from tfteach.explain.pipelines.queue_river import OpMeter, _used
from tfteach.explain.pipelines.rivers import River
from tfteach.framework import pipeline_meters
from tfteach.framework.pipeline_meters import StageMeter, Totals

Data = tf.data.Dataset
PAUSE_S = 0.004


pytestmark = pytest.mark.usefixtures("graph_whose_threads_end", "hangs_are_soon")


def slow_map(clock: PipelineClock, count: int = 400) -> Any:
    slow = clock.takes(PAUSE_S)
    data = Data.from_tensor_slices(np.arange(count, dtype=np.float32))
    return data.map(lambda x: tf.numpy_function(slow, [x], tf.float32))


def run_of(
    clock: PipelineClock, element: Any, steps: int, pause_s: float = 0.0
) -> PipelineRun:
    with tf.Session() as session, watch_pipelines() as run:
        for _ in range(steps):
            session.run(element)
            clock.work(pause_s)
    return run


def only(run: PipelineRun) -> River:
    (river,) = run.rivers()
    return river


def test_the_step_waits_for_a_slow_map(clock: PipelineClock) -> None:
    element = slow_map(clock).batch(4).make_one_shot_iterator().get_next()
    river = only(run_of(clock, element, 12, PAUSE_S))
    verdict = judge_river(river)
    assert verdict.kind == "data"
    assert verdict.headline.startswith("The step waits for data: ")
    assert river.step.steps == 12
    assert river.step.waits == pytest.approx(0.8)
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert [rates[kind].elements for kind in ("source", "map", "batch")] == [48, 48, 12]
    assert rates["map"].busy == pytest.approx(0.8)
    assert rates["batch"].waits_in == pytest.approx(0.8)
    assert (rates["source"].busy, rates["source"].waits_out) == (0, 1)
    assert rates["step"].busy == pytest.approx(0.2)
    assert rates["map"].could_per_s == pytest.approx(1 / (4 * PAUSE_S))
    assert verdict.narrowest.endswith("MapDataset")
    assert "The narrowest stage is map(lambda) (test_pipeline_rates.py line " in str(
        verdict
    )
    assert "num_parallel_calls=4" in verdict.advice[0]  # before prefetch
    assert river.step.line is not None
    assert river.step.line.text == "session.run(element)"


def test_the_data_wait_for_a_slow_step(clock: PipelineClock) -> None:
    element = Data.range(1000).batch(4).make_one_shot_iterator().get_next()
    river = only(run_of(clock, element, 12, PAUSE_S))
    verdict = judge_river(river)
    assert verdict.kind == "step"
    assert verdict.headline.startswith("The data wait for the step")
    assert verdict.narrowest == ""
    assert verdict.advice[0].startswith("Nothing to widen here")
    assert river.step.per_s == pytest.approx(1 / PAUSE_S)


def test_data_and_step_that_take_turns_gain_by_prefetch(clock: PipelineClock) -> None:
    made = slow_map(clock).make_one_shot_iterator().get_next()
    ahead = slow_map(clock).prefetch(2).make_one_shot_iterator().get_next()
    before = run_of(clock, made, 12, 1.5 * PAUSE_S)
    verdict = judge_river(only(before))
    assert verdict.kind == "both"
    assert any("`prefetch(1)` at the end" in line for line in verdict.advice)
    river = only(run_of(clock, ahead, 24, 1.5 * PAUSE_S))
    # The clock adds up the work of both threads, which is at the same time.
    at_once = river.step._replace(elapsed_s=24 * 1.5 * PAUSE_S, waited_s=0.0)
    verdict = judge_river(river._replace(step=at_once), before.rivers())
    assert verdict.factor == pytest.approx(2.5 / 1.5)
    assert verdict.gain.startswith("1.7 times as fast as the run before (from 100 to")
    assert not any(line.startswith("`prefetch") for line in verdict.advice)
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert rates["prefetch"].capacity == 2
    assert rates["map"].busy > 0.3  # in the thread of prefetch


def test_the_gain_counts_examples_if_batches_differ(clock: PipelineClock) -> None:
    small = slow_map(clock).batch(2).make_one_shot_iterator().get_next()
    large = slow_map(clock).batch(8).make_one_shot_iterator().get_next()
    before = run_of(clock, small, 8, 2 * PAUSE_S)
    after = run_of(clock, large, 4, 2 * PAUSE_S)
    verdict = judge_river(only(after), before.rivers())
    assert verdict.gain == (
        "1.6 times as fast as the run before (from 125 to 200 examples/s)."
    )
    assert verdict.factor == pytest.approx(1.6)


def test_a_shuffle_that_fills_first(clock: PipelineClock) -> None:
    data = slow_map(clock, 3000).shuffle(30).batch(2)
    river = only(run_of(clock, data.make_one_shot_iterator().get_next(), 10))
    verdict = judge_river(river)
    assert river.step.first_s == pytest.approx(31 * PAUSE_S)
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


def test_a_shuffle_that_runs_as_one_with_repeat(clock: PipelineClock) -> None:
    data = slow_map(clock, 40).shuffle(10, 1).repeat().batch(4)
    river = only(run_of(clock, data.make_one_shot_iterator().get_next(), 30))
    rates = {stage.kind: river.rates[stage.key] for stage in river.pipeline.stages}
    assert rates["shuffle"].capacity == 10
    assert rates["repeat"].capacity is None
    assert rates["shuffle"].elements == rates["repeat"].elements >= 120
    assert rates["repeat"].busy == 0


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


def test_a_thread_that_waits_is_not_the_one_that_works(clock: PipelineClock) -> None:
    data = slow_map(clock).batch(4).prefetch(2)
    river = only(run_of(clock, data.make_one_shot_iterator().get_next(), 10))
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
            assert release.wait(60)
        return x

    data = Data.range(30).map(lambda x: tf.numpy_function(hang, [x], tf.int64))
    element = data.shuffle(20).make_one_shot_iterator().get_next()
    with tf.Session() as session, watch_pipelines() as run:
        thread = threading.Thread(target=session.run, args=[element])
        thread.start()
        assert going.wait(60)
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


def test_epochs_that_a_cache_would_spare(clock: PipelineClock) -> None:
    data = slow_map(clock, 6).repeat(3)
    river = only(run_of(clock, data.make_one_shot_iterator().get_next(), 18))
    assert any("`cache()` behind map" in line for line in judge_river(river).advice)
    data = slow_map(clock, 6).cache().repeat(3)
    river = only(run_of(clock, data.make_one_shot_iterator().get_next(), 18))
    assert not any("cache()" in line for line in judge_river(river).advice)


def test_an_iterator_that_began_before_the_watch(clock: PipelineClock) -> None:
    element = slow_map(clock).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(element)
        with watch_pipelines() as run:
            for _ in range(5):
                session.run(element)
    river = only(run)
    assert river.is_partial
    assert list(river.rates) == ["step"]
    assert river.step.waits == 1
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


def test_the_report(clock: PipelineClock) -> None:
    data = slow_map(clock).shuffle(9).batch(2)
    run = run_of(clock, data.make_one_shot_iterator().get_next(), 10)
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
        assert release.wait(60)
        return x

    data = Data.range(5).map(lambda x: tf.numpy_function(hang, [x], tf.int64))
    element = data.make_one_shot_iterator().get_next()
    with tf.Session() as session, watch_pipelines() as run:
        thread = threading.Thread(target=session.run, args=[element])
        thread.start()
        assert going.wait(60)
        while run.stuck_s < 0.1:
            time.sleep(0.001)
        (river,) = run.rivers()
        release.set()
        thread.join()
    (mapped,) = [s for s in river.pipeline.stages if s.kind == "map"]
    assert river.rates[mapped.key].is_asked_s > 0
    assert river.step.steps == 0


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
