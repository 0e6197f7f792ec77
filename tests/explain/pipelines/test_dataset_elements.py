"""The elements of a dataset, stage by stage."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.pipelines import dataset_elements
from tfteach.explain.pipelines.dataset_elements import elements_of
from tfteach.explain.pipelines.stage_elements import StagedElements


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def texts(found: StagedElements) -> dict[str, list[str]]:
    return {stage.key: [str(e) for e in stage.elements] for stage in found.stages}


def test_what_each_stage_gives_and_of_which_elements() -> None:
    dataset = tf.data.Dataset.range(10).map(lambda x: x * x)
    dataset = dataset.filter(lambda x: tf.equal(x % 2, 0)).batch(2)
    found = elements_of(dataset, 2)
    assert texts(found) == {
        "RangeDataset": ["0: 0", "1: 1"],
        "MapDataset": ["0: 0  of 0", "1: 1  of 1"],
        "FilterDataset": ["0: 0  of 0", "1: 4  of 1 to 2"],
        "BatchDatasetV2": ["0: [0, 4]  of 0 to 1", "1: [16, 36]  of 2 to 3"],
    }
    numbers, mapped, _, batches = found.stages
    assert (numbers.total, numbers.outcome) == (7, "5 more were read")
    assert (batches.inputs, batches.total) == (("FilterDataset",), 2)
    assert mapped.source is not None
    assert mapped.source.text.startswith("dataset = tf.data.Dataset.range(10).map")
    assert "BatchDatasetV2 BatchDatasetV2  test_dataset_elements.py line " in str(found)


def test_the_end_of_a_dataset() -> None:
    found = elements_of(tf.data.Dataset.range(3).batch(2), 5)
    assert texts(found)["BatchDatasetV2"] == ["0: [0, 1]  of 0 to 1", "1: [2]  of 2"]
    assert [stage.outcome for stage in found.stages] == ["then it ends"] * 2


def test_a_stage_that_began_again_has_not_ended() -> None:
    found = elements_of(tf.data.Dataset.range(2).repeat(), 3)
    assert texts(found)["RangeDataset"] == ["0: 0", "1: 1", "2: 0"]
    assert [stage.has_ended for stage in found.stages] == [False, False]


def test_shuffle_gives_the_order_of_a_run() -> None:
    dataset = tf.data.Dataset.range(20).shuffle(5, seed=7).repeat()
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        ran = [sess.run(element) for _ in range(30)]
        found = elements_of(element, 30, sess)
    said = [e.values[0].array for e in found.stages[-1].elements]
    np.testing.assert_array_equal(said, ran)


def test_the_programs_iterator_stays_where_it_is() -> None:
    dataset = tf.data.Dataset.range(9).map(lambda x: x + 1)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as sess:
        # before it is initialized, the dataset of its initializer is meant
        assert texts(elements_of(iterator, 1, sess))["MapDataset"] == ["0: 1  of 0"]
        sess.run(iterator.initializer)
        assert sess.run(element) == 1
        assert texts(elements_of(element, 1, sess))["MapDataset"] == ["0: 1  of 0"]
        assert sess.run(element) == 2


def test_a_one_shot_iterator_has_the_programs_ops_and_lines() -> None:
    with tf.name_scope("input"):
        dataset = tf.data.Dataset.range(3).map(lambda x: -x)
    element = dataset.prefetch(1).make_one_shot_iterator().get_next()
    found = elements_of(element, 2)
    keys = ["input/RangeDataset", "input/MapDataset", "PrefetchDataset"]
    assert [stage.key for stage in found.stages] == keys
    source = found.stages[1].source
    assert source is not None
    assert source.text == "dataset = tf.data.Dataset.range(3).map(lambda x: -x)"


def test_datasets_that_a_function_returns() -> None:
    def rows(n: Any) -> Any:
        return tf.data.Dataset.range(n).map(lambda i: i * 10)

    found = elements_of(tf.data.Dataset.range(4).flat_map(rows), 3)
    assert texts(found) == {
        "RangeDataset": ["0: 0", "1: 1", "2: 2"],
        "FlatMapDataset/RangeDataset": ["0: 0", "1: 0", "2: 1"],
        "FlatMapDataset/MapDataset": ["0: 0  of 0", "1: 0  of 1", "2: 10  of 2"],
        # the first row is that of the second number: the first has none
        "FlatMapDataset": ["0: 0  of 0 to 1 and 0", "1: 0  of 2 and 1", "2: 10  of 2"],
    }
    inner = found.stages[2]
    assert inner.source is not None
    assert inner.source.text.startswith("return tf.data.Dataset.range(n)")


def test_datasets_without_an_op_are_part_of_their_reader() -> None:
    dataset = tf.data.Dataset.range(6).window(3).flat_map(lambda rows: rows.batch(2))
    dataset = dataset.apply(tf.data.experimental.map_and_batch(lambda x: -x, 2))
    found = elements_of(dataset, 1)
    assert [stage.key for stage in found.stages] == [
        "RangeDataset",
        "WindowDataset",
        "FlatMapDataset/BatchDatasetV2",
        "FlatMapDataset",
        "MapAndBatchDataset",
    ]
    assert str(found.stages[2].elements[0]) == "0: [0, 1]"


def test_parallel_stages_are_read_in_order_by_one_thread() -> None:
    callers = set()

    def late(x: Any) -> Any:
        callers.add(threading.get_ident())
        time.sleep(0.005)  # long enough for threads to be worth it
        return x

    dataset = tf.data.Dataset.range(20).map(
        lambda x: tf.py_func(late, [x], tf.int64), num_parallel_calls=2
    )
    dataset = dataset.interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2, num_parallel_calls=2
    )
    dataset = dataset.apply(tf.data.experimental.map_and_batch(lambda x: -x, 2))
    found = texts(elements_of(dataset, 2))
    assert callers == {threading.get_ident()}
    assert found["ParallelMapDataset"] == ["0: 0  of 0", "1: 1  of 1"]
    batches = ["0: [ 0, -1]  of 0 to 1", "1: [ 0, -1]  of 2 to 3"]
    assert found["MapAndBatchDataset"] == batches


def test_two_inputs_and_nested_structures() -> None:
    numbers = tf.data.Dataset.range(3)
    pairs = tf.data.Dataset.zip({"a": numbers, "b": numbers.map(lambda x: -x)})
    found = elements_of(pairs.map(lambda x: (x["a"], [x["b"]])), 1)
    assert texts(found)["MapDataset_1"] == ["0: 0, [0]  of 0"]


def test_large_small_and_textual_components() -> None:
    dataset = tf.data.Dataset.from_tensors((np.zeros([3, 8]), ["a", "b"], b"c"))
    (stage,) = elements_of(dataset, 1).stages
    assert str(stage.elements[0]) == (
        "0: float64 3x8 [0., 0., 0., ...] from 0 to 0, mean 0, 'a', 'b', 'c'"
    )


def test_an_error_stays_with_the_stage_where_it_arose() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: 6 // (1 - x)).batch(2)
    numbers, mapped, batches = elements_of(dataset, 2).stages
    assert (len(mapped.elements), mapped.total) == (1, 1)
    assert "then InvalidArgumentError: " in mapped.outcome
    assert numbers.error is batches.error is None
    assert batches.elements == ()
    assert numbers.total == 2


def test_a_filter_that_drops_all_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = tf.data.Dataset.range(3).repeat().filter(lambda x: x > 5)
    monkeypatch.setattr(dataset_elements, "MOST_DRAWN", 300)
    found = elements_of(dataset, 1)
    assert found.stages[-1].elements == ()
    assert found.stopped.startswith("Reading was ended after 300 elements")
    assert str(found).endswith(found.stopped)
    monkeypatch.setattr(dataset_elements, "MOST_S", -1.0)
    assert elements_of(dataset, 1).stopped.startswith("Reading was ended after 0 ")


def test_a_generator_is_read_anew_and_no_thread_remains() -> None:
    starts = []

    def numbers() -> Iterator[int]:
        starts.append(1)
        yield from range(5)

    dataset = tf.data.Dataset.from_generator(numbers, tf.int64).prefetch(2)
    before = threading.active_count()
    found = elements_of(dataset, 2)
    assert len(starts) == 1
    assert threading.active_count() == before
    # a prefetch reads nothing ahead here
    assert found.stages[-2].total == 2


def test_variables_and_feeds() -> None:
    w = tf.get_variable("w", [], tf.int64, tf.constant_initializer(5))
    limit = tf.placeholder(tf.int64, [])
    dataset = tf.data.Dataset.range(limit).map(lambda x: x + w)
    with tf.Session() as sess:
        sess.run(w.initializer)
        found = elements_of(dataset, 3, sess, {limit: 2})
    assert texts(found)["MapDataset"] == ["0: 5  of 0", "1: 6  of 1"]


def test_misuse() -> None:
    with pytest.raises(TypeError, match=r"Expected a tf\.data\.Dataset, an iterator"):
        elements_of([1, 2])
    with pytest.raises(TypeError, match="Const:0 is no dataset"):
        elements_of(tf.constant(1.0))
    with pytest.raises(ValueError, match="at least 1, got 0"):
        elements_of(tf.data.Dataset.range(3), 0)
    types = (tf.int64, tf.TensorShape([]))
    iterator = tf.data.Iterator.from_structure(*types)
    with pytest.raises(ValueError, match="has no dataset yet: run the initializer"):
        elements_of(iterator)
