"""Specs of values and of datasets' elements as real TensorFlow 1.15 has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import type_specs
from tfteach.compat import internals

RECORDED: dict[str, Any] = json.loads(
    (Path(type_specs.__file__).with_suffix(".json")).read_text()
)
MODULES = tuple(
    internals.inner(path)
    for path in (
        "framework.type_spec",
        "framework.tensor_spec",
        "data.util.structure",
        "data.ops.dataset_ops",
        "data.ops.optional_ops",
    )
)
OURS = type_specs.outcomes(tf, *MODULES)


@pytest.mark.parametrize("name", sorted(RECORDED["calls"]))
def test_results_and_errors(name: str) -> None:
    theirs = RECORDED["calls"][name]
    assert OURS[name].split(" object at 0x")[0] == theirs.split(" object at 0x")[0]


def test_all_are_recorded() -> None:
    assert OURS.keys() == RECORDED["calls"].keys()


def test_warnings() -> None:
    assert type_specs.warned(tf) == RECORDED["warned"]


def run(dataset: Any) -> list[Any]:
    iterator = dataset.make_initializable_iterator()
    element, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def test_several_datasets_as_one_tensor() -> None:
    Data = tf.data.Dataset
    with tf.Graph().as_default():
        several = [Data.range(2), Data.range(3)]
        for dataset in (
            Data.from_tensor_slices(several),
            Data.from_tensors(several).unbatch(),
            Data.from_tensors(several).flat_map(Data.from_tensor_slices),
            Data.from_tensors([several]).unbatch().unbatch(),
        ):
            assert run(dataset.flat_map(lambda x: x)) == [0, 1, 0, 1, 2]


def test_arrays_pass_through_datasets() -> None:
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 2).unstack([[1.0], [2.0]])
        dataset = tf.data.Dataset.from_tensors(array).map(lambda a: a.write(0, [5.0]))
        iterator = dataset.map(lambda a: (a.stack(), a)).make_initializable_iterator()
        stacked, same = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            both = session.run([stacked, same.read(1)])
        assert both[0].tolist() == [[5.0], [2.0]]
        assert both[1].tolist() == [2.0]


def test_users_own_values_pass_through_datasets() -> None:
    type_spec = MODULES[0]
    made = type_specs.pair_spec(tf, type_spec.TypeSpec)

    def spec(pair: Any) -> Any:
        x, y = type_spec.type_spec_from_value(pair.x), tf.TensorSpec(pair.y.shape)
        return made(x, y, pair.name)

    class Own(type_specs.Pair):  # type: ignore[misc]  # golden scripts have no types
        pass

    type_spec.register_type_spec_from_value_converter(Own, spec)
    with tf.Graph().as_default():
        pair = Own(tf.constant([1, 2]), tf.constant(3.0), "blue")
        dataset = tf.data.Dataset.from_tensors((pair, 4))
        dataset = dataset.map(lambda p, n: (p.x + n, p.y, len(p.name)))
        ((x, y, count),) = run(dataset)
    assert [x.tolist(), y, count] == [[5, 6], 3.0, 4]


def test_specs_of_arrays_add_no_ops() -> None:
    with tf.Graph().as_default() as graph:
        MODULES[0].type_spec_from_value(np.zeros(3))
        assert not graph.get_operations()


def test_a_reduction_without_end_is_cancelled_with_its_session() -> None:
    import threading

    with tf.Graph().as_default():
        started = threading.Event()

        def note(x: Any) -> Any:
            started.set()
            return x

        endless = tf.data.Dataset.from_tensors(1).repeat()
        endless = endless.map(lambda x: tf.py_func(note, [x], tf.int32))
        total = endless.reduce(0, lambda s, _: s)
        session, errors = tf.Session(), []

        def reduce() -> None:
            try:
                session.run(total)
            except tf.errors.CancelledError as error:
                errors.append(error)

        thread = threading.Thread(target=reduce)
        thread.start()
        started.wait()
        session.close()
        thread.join(60)
    assert len(errors) == 1
    assert not thread.is_alive()


def test_functions_have_the_collections_of_the_outer_graph() -> None:
    with tf.Graph().as_default() as graph:
        variable = tf.get_variable("w", [])
        graph.add_to_collection("mine", 1)
        seen = []

        def look(x: Any) -> Any:
            seen.append((tf.global_variables(), tf.get_collection("mine")))
            tf.add_to_collection("mine", 2)
            return x

        tf.data.Dataset.range(3).map(look)
        assert seen == [([variable], [1])]
        assert tf.get_collection("mine") == [1]


def test_bounds_of_an_unknown_shape() -> None:
    spec = tf.contrib.framework.BoundedTensorSpec(None, tf.float32, 0, [1.0, 2.0])
    assert spec.maximum.tolist() == [1.0, 2.0]
    assert repr(spec).startswith("BoundedTensorSpec(shape=<unknown>, dtype=tf.float32")
