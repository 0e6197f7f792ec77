"""`tensorflow.python.data.util` as real TensorFlow 1.15 has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tfteach as tf
from tests.golden import dataset_util
from tfteach.compat import internals

UTIL = SimpleNamespace(
    **{
        name: internals.inner(f"data.util.{name}")
        for name in "convert nest options random_seed sparse structure traverse".split()
    }
)
RECORDED: dict[str, Any] = json.loads(
    (Path(dataset_util.__file__).with_suffix(".json")).read_text()
)
GRAPH = tf.Graph()


def run(tensor: tf.Tensor) -> Any:
    with tf.Session(graph=GRAPH) as session:
        return session.run(tensor).tolist()


with GRAPH.as_default():
    CALLS: dict[str, dict[str, Callable[[], Any]]] = {
        "nest": dataset_util.nest_calls(UTIL.nest),
        "options": dataset_util.option_calls(UTIL.options, tf),
        "convert": dataset_util.convert_calls(UTIL.convert, tf, run),
    }


@pytest.mark.parametrize("family", sorted(CALLS))
def test_all_are_recorded(family: str) -> None:
    assert CALLS[family].keys() == RECORDED[family].keys()


@pytest.mark.parametrize(
    ("family", "name"),
    [(family, name) for family in sorted(CALLS) for name in sorted(CALLS[family])],
)
def test_results_and_errors(family: str, name: str) -> None:
    with tf.Graph().as_default() if family != "convert" else GRAPH.as_default():
        ours = dataset_util.outcomes({name: CALLS[family][name]})[name]
    theirs = RECORDED[family][name].replace("__main__", dataset_util.__name__)
    if family == "options":  # the modules of classes are our own
        ours, theirs = (text.partition(" <class 'int'>")[0] for text in (ours, theirs))
    if "Tensor(" in theirs:
        theirs, ours = (text.partition("Tensor(")[0] for text in (theirs, ours))
    assert ours.startswith(theirs)


def test_seeds_of_datasets() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        assert session.run(UTIL.random_seed.get_seed(tf.constant(0, tf.int64))) == (
            0,
            2**31 - 1,
        )


def test_sparse_leaves() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        element = (tf.SparseTensor([[0, 1]], [3.0], [2, 2]), (tf.constant(1), ()))
        classes = UTIL.sparse.get_classes(element)
        assert classes == (tf.SparseTensor, (tf.Tensor, ()))
        assert UTIL.sparse.any_sparse(classes)
        assert not UTIL.sparse.any_sparse((tf.Tensor, ()))
        types, shapes = (
            (tf.float32, (tf.int32, ())),
            ((tf.TensorShape([2, 2])), (tf.TensorShape([]), ())),
        )
        dense = UTIL.sparse.as_dense_types(types, classes)
        assert dense == (tf.variant, (tf.int32, ()))
        sizes = UTIL.sparse.as_dense_shapes(shapes, classes)
        assert sizes[0].ndims is None
        assert sizes[1][0].ndims == 0
        flat = UTIL.sparse.serialize_sparse_tensors(element)
        assert [flat[0].dtype, flat[0].shape.as_list()] == [tf.variant, [3]]
        rows = UTIL.sparse.serialize_many_sparse_tensors(element)
        assert rows[0].shape.as_list() == [None, 3]
        for tensors in (flat, rows):
            back = UTIL.sparse.deserialize_sparse_tensors(
                tensors, types, shapes, classes
            )
            value = session.run(back[0])
            assert value.dense_shape.tolist() == [2, 2]
            assert value.values.tolist() == [3.0]


def test_the_ops_of_a_dataset() -> None:
    with tf.Graph().as_default():
        inner = tf.data.Dataset.range(10).repeat(10)
        dataset = tf.data.Dataset.range(20).prefetch(1)
        dataset = dataset.flat_map(lambda x: inner.batch(x))
        ops = UTIL.traverse.obtain_all_variant_tensor_ops(dataset)
        assert sorted(op.name for op in ops) == [
            "FlatMapDataset",
            "PrefetchDataset",
            "RangeDataset",
            "RangeDataset_1",
            "RepeatDataset",
        ]
        assert ops[0] is dataset._variant_tensor.op


def test_structures_of_specs() -> None:
    structure = UTIL.structure
    with tf.Graph().as_default():
        element = {"a": tf.constant(1.0), "b": (tf.constant([1, 2]),)}
        spec = structure.type_spec_from_value(element)
        assert structure.get_flat_tensor_types(spec) == [tf.float32, tf.int32]
        shapes = structure.get_flat_tensor_shapes(spec)
        assert [shape.as_list() for shape in shapes] == [[], [2]]
        tensors = structure.to_tensor_list(spec, element)
        assert structure.from_tensor_list(spec, tensors) == element
        other = {"a": tf.TensorSpec(None), "b": (tf.TensorSpec([None], tf.int32),)}
        assert structure.are_compatible(spec, other)
        assert not structure.are_compatible(spec, {**other, "a": tf.TensorSpec([1])})
        assert not structure.are_compatible(spec, {**other, "b": ()})
