"""Lookup tables in eager programs; the answers are TensorFlow 1.15's."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

import tfteach as tf
from tests.eagerly import eagerly  # noqa: F401

pytestmark = pytest.mark.usefixtures("eagerly")


def test_a_table_is_filled_when_it_is_made() -> None:
    initializer = tf.lookup.KeyValueTensorInitializer(["a"], [5])
    table = tf.lookup.StaticHashTable(initializer, -1)
    assert table.lookup(tf.constant(["a", "z"])).numpy().tolist() == [5, -1]
    assert table.size().numpy() == 1
    keys, values = table.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"a"], [5])
    assert table.name is None
    assert table.initializer is None


def test_ids_of_words_in_a_dataset() -> None:
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
    assert table.size().numpy() == 3
    words = tf.data.Dataset.from_tensor_slices(["b", "a", "q"])
    assert [x.numpy() for x in words.map(table.lookup)] == [1, 0, 2]


def test_words_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("a\nb\n")
    table = tf.contrib.lookup.index_table_from_file(str(path))
    assert table.lookup(tf.constant(["b", "z"])).numpy().tolist() == [1, -1]


def test_mutable_tables_are_apart_and_end_with_their_handles() -> None:
    one = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    two = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    one.insert(tf.constant(["a"]), tf.constant([3], tf.int64))
    assert (one.size().numpy(), two.size().numpy()) == (1, 0)
    assert one.lookup(tf.constant(["a", "z"])).numpy().tolist() == [3, -1]
    one.remove(tf.constant(["a"]))
    assert one.export()[0].numpy().tolist() == []
    resource = weakref.ref(one.resource_handle.value)
    del one
    gc.collect()
    assert resource() is None


def test_columns_of_words() -> None:
    words = tf.feature_column.categorical_column_with_vocabulary_list("x", ["a", "b"])
    column = tf.feature_column.indicator_column(words)
    features = {"x": tf.constant([["a"], ["b"]])}
    found = tf.feature_column.input_layer(features, [column])
    assert found.numpy().tolist() == [[1, 0], [0, 1]]
