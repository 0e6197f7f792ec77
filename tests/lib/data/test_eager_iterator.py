"""Datasets in eager programs; the numbers and messages are TensorFlow 1.15's."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly  # noqa: F401

Dataset = tf.data.Dataset
pytestmark = pytest.mark.usefixtures("eagerly")


def values(dataset: Any) -> list[Any]:
    return [x.numpy().tolist() for x in dataset]


def test_a_dataset_is_iterated_from_its_first_element_each_time() -> None:
    dataset = Dataset.range(3)
    assert values(dataset) == values(dataset) == [0, 1, 2]


@pytest.mark.parametrize(
    "make",
    [iter, Dataset.make_one_shot_iterator, tf.contrib.eager.Iterator,
     tf.compat.v1.data.make_one_shot_iterator],
    ids=["iter", "one_shot", "tfe", "function"],
)  # fmt: skip
def test_the_end_of_each_kind(make: Callable[[Any], Any]) -> None:
    iterator = make(Dataset.range(2))
    assert type(iterator).__name__ == "IteratorV2"
    assert iter(iterator) is iterator
    assert (next(iterator).numpy(), iterator.next().numpy()) == (0, 1)
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(StopIteration):
        iterator.next()
    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        iterator.get_next()
    assert caught.value.message == "End of sequence [Op:IteratorGetNextSync]"


def test_the_structure_of_an_iterator() -> None:
    iterator = iter(Dataset.from_tensor_slices({"a": [1.0], "b": (["x"],)}))
    assert iterator.output_types == {"a": tf.float32, "b": (tf.string,)}
    assert iterator.output_shapes == {
        "a": tf.TensorShape([]),
        "b": (tf.TensorShape([]),),
    }
    assert tf.compat.v1.data.get_output_classes(iterator)["a"] is tf.Tensor
    element = next(iterator)
    assert element["a"].numpy() == 1
    assert element["b"][0].numpy() == b"x"


def test_initializable_iterators_are_refused() -> None:
    words = (
        "^dataset.make_initializable_iterator is not supported when eager execution "
        "is enabled.$"
    )
    with pytest.raises(RuntimeError, match=words):
        Dataset.range(3).make_initializable_iterator()
    with pytest.raises(RuntimeError, match=words):
        tf.compat.v1.data.make_initializable_iterator(Dataset.range(3))


def test_a_graph_in_an_eager_program_cannot_iterate() -> None:
    with tf.Graph().as_default():
        dataset = Dataset.range(3)
        with pytest.raises(RuntimeError, match=r"only supported inside of tf.function"):
            iter(dataset)
        with pytest.raises(NotImplementedError, match="make_one_shot_iterator"):
            tf.contrib.eager.Iterator(dataset)
        element = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert session.run(element) == 0


def test_optionals() -> None:
    iterator = iter(Dataset.range(1))
    found = tf.data.experimental.get_next_as_optional(iterator)
    missing = tf.data.experimental.get_next_as_optional(iterator)
    assert found.has_value().numpy()
    assert found.get_value().numpy() == 0
    assert not missing.has_value().numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        missing.get_value()


def test_functions_capture_tensors_and_read_variables() -> None:
    three = tf.constant(3, tf.int64)
    variable = tf.Variable(10, dtype=tf.int64)
    dataset = Dataset.range(3).map(lambda x: x * three + variable)
    assert values(dataset) == [10, 13, 16]
    variable.assign(20)
    assert values(dataset) == [20, 23, 26]


def test_python_functions_and_generators() -> None:
    def pairs() -> Iterator[Any]:
        for i in range(3):
            yield i, [1.0] * i

    dataset = Dataset.from_generator(pairs, (tf.int32, tf.float32), ((), [None]))
    assert [(a.numpy(), len(b.numpy())) for a, b in dataset] == [(0, 0), (1, 1), (2, 2)]
    doubled = Dataset.range(3).map(lambda x: tf.py_func(lambda a: a * 2, [x], tf.int64))
    assert values(doubled) == [0, 2, 4]


def test_sparse_elements() -> None:
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])
    first, second = Dataset.from_tensor_slices(sparse)
    assert isinstance(first, tf.SparseTensor)
    assert first.indices.numpy().tolist() == [[0]]
    assert second.indices.numpy().tolist() == [[1]]
    (batch,) = Dataset.from_tensors(sparse).batch(1)
    assert batch.indices.numpy().tolist() == [[0, 0, 0], [0, 1, 1]]


def test_datasets_in_datasets() -> None:
    assert [values(part) for part in Dataset.range(5).window(2)] == [
        [0, 1],
        [2, 3],
        [4],
    ]
    flat = Dataset.range(3).flat_map(Dataset.range)
    assert values(flat) == [0, 0, 1]


def test_random_orders_are_those_of_tensorflow() -> None:
    tf.set_random_seed(7)
    dataset = Dataset.range(10).shuffle(10)
    order = [8, 9, 2, 3, 1, 5, 4, 6, 7, 0]
    assert values(dataset) == values(dataset) == order
    tf.set_random_seed(7)
    first, second = [3, 7, 4, 6, 2, 8, 5, 1, 0, 9], [1, 3, 6, 8, 7, 2, 4, 9, 5, 0]
    assert values(Dataset.range(10).shuffle(10, seed=5).repeat(2)) == first + second
    fixed = Dataset.range(10).shuffle(10, seed=5, reshuffle_each_iteration=False)
    assert values(fixed.repeat(2)) == first + first


def test_random_numbers_start_again_with_each_iterator() -> None:
    tf.set_random_seed(7)
    dataset = Dataset.range(3).map(lambda x: tf.random_uniform([], seed=3))
    expected = [0.40108788, 0.7061949, 0.34264028]
    np.testing.assert_allclose(values(dataset), expected, rtol=1e-6)
    np.testing.assert_allclose(values(dataset), expected, rtol=1e-6)


def test_a_function_draws_from_an_iterator_that_it_receives() -> None:
    @tf.function
    def draw(iterator: Any) -> Any:
        return iterator.get_next() * 10

    iterator = iter(Dataset.range(1, 4))
    assert [draw(iterator).numpy(), next(iterator).numpy()] == [10, 2]
    assert draw(iterator).numpy() == 30
    with pytest.raises(tf.errors.OutOfRangeError):
        draw(iterator)


def test_a_function_reduces_datasets_and_iterates() -> None:
    @tf.function
    def total(dataset: Any) -> Any:
        return dataset.reduce(np.int64(0), lambda a, b: a + b)

    assert total(Dataset.range(4)).numpy() == 6
    assert total(Dataset.range(5)).numpy() == 10

    @tf.function(autograph=False)
    def first(dataset: Any) -> Any:
        return next(iter(dataset))

    assert first(Dataset.range(4, 9)).numpy() == 4
    assert first(Dataset.range(7, 9)).numpy() == 7


def test_errors_of_elements_leave_the_iterator_usable() -> None:
    dataset = Dataset.from_tensor_slices([0.0, 1.0, 2.0])
    dataset = dataset.map(lambda x: tf.check_numerics(x / x, "bad"))
    iterator = iter(dataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad : Tensor had NaN"):
        next(iterator)
    assert next(iterator).numpy() == 1


def test_records_of_fixed_length(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(b"abcdef")
    dataset = tf.data.FixedLengthRecordDataset(str(path), 3)
    assert [x.numpy() for x in dataset] == [b"abc", b"def"]
    broken = tf.data.FixedLengthRecordDataset(str(path), 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an exact multiple"):
        next(iter(broken))


def test_threads_and_generators_end_with_the_python_object() -> None:
    closed = threading.Event()

    def numbers() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    before = set(threading.enumerate())
    iterator = iter(Dataset.from_generator(numbers, tf.int32, ()).prefetch(2))
    assert next(iterator).numpy() == 1
    threads = set(threading.enumerate()) - before
    assert threads
    resource = weakref.ref(iterator._iterator_resource.value)
    del iterator
    gc.collect()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    gc.collect()
    assert closed.wait(60)
    assert resource() is None


def test_a_break_out_of_a_loop_releases_the_iterator() -> None:
    closed = threading.Event()

    def numbers() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    for _ in Dataset.from_generator(numbers, tf.int32, ()):
        assert not closed.is_set()
        break
    gc.collect()
    assert closed.wait(60)
