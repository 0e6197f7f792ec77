"""What static shapes know of values before a run, as TensorFlow 1.15 answers."""

from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.framework.constant_values import folded_value


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def shape_of(sizes: tf.Tensor) -> str:
    return str(tf.fill(sizes, 0.0).shape)


def test_sizes_from_shape_n() -> None:
    known = tf.placeholder(tf.float32, [2, 3])
    partly = tf.placeholder(tf.float32, [None, 4])
    a, b = tf.shape_n([known, partly])
    assert shape_of(a) == "(2, 3)"
    assert shape_of(b) == "(?, 4)"
    assert shape_of(b[1:]) == "(4,)"
    assert shape_of(tf.concat([a, b], 0)) == "(2, 3, ?, 4)"
    assert str(tf.reshape(tf.placeholder(tf.float32), a).shape) == "(2, 3)"
    assert str(tf.tile(tf.zeros([1, 1]), a).shape) == "(2, 3)"
    assert tf.contrib.util.constant_value(a) is None


def test_sizes_of_what_is_computed_from_constants() -> None:
    different, _ = tf.unique(tf.constant([3, 1, 5, 1]))
    assert str(different.shape) == "(?,)"
    assert shape_of(tf.stack([tf.size(different)])) == "(3,)"
    assert shape_of(tf.range(tf.size(different))) == "(0, 1, 2)"
    assert shape_of(tf.shape(different) * 2) == "(6,)"
    assert shape_of(tf.identity(tf.shape(different))) == "(3,)"
    # TensorFlow looks behind these two, not at them.
    assert shape_of(tf.shape(different)) == "(?,)"
    assert shape_of(tf.shape_n([different])[0]) == "(?,)"


def test_a_shape_that_is_set_later_counts() -> None:
    x = tf.placeholder(tf.float32, [None])
    twice = tf.range(tf.size(x))
    assert shape_of(twice) == "<unknown>"
    x.set_shape([3])
    assert shape_of(twice) == "(0, 1, 2)"


def test_rows_filled_as_far_as_the_dense_shape_is_known() -> None:
    def filled(sizes: tf.Tensor, columns: int | None = 2) -> str:
        where = tf.placeholder(tf.int64, [None, columns])
        sparse = tf.SparseTensor(where, tf.placeholder(tf.int32, [7]), sizes)
        found, is_empty = tf.sparse_fill_empty_rows(sparse, 0)
        return f"{found.indices.shape} {is_empty.shape}"

    assert filled(tf.constant([4, 3], tf.int64)) == "(?, 2) (4,)"
    rows = tf.constant(5, tf.int64)
    assert filled(tf.stack([rows, tf.placeholder(tf.int64, [])])) == "(?, 2) (5,)"
    assert filled(tf.placeholder(tf.int64, [2])) == "(?, 2) (?,)"
    assert filled(tf.placeholder(tf.int64), 3) == "(?, ?) (?,)"


def test_a_size_among_others_is_computed() -> None:
    x = tf.placeholder(tf.float32, [None, 6, 4])
    blocks = tf.div(6 + tf.mod(-6, 4), 2)
    rows = tf.shape(x)[0]
    assert str(tf.reshape(x, [rows, blocks, 6]).shape) == "(?, 4, 6)"


def test_a_value_is_forgotten_where_only_one_of_its_outputs_was_asked_for() -> None:
    with tf.Graph().as_default():
        first, second = tf.unstack(tf.constant([1, 2]))
        total = first + 1
        assert folded_value(total) == 2
        first.op._update_input(0, tf.constant([5, 6]))
        assert folded_value(total) == 6
        assert folded_value(second) == 6
