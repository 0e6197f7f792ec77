"""Steps into functions that kernels call, such as those of datasets."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.session import function_programs
from tfteach.explain.steps.recording import LoopRun, Recording
from tfteach.explain.steps.stepping import record
from tfteach.jupyter.widgets.step import StepView


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def initialized(dataset: Any) -> tuple[tf.Session, Any]:
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    session = tf.Session()
    session.run([iterator.initializer])
    return session, element


def steps(run: Recording) -> list[tuple[str, int, str]]:
    return [(s.op, s.iteration, s.outputs[0].text) for s in run if s.outputs]


def test_a_step_for_each_op_of_each_elements_call() -> None:
    dataset = tf.data.Dataset.range(9).map(lambda x: x * x + 1).batch(2)
    session, element = initialized(dataset)
    run = record(session, tf.reduce_sum(element, name="sum"))
    assert steps(run) == [
        ("IteratorV2", 0, "DatasetIterator"),
        ("MapDataset/mul", 0, "0"),
        ("MapDataset/add", 0, "1"),
        ("MapDataset/mul", 1, "1"),
        ("MapDataset/add", 1, "2"),
        ("IteratorGetNext", 0, "[1, 2]"),
        ("sum", 0, "3"),
    ]
    taken = run[1].inputs[0]
    assert (taken.name, taken.text) == ("MapDataset/args_0:0", "0")
    assert run[2].inputs[0].name == "MapDataset/mul:0"
    assert run.loops() == [LoopRun("MapDataset", (), (1, 3), 4, 2, True)]
    # the program goes on with the next elements
    np.testing.assert_array_equal(session.run(element), [5, 10])


def test_every_kind_of_function() -> None:
    def inner(x: Any) -> Any:
        return tf.data.Dataset.range(x).map(lambda y: y * 10)

    dataset = tf.data.Dataset.range(1, 9)
    dataset = dataset.filter(lambda x: tf.equal(x % 2, 0))
    dataset = dataset.interleave(inner, 2).flat_map(inner)
    session, element = initialized(dataset)
    run = record(session, element)
    found = {step.op for step in run}
    assert {
        "FilterDataset/mod",
        "FilterDataset/Equal",
        "InterleaveDataset/RangeDataset",
        "InterleaveDataset/MapDataset/mul",
        "FlatMapDataset/MapDataset/mul",
    } <= found
    drawn = {row.name for row in StepView(run)._rows}
    assert found <= drawn


def test_calls_of_functions_that_threads_make_have_no_steps() -> None:
    dataset = tf.data.Dataset.range(5).map(lambda x: x + 1).prefetch(1)
    session, element = initialized(dataset)
    run = record(session, element)
    assert [step.op for step in run] == ["IteratorV2", "IteratorGetNext"]
    assert run.functions == frozenset()


def test_only_the_recorded_threads_calls_are_followed() -> None:
    dataset = tf.data.Dataset.range(100).map(lambda x: x + 1)
    session, element = initialized(dataset)
    other, same = initialized(tf.data.Dataset.range(100).map(lambda x: x + 2))
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set():
            other.run(same)

    x = tf.placeholder(tf.int64, [])
    thread = threading.Thread(target=lambda: _until_end(draw))
    thread.start()
    try:
        run = record(session, element + x, {x: 1})
    finally:
        stop.set()
        thread.join()
    assert [s.op for s in run if "/" in s.op] == ["MapDataset/add"]


def _until_end(draw: Any) -> None:
    with contextlib.suppress(tf.errors.OutOfRangeError):
        draw()


def test_an_op_of_a_function_that_fails() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: 6 // x)
    session, element = initialized(dataset)
    run = record(session, element)
    assert isinstance(run.error, tf.errors.InvalidArgumentError)
    assert run.failed is not None
    assert run.failed.op == "MapDataset/floordiv"
    assert [seen.text for seen in run.failed.inputs][-1] == "0"
    assert "ended by InvalidArgumentError at MapDataset/floordiv" in str(run)
    # the recording is over: nothing follows the next run
    assert function_programs._followed == {}
    assert session.run(element) == 6


def test_breakpoints_and_spoilers_inside() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.log(tf.cast(x, tf.float32)))
    session, element = initialized(dataset.batch(3))
    run = record(session, element, when=lambda step, *_: step.op_type == "Log")
    assert run[run.spoilers()[0]].op == "MapDataset/Log"
    assert [run[number].iteration for number in run.stops] == [0, 1, 2]
    assert run.breakpoints("MapDataset/*")


def test_a_loop_inside_a_function() -> None:
    def halved(x: Any) -> Any:
        return tf.while_loop(lambda y: y > 1, lambda y: y // 2, [x])

    session, element = initialized(tf.data.Dataset.range(4, 6).map(halved))
    run = record(session, element)
    divided = [s for s in run if s.op_type == "FloorDiv"]
    assert [s.op for s in divided] == ["MapDataset/while/body/floordiv"] * 2
    outer, loop = run.loops()
    assert divided[1].iterations == (("MapDataset", 0), (loop.name, 1))
    assert (outer.is_function, loop.is_function) == (True, False)
    assert (loop.outer, loop.times) == ((("MapDataset", 0),), 2)


def test_a_one_shot_iterator_builds_its_dataset_in_the_first_run() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: x + 1)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        first = record(session, element)
        second = record(session, element)
    made = {s.op for s in first if s.op.startswith("OneShotIterator/")}
    assert "OneShotIterator/OptimizeDataset/MapDataset" in made
    names = ["OneShotIterator", "MapDataset/add", "IteratorGetNext"]
    assert [s.op for s in second] == names


def test_the_view_says_calls() -> None:
    session, element = initialized(tf.data.Dataset.range(9).map(tf.square).batch(3))
    view = StepView(record(session, element))
    assert view._loops == [["MapDataset", [1, 2, 3], 3, 3, True]]
