"""Watched datasets: the same elements, and what their stages report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework import pipeline_meters
from tfteach.framework.pipeline_meters import StageMeter, Totals, counted, watching
from tfteach.ops.data import measuring
from tfteach.ops.data.elements import Rows

Data = tf.data.Dataset


class Reports:
    """A watch that keeps the meters."""

    def __init__(self) -> None:
        self.meters: dict[str, StageMeter] = {}

    def stage(self, pipeline: Any, stage: str) -> StageMeter:
        return self.meters.setdefault(stage, StageMeter())

    def draw(self, context: Any, iterator: Any) -> Any:
        return iterator.next(context)

    def passed(self, context: Any, queue: Any, count: int) -> None:
        raise AssertionError("no queue is used")

    def waited(self, context: Any, queue: Any, elapsed_ns: int) -> None:
        raise AssertionError("no queue is used")


def lines() -> Iterator[int]:
    yield from range(5)


def same(x: Any) -> Any:
    return x


def words(number: int) -> Any:
    return Data.range(number).map(lambda i: i + number)


PIPELINES: dict[str, Callable[[], Any]] = {
    "rows": lambda: Data.from_tensor_slices(np.arange(300)).shuffle(20, 3).batch(7),
    "map": lambda: Data.range(5000).map(lambda i: i * i).batch(9),
    "filter": lambda: Data.range(3000).filter(lambda i: tf.equal(i % 7, 0)).batch(3),
    "prefetch": lambda: Data.range(50).map(lambda i: i + 1).batch(4).prefetch(2),
    "flat_map": lambda: Data.range(8).flat_map(words).shuffle(5, 1),
    "interleave": lambda: Data.range(8).interleave(words, cycle_length=3),
    "zip": lambda: Data.zip((Data.range(9), Data.range(5, 20))).batch(2),
    "concatenate": lambda: Data.range(9).concatenate(Data.range(3)).skip(2).take(8),
    "cache": lambda: Data.range(9).map(lambda i: i * 2).cache().repeat(3),
    "generator": lambda: Data.from_generator(lines, tf.int64).repeat(2).batch(3),
    "window": lambda: Data.range(10).window(3).flat_map(lambda w: w.batch(3)),
    "map_and_batch": lambda: Data.range(30).apply(
        tf.data.experimental.map_and_batch(lambda i: i + 1, 4)
    ),
    "parallel": lambda: (
        Data.range(60)
        .map(lambda i: tf.numpy_function(same, [i], tf.int64), 3)
        .interleave(lambda i: Data.range(i % 3), 2, num_parallel_calls=2)
        .batch(2)
    ),
    "unbatch": lambda: Data.range(10).batch(4).apply(tf.data.experimental.unbatch()),
}


def elements(make: Callable[[], Any], initializable: bool) -> list[Any]:
    """All elements of two epochs, or one of a one-shot iterator."""
    with tf.Graph().as_default(), tf.Session() as session:
        data = make()
        found = []
        if initializable:
            iterator = data.make_initializable_iterator()
            starts = [iterator.initializer] * 2
        else:
            iterator, starts = data.make_one_shot_iterator(), [tf.no_op()]
        element = iterator.get_next()
        for start in starts:
            session.run(start)
            while True:
                try:
                    found.append(np.asarray(session.run(element)).tolist())
                except tf.errors.OutOfRangeError:
                    break
        return found


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("initializable", [False, True])
def test_watched_datasets_have_the_same_elements(
    name: str, initializable: bool
) -> None:
    plain = elements(PIPELINES[name], initializable)
    reports = Reports()
    with watching(reports):
        assert elements(PIPELINES[name], initializable) == plain
    assert len(plain) in {meter.count for meter in reports.meters.values()}


def test_each_stage_counts_its_elements() -> None:
    reports = Reports()
    with watching(reports):
        elements(
            lambda: Data.range(20_000).map(lambda i: i + 1).batch(100).prefetch(1), True
        )
    counts = {key: meter.count for key, meter in reports.meters.items()}
    assert counts == {
        "RangeDataset": 40_000,
        "MapDataset": 40_000,
        "BatchDatasetV2": 400,
        "PrefetchDataset": 400,
    }
    assert all(meter.epochs == 2 for meter in reports.meters.values())
    assert all(meter.totals().epochs == 2 for meter in reports.meters.values())


def test_the_stages_of_functions_have_keys_behind_the_op_that_calls_them() -> None:
    reports = Reports()
    with watching(reports):
        elements(PIPELINES["flat_map"], True)
    keys = [key for key in reports.meters if key.startswith("FlatMapDataset/")]
    assert sorted(keys) == ["FlatMapDataset/MapDataset", "FlatMapDataset/RangeDataset"]
    assert reports.meters["FlatMapDataset/MapDataset"].count == 2 * sum(range(8))


def test_an_error_does_not_end_a_watched_dataset() -> None:
    def run() -> list[str]:
        with tf.Graph().as_default(), tf.Session() as session:
            data = Data.range(2000).map(lambda i: 12 // (i % 5 - 2))
            element = data.make_one_shot_iterator().get_next()
            found = []
            for _ in range(2001):
                try:
                    found.append(str(session.run(element)))
                except tf.errors.InvalidArgumentError:
                    found.append("error")
                except tf.errors.OutOfRangeError:
                    return found
            raise AssertionError("it does not end")

    plain = run()
    assert plain.count("error") == 400
    reports = Reports()
    with watching(reports):
        assert run() == plain
    (mapped,) = [m for k, m in reports.meters.items() if k.endswith("/MapDataset")]
    assert mapped.count == 1600


class Clock:
    """A clock that only the functions of a dataset move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1
        monkeypatch.setattr(measuring, "clock_ns", lambda: self.now_ns)

    def work(self, data: Any, elapsed_ns: Callable[[int], int]) -> Any:
        """The elements of a dataset of numbers, each taking its time."""

        def call(i: Any) -> Any:
            self.now_ns += elapsed_ns(int(i))
            return i

        return data.map(lambda i: tf.numpy_function(call, [i], tf.int64))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def totals_of(make: Callable[[], Any]) -> dict[str, Totals]:
    """What the stages of one epoch did, by their types."""
    reports = Reports()
    with watching(reports):
        elements(make, False)
    return {k.rpartition("/")[2]: m.totals() for k, m in reports.meters.items()}


def test_times_of_slow_stages(clock: Clock) -> None:
    reports = Reports()
    with watching(reports):
        elements(lambda: clock.work(Data.range(40), lambda i: 3_000_000 + i), False)
    by_type = {key.rpartition("/")[2]: m for key, m in reports.meters.items()}
    assert by_type["MapDataset"].totals().elapsed_ns == 40 * 3e6 + 780
    assert by_type["RangeDataset"].totals().elapsed_ns == 0
    assert not any(meter.asked_ns for meter in reports.meters.values())


def test_times_of_fast_stages_are_estimated(clock: Clock) -> None:
    took_ns = lambda i: 1_900 + i % 5 * 50  # noqa: E731
    totals = totals_of(lambda: clock.work(Data.range(6000), took_ns).batch(1000))
    mapped = totals["MapDataset"]
    assert mapped.is_estimated
    assert mapped.elapsed_ns == pytest.approx(6000 * 2000, rel=0.01)
    assert totals["BatchDatasetV2"].elapsed_ns == 6000 * 2000


@pytest.mark.parametrize(
    ("paused", "pause_ns", "is_timed"),
    [
        (20, 40_000_000, True),
        (40, 40_000_000, True),
        (500, 40_000_000, False),
        (870, 40_000_000, True),
        (870, 4_000_000, True),  # so short that calls without a timer follow soon
    ],
)
def test_a_pause_of_the_thread_counts_once_at_most(
    clock: Clock, paused: int, pause_ns: int, is_timed: bool
) -> None:
    """The calls that a timed one stands for did not take longer than they lasted."""
    took_ns = lambda i: 2_000 + pause_ns * (i == paused)  # noqa: E731
    totals = totals_of(lambda: clock.work(Data.range(2000), took_ns).batch(1000))
    mapped = totals["MapDataset"]
    assert mapped.is_estimated
    assert mapped.elapsed_ns == 2000 * 2000 + pause_ns * is_timed
    assert totals["BatchDatasetV2"].elapsed_ns == 2000 * 2000 + pause_ns


def test_a_pause_between_calls_for_rows_counts_once(clock: Clock) -> None:
    class Numbers(Rows):
        calls = 0

        def take(self, count: int) -> Any:
            clock.now_ns += 40_000 if self.calls == 9 else 1_000
            self.calls += 1
            return np.arange(count)

    meter = StageMeter()
    rows = measuring._MeasuredRows(Numbers(), meter)
    for _ in range(2 + 8 * 3):  # timed: 0, 1, 9, 17, 25
        rows.take(5)
    assert meter.totals().elapsed_ns == 40_000 + 25 * 1_000
    assert meter.totals().is_estimated
    assert meter.count == 26 * 5


def test_the_calls_of_a_parallel_map_are_timed_in_their_threads() -> None:
    def slow(i: Any) -> Any:
        time.sleep(0.003)
        return i

    reports = Reports()
    with watching(reports):
        elements(
            lambda: Data.range(40).map(
                lambda i: tf.numpy_function(slow, [i], tf.int64), num_parallel_calls=4
            ),
            False,
        )
    by_type = {key.rpartition("/")[2]: m for key, m in reports.meters.items()}
    assert by_type["ParallelMapDataset"].totals().calls_ns > 40 * 3e6
    assert by_type["ParallelMapDataset"].count == 40
    assert by_type["RangeDataset"].totals().calls_ns == 0


def test_buffers() -> None:
    reports = Reports()
    with tf.Graph().as_default(), tf.Session() as session, watching(reports):
        data = Data.range(100).map(lambda i: i + 1).shuffle(10).batch(2).prefetch(3)
        element = data.make_one_shot_iterator().get_next()
        session.run(element)
        by_type = {key.rpartition("/")[2]: m for key, m in reports.meters.items()}
        end_s = time.monotonic() + 60
        while by_type["PrefetchDataset"].buffered != (3, 3):
            assert time.monotonic() < end_s
            time.sleep(0.001)
        assert by_type["ShuffleDataset"].buffered == (9, 10)
        assert by_type["BatchDatasetV2"].buffered is None


def test_a_watch_ends_and_is_alone() -> None:
    reports = Reports()
    with watching(reports):
        assert pipeline_meters.watch() is reports
        with pytest.raises(RuntimeError, match="watched already"), watching(Reports()):
            pass
        assert pipeline_meters.watch() is reports
    assert pipeline_meters.watch() is None


def test_a_segment_that_ends_with_the_elements() -> None:
    # 32 timed elements precede those of which only some are timed.
    for count in [31, 32, 33, 64, *range(4030, 4036), 8100]:
        found = elements(lambda count=count: Data.range(count).batch(500), False)
        with watching(Reports()):
            assert (
                elements(lambda count=count: Data.range(count).batch(500), False)
                == found
            )


def test_counters() -> None:
    meter = StageMeter()
    first, second = meter.counter(), meter.counter()
    for _ in range(3):
        next(first)
    next(second)
    assert (counted(first), counted(second), meter.count) == (3, 1, 4)
    meter.release(first)
    meter.release(first)
    meter.add(5)
    assert meter.count == 9
