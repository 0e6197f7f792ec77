"""The stages of pipelines, read from graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.pipelines.pipeline_stages import Pipeline, Stage
from tfteach.explain.pipelines.pipelines import explain_pipelines

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def parse(x: Any) -> Any:
    return x * 2


def lines_of(pipeline: Pipeline) -> list[str]:
    return [line.partition("  [")[0] for line in str(pipeline).splitlines()]


def only() -> Pipeline:
    (found,) = explain_pipelines()
    return found


def test_a_chain_of_stages() -> None:
    data = Data.from_tensor_slices(np.arange(60)).map(parse, num_parallel_calls=4)
    data = data.shuffle(100).repeat().batch(8).prefetch(2)
    data.make_one_shot_iterator().get_next()
    pipeline = only()
    assert lines_of(pipeline) == [
        "OneShotIterator (dataset)",
        "  from_tensor_slices: 60 rows",
        "  map(parse): 4 calls at a time",
        "  shuffle: buffer of 100",
        "  repeat: without end",
        "  batch: 8 at a time",
        "  prefetch: buffer of 2",
        "  step: draws IteratorGetNext",
    ]
    assert repr(pipeline) == (
        "Pipeline(OneShotIterator: source -> map -> shuffle -> repeat -> batch -> "
        "prefetch -> step)"
    )
    stages = {stage.kind: stage for stage in pipeline.stages}
    assert stages["map"].threads == 4
    assert stages["shuffle"].capacity == 100
    assert stages["batch"].size == 8
    assert stages["source"].rows == 60
    # In a one-shot iterator each op is a copy, which knows the user's line.
    assert stages["map"].source is not None
    assert "num_parallel_calls=4" in stages["map"].source.text
    assert stages["shuffle"].source is not None
    assert "shuffle(100)" in stages["shuffle"].source.text


def test_stages_that_a_run_determines() -> None:
    size = tf.placeholder(tf.int64, [])
    data = Data.range(10).shuffle(size).batch(size).take(size).prefetch(-1)
    data.make_initializable_iterator().get_next()
    assert lines_of(only())[1:] == [
        "  range",
        "  shuffle",
        "  batch",
        "  take",
        "  prefetch: buffer tuned",
        "  step: draws IteratorGetNext",
    ]


def test_branches_have_columns() -> None:
    numbers = Data.range(5).map(parse)
    words = Data.from_tensors(["a"]).repeat(5)
    Data.zip((numbers, words)).concatenate(
        Data.zip((numbers, words)).skip(2)
    ).make_initializable_iterator().get_next()
    assert lines_of(only())[1:] == [
        "  | range",
        "  | map(parse)",
        "  | | from_tensors",
        "  | | repeat: 5 times",
        "  zip",
        "  | zip",
        "  | skip",
        "  concatenate",
        "  step: draws IteratorGetNext",
    ]


def test_the_stages_of_functions_join_the_op_that_calls_it() -> None:
    files = Data.list_files("*.none", shuffle=False)
    files.interleave(
        lambda name: tf.data.TextLineDataset(name).skip(1), 2, num_parallel_calls=2
    ).make_initializable_iterator().get_next()
    pipeline = only()
    assert lines_of(pipeline)[1:] == [
        "  list_files",
        "  | TextLineDataset",
        "  | skip",
        "  interleave(lambda): 2 in turns, 2 calls at a time",
        "  step: draws IteratorGetNext",
    ]
    (stage,) = [s for s in pipeline.stages if s.kind == "interleave"]
    assert stage.inner == (f"{stage.key}/SkipDataset",)
    assert pipeline.stage(stage.inner[0]).op == "SkipDataset"
    with pytest.raises(KeyError):
        pipeline.stage("SkipDataset")


def test_sources_that_tf_data_writes_as_flat_map() -> None:
    def rows() -> Iterator[int]:
        yield 1

    made = Data.from_generator(rows, tf.int32)
    files = tf.data.TFRecordDataset(["a", "b"])
    Data.zip((made, files)).make_initializable_iterator().get_next()
    assert lines_of(only())[1:3] == [
        "  from_generator",
        "  | TFRecordDataset: 2 files",
    ]
    # One that a program writes remains visible.
    names = Data.from_tensor_slices(["a", "b"])
    names.flat_map(tf.data.TextLineDataset).make_initializable_iterator()
    assert lines_of(explain_pipelines()[1])[1:4] == [
        "  from_tensor_slices: 2 rows",
        "  | TextLineDataset",
        "  flat_map(TextLineDataset)",
    ]


def test_an_iterator_of_several_datasets() -> None:
    train, test = Data.range(10).shuffle(5), Data.range(3)
    iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
    iterator.make_initializer(train)
    iterator.make_initializer(test)
    iterator.get_next()
    kinds = [[s.kind for s in p.stages] for p in explain_pipelines()]
    assert kinds == [["source", "shuffle", "step"], ["source", "step"]]
    assert {p.name for p in explain_pipelines()} == {"IteratorV2"}


def csv_batches(threads: int = 3) -> Any:
    names = tf.train.string_input_producer(["a.csv", "b.csv"])
    _, line = tf.TextLineReader().read(names)
    columns = tf.decode_csv(line, [[0.0], [0.0]])
    return tf.train.shuffle_batch(columns, 16, 200, 50, num_threads=threads)


def test_queues_and_their_threads(graph: tf.Graph) -> None:
    csv_batches()
    for given in (None, graph, tf.Session(graph=graph)):
        (pipeline,) = explain_pipelines(given)
        assert lines_of(pipeline) == [
            "shuffle_batch/random_shuffle_queue (queues)",
            "  1 thread: input_producer_EnqueueMany",
            "  queue input_producer: 32 elements at most",
            "  3 threads: TextLineReader, DecodeCSV",
            "  queue shuffle_batch/random_shuffle_queue: 200 elements at most, 50 stay "
            "for shuffling",
            "  step: takes 16 at a time",
        ]
    fill = pipeline.stages[2]
    assert fill.takes == ("ReaderReadV2",)
    assert pipeline.stages[-1].takes == ("shuffle_batch",)


def test_queues_that_a_program_fills_itself() -> None:
    first = tf.FIFOQueue(3, tf.float32, [[]])
    second = tf.FIFOQueue(-1, tf.float32, [[]])
    first.enqueue(1.0)
    first.enqueue_many([[1.0, 2.0]])
    second.enqueue(tf.square(first.dequeue()))
    second.dequeue()
    second.size()
    second.close()
    alone = tf.FIFOQueue(5, tf.int32)
    pair, other = explain_pipelines()
    assert lines_of(pair)[1:] == [
        "  your program: fifo_queue_enqueue",
        "  | your program: fifo_queue_EnqueueMany",
        "  queue fifo_queue: 3 elements at most",
        "  your program: fifo_queue_1_enqueue",
        "  queue fifo_queue_1: without limit",
        "  step",
    ]
    assert [s.key for s in other.stages] == [alone.name, "step"]
    assert other.stages[-1].detail == "no op dequeues"


def test_a_queue_in_a_condition() -> None:
    queue_input = tf.random_uniform([])
    tf.train.maybe_batch([queue_input], queue_input > 0.5, 4, num_threads=2)
    (pipeline,) = explain_pipelines()
    assert [s.kind for s in pipeline.stages] == ["threads", "queue", "step"]
    assert pipeline.stages[0].threads == 2


def test_stages_without_a_line() -> None:
    assert str(Stage("a", "map", "map(f)", "2 calls at a time")) == (
        "map(f): 2 calls at a time"
    )
    assert explain_pipelines(tf.Graph()) == []
