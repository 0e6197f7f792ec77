"""The view of pipelines, its picture, its text and its magics."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from IPython.core.error import UsageError

import tfteach as tf
import tfteach.jupyter as tfj
from tests.jupyter.test_magics import kinds, run, shell  # noqa: F401
from tests.pipeline_clock import PipelineClock
from tfteach.explain.pipelines.pipeline_rates import PipelineRun, watch_pipelines
from tfteach.explain.pipelines.pipeline_stages import Pipeline, Stage
from tfteach.explain.pipelines.rivers import River, StageRate, StepRate
from tfteach.jupyter.magics import pipeline as magic
from tfteach.jupyter.pipeline_rows import figures_of
from tfteach.jupyter.widgets import pipeline as widget

Data = tf.data.Dataset

BUILD = """
slow = clock.takes(0.003)
def train(rows, steps=12):
    element = rows.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        for _ in range(steps):
            sess.run(element)
            clock.work(0.001)
rows = tf.data.Dataset.range(500)
"""
SLOW = """%%pipeline {}
train(rows.map(lambda i: tf.numpy_function(slow, [i], tf.int64)).batch(4))"""
FAST = "%%pipeline {}\ntrain(rows.batch(4))"
HANG = """%%pipeline --timeout 0.2 {}
with tf.Graph().as_default(), tf.Session() as sess:
    batch = tf.train.batch([tf.constant(1.0)], 4)
    sess.run(batch)
"""


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> PipelineClock:
    return PipelineClock(monkeypatch)


def watched(clock: PipelineClock) -> PipelineRun:
    slow = clock.takes(0.002)
    left = Data.range(400).map(lambda i: tf.numpy_function(slow, [i], tf.int64))
    rows = Data.zip((left, Data.range(400))).shuffle(80).batch(4)
    element = rows.make_one_shot_iterator().get_next()
    with tf.Session() as session, watch_pipelines() as found:
        for _ in range(20):
            session.run(element)
            found.sample()
    return found


def test_the_page_has_a_row_for_each_stage(clock: PipelineClock) -> None:
    view = tfj.PipelineView(watched(clock))
    (river,) = view._rivers
    titles = [stage["title"] for stage in river["stages"]]
    assert titles == [
        "range",
        "map(lambda)",
        "range",
        "zip",
        "shuffle",
        "batch",
        "step",
    ]
    assert [stage["lane"] for stage in river["stages"]] == [0, 0, 1, 0, 0, 0, 0]
    assert [stage["inputs"] for stage in river["stages"]] == [
        [], [0], [], [1, 2], [3], [4], [5],
    ]  # fmt: skip
    assert river["runs"][1] == "session.run(element)"
    (figures,) = view._figures
    assert figures["kind"] == "data"
    assert figures["narrowest"] == 1
    widths = [row[3] for row in figures["rows"]]
    assert min(widths) == widths[1] == 0.2
    assert max(widths) <= 1
    assert figures["flow"] == pytest.approx(0.2)
    shuffle = figures["rows"][4]
    assert shuffle[4] == 0.988
    assert shuffle[5] == "79 of 80"
    assert all(0 <= level <= 100 for level in shuffle[7])
    assert figures["rows"][5][4] == -1
    assert figures["head"] == "19 steps, 125 steps/s"
    assert repr(view) == "PipelineView(OneShotIterator: 19 steps)"


def test_the_water_is_narrower_than_the_narrowest_bed() -> None:
    """A step that takes turns with its data uses neither of them fully."""
    pipeline = Pipeline(
        "dataset",
        "it",
        [Stage("a", "source", "a"), Stage("step", "step", "step", inputs=("a",))],
        tf.get_default_graph(),
    )
    rates = {"a": StageRate(could_per_s=20.0), "step": StageRate(could_per_s=2000.0)}
    river = River(pipeline, StepRate(10, 1.0, 0.5), rates, {})
    figures = figures_of(river, None)
    assert figures.flow == pytest.approx(0.1)  # 10 of 20 steps/s
    assert [row.width for row in figures.rows] == [0.2, 1.0]
    assert figures.head == "10 steps, 10.0 steps/s"


def test_the_picture_and_the_text(clock: PipelineClock) -> None:
    view = tfj.PipelineView(watched(clock))
    svg = ElementTree.fromstring(view.to_svg())
    words = "".join(svg.itertext())
    for text in ("map(lambda)", "79 of 80", "busy", "num_parallel_calls=4"):
        assert text in words
    assert "`" not in words
    assert len(svg.findall(".//{*}polyline")) == 1
    assert "The step waits for data" in str(view)
    bundle = view.static_bundle()
    assert "shuffle" in bundle["text/plain"]


def test_a_pipeline_that_has_not_run() -> None:
    queue = tf.FIFOQueue(10, tf.float32, [[]])
    add, _ = queue.enqueue(1.0), queue.dequeue()
    Data.range(3).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(add)
        view = tfj.PipelineView(session)
        dataset, queues = view._figures
        assert dataset["head"] == "not run yet"
        assert queues["rows"][1][4:6] == [0.1, "1 of 10"]
        session.run(add)
        view.refresh()
        assert view._figures[1]["rows"][1][5] == "2 of 10"
    assert len(tfj.PipelineView()._rivers) == 2
    assert tfj.PipelineView(tf.Graph())._rivers == []
    assert "No pipeline moved" in tfj.PipelineView(tf.Graph()).to_svg()
    with pytest.raises(TypeError, match="watch_pipelines"):
        tfj.PipelineView(3)


def test_the_view_follows_a_run_at_a_limited_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    views: list[Any] = []
    sent: list[float] = []
    look = widget.PipelineView._look

    def noted(view: Any) -> None:
        sent.append(time.monotonic())
        look(view)

    monkeypatch.setattr(widget.PipelineView, "_look", noted)
    element = (
        Data.range(99)
        .map(lambda i: tf.numpy_function(int, [i], tf.int64))
        .make_one_shot_iterator()
        .get_next()
    )
    followed = threading.Event()

    def sampled() -> None:
        for view in views:
            view.follow()
            if view._figures and view._figures[0]["rows"][1][1]:
                followed.set()

    with tf.Session() as session, watch_pipelines(sampled=sampled) as found:
        views.append(tfj.PipelineView(found))
        assert views[0]._rivers == []
        for _ in range(60):
            session.run(element)
        assert followed.wait(60)
    gaps = [b - a for a, b in itertools.pairwise(sent[1:])]
    assert not gaps or min(gaps) >= widget.LIVE_S * 0.9


def test_the_magic_compares_with_the_cell_before(
    shell: Any,  # noqa: F811
    capsys: Any,
    clock: PipelineClock,
) -> None:
    shell.user_ns["clock"] = clock
    assert run(shell, BUILD).success
    assert run(shell, SLOW.format("")).success
    assert kinds(shell) == ["live", "still"]
    assert "The step waits for data" in shell.shown[1]["text/plain"]
    assert "the run before" not in shell.shown[1]["text/plain"]
    assert run(shell, FAST.format("--text")).success
    gain = "13 times as fast as the run before (from 76.9 to 1,000 steps/s)."
    assert gain in capsys.readouterr().out
    assert run(shell, SLOW.format("--text")).success
    loss = "13 times slower than the run before (from 1,000 to 76.9 steps/s)."
    assert loss in capsys.readouterr().out
    assert run(shell, FAST.format("--text --alone")).success
    assert "the run before" not in capsys.readouterr().out


@pytest.mark.usefixtures("interruptible")
def test_a_cell_that_hangs_is_ended(shell: Any, capsys: Any) -> None:  # noqa: F811
    result = run(shell, HANG.format("--text"))
    assert isinstance(result.error_in_exec, tf.errors.DeadlineExceededError)
    out = capsys.readouterr().out
    assert "start_queue_runners was never called" in out
    said = result.error_in_exec._render_traceback_()
    assert said[0].startswith(
        "DeadlineExceededError: Nothing moved for 0.2 s, so the cell ended. "
    )
    assert "Traceback" not in out
    # An error of the cell itself stays the user's.
    result = run(shell, "%%pipeline --text\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "No pipeline moved" in capsys.readouterr().out


def test_threads_that_wait_for_room_do_not_hang(
    shell: Any,  # noqa: F811
    capsys: Any,
    clock: PipelineClock,
) -> None:
    shell.user_ns["clock"] = clock
    cell = """%%pipeline --timeout 0.2 --text
with tf.Graph().as_default(), tf.Session() as sess:
    batch = tf.train.batch([tf.constant(1.0)], 4, capacity=4)
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    sess.run(batch)
    clock.work(10.0)
    import time; time.sleep(0.3)  # while somebody watches
    sess.run(batch)
    coord.request_stop()
    coord.join(threads)
"""
    assert run(shell, cell).success
    assert "batch/fifo_queue: 2 steps" in capsys.readouterr().out


def test_the_pipelines_as_they_are_now(shell: Any, capsys: Any) -> None:  # noqa: F811
    assert run(shell, "%pipeline --text").success
    assert "No pipeline moved" in capsys.readouterr().out
    cell = "batch = tf.train.batch([tf.constant(1.0)], 4)\nsess = tf.Session()"
    assert run(shell, cell).success
    assert run(shell, "%pipeline --session sess --text").success
    out = capsys.readouterr().out
    assert "1 thread, never started" in out
    assert "tf.train.start_queue_runners does that" in out
    shell.user_ns["sess"].close()
    for line in ("%pipeline --timeout 3", "%%pipeline --timeout 0\npass"):
        result = run(shell, line)
        assert isinstance(result.error_in_exec, UsageError)
        assert "--timeout counts seconds" in capsys.readouterr().err
    assert isinstance(run(shell, "%pipeline --session no").error_in_exec, UsageError)


@pytest.mark.usefixtures("interruptible")
def test_the_main_thread_is_interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  # the loop is what ends
        magic.interrupt()
        while True:
            time.sleep(0.01)
