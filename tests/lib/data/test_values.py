"""Optionals, numbers of elements, and files that datasets write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import dataset_cardinality

Dataset = tf.data.Dataset
X = tf.data.experimental
CARDINALITIES: dict[str, int] = json.loads(
    (Path(dataset_cardinality.__file__).with_suffix(".json")).read_text()
)


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_the_number_of_elements_is_tensorflows() -> None:
    datasets = dataset_cardinality.datasets(tf)
    numbers = {name: X.cardinality(dataset) for name, dataset in datasets.items()}
    with tf.Session() as session:
        assert session.run(numbers) == CARDINALITIES
    assert (X.AUTOTUNE, X.INFINITE_CARDINALITY, X.UNKNOWN_CARDINALITY) == (-1, -1, -2)


def test_the_next_element_as_an_optional(graph: tf.Graph) -> None:
    dataset = Dataset.range(2).map(lambda i: {"a": [i, i], "b": tf.to_float(i)})
    iterator = dataset.make_initializable_iterator()
    optional = X.get_next_as_optional(iterator)
    assert optional.value_structure == iterator.element_spec
    has_value = optional.has_value("has")
    value = optional.get_value("get")
    assert [value["a"].name, value["b"].name, has_value.name] == [
        "get:0",
        "get:1",
        "has:0",
    ]
    assert graph.get_operation_by_name("IteratorGetNextAsOptional")
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been init"):
            session.run(has_value)
        session.run(iterator.initializer)
        for i in range(2):
            found, element = session.run([has_value, value])
            assert found
            assert element["a"].tolist() == [i, i]
        assert not session.run(has_value)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not have a value"):
            session.run(value)


def test_an_error_of_an_element_is_no_end() -> None:
    dataset = Dataset.range(2).map(lambda i: 1 // i)
    optional = X.get_next_as_optional(dataset.make_one_shot_iterator())
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(optional.has_value())
        assert session.run(optional.has_value())


def test_optionals_of_values_and_in_datasets() -> None:
    some = X.Optional.from_value((1, {"b": [2.0]}))
    none = X.Optional.none_from_structure(tf.TensorSpec([2], tf.int32))
    dataset = Dataset.from_tensors(X.Optional.from_value(3))
    assert dataset.element_spec == X.OptionalStructure(tf.TensorSpec([], tf.int32))
    assert repr(dataset.element_spec) == (
        "OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)"
    )
    assert dataset.element_spec.is_compatible_with(
        X.OptionalStructure(tf.TensorSpec(None, tf.int32))
    )
    assert not dataset.element_spec.is_compatible_with(none._type_spec)
    element = dataset.map(lambda o: o.get_value()).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run([some.has_value(), none.has_value()]) == [True, False]
        number, rest = session.run(some.get_value())
        assert number == 1
        assert rest["b"].tolist() == [2.0]
        assert session.run(element) == 3
    with pytest.raises(TypeError, match="Can't instantiate abstract class Optional"):
        X.Optional()
    with pytest.raises(TypeError, match="Could not build a TypeSpec for"):
        X.Optional.from_value(object())


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_datasets_are_written_as_records(tmp_path: Path, compression: Any) -> None:
    path = str(tmp_path / "records")
    strings = Dataset.range(4).map(tf.as_string)
    write = X.TFRecordWriter(path, compression).write(strings)
    assert write.type == "DatasetToTFRecord"
    element = tf.data.TFRecordDataset(path, compression).batch(9)
    batch = element.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(write)
        assert session.run(batch).tolist() == [b"0", b"1", b"2", b"3"]
        with pytest.raises(tf.errors.NotFoundError):
            session.run(X.TFRecordWriter(str(tmp_path / "no" / "x")).write(strings))
    for dataset, message in [
        (Dataset.range(3), r"shape \(\) and types <dtype: 'int64'>"),
        (Dataset.from_tensors(["a"]), r"shape \(1,\) and types"),
        (3, "must be a `tf.data.Dataset` object"),
    ]:
        with pytest.raises(TypeError, match=message):
            X.TFRecordWriter(path).write(dataset)  # type: ignore[arg-type]


def test_reduce_dataset() -> None:
    reducer = X.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s * 10)
    total = tf.contrib.data.reduce_dataset(Dataset.range(5), reducer)
    with tf.Session() as session:
        assert session.run(total) == 100
    with pytest.raises(TypeError, match=r"must be a `tf\.data\.experimental\.Reducer`"):
        tf.contrib.data.reduce_dataset(Dataset.range(5), 3)  # type: ignore[arg-type]


def test_structures_by_their_older_names() -> None:
    assert X.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
    sparse = X.SparseTensorStructure(tf.int32, [2, 3])
    assert sparse == tf.SparseTensorSpec([2, 3], tf.int32)


def test_legacy_functions() -> None:
    dataset = Dataset.range(5).filter_with_legacy_function(lambda i: i > 2)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(2)] == [3, 4]


@pytest.mark.parametrize("transform", [X.prefetch_to_device, X.copy_to_device])
def test_devices_are_named(transform: Any) -> None:
    with pytest.raises(ValueError, match="nonsense"):
        transform("nonsense:x:y")
