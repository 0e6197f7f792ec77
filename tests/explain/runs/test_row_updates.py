from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.runs import row_updates
from tfteach.explain.runs.row_updates import RowUpdates, chosen_rows, watch_rows


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def embedding(shape: tuple[int, ...] = (5, 2), use_resource: bool = False) -> Any:
    ones = tf.ones_initializer()
    return tf.get_variable("emb", shape, initializer=ones, use_resource=use_resource)


def watched(
    optimizer: Any, batches: Any, use_resource: bool = False, decay: float = 0.0
) -> RowUpdates:
    """Trains an embedding; each batch is a list of rows."""
    emb = embedding(use_resource=use_resource)
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, ids) ** 2)
    if decay:
        loss += decay * tf.reduce_sum(emb**2)
    train = optimizer.minimize(loss)
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        for batch in batches:
            sess.run(train, {ids: batch})
    return rows


BATCHES = ([0, 1], [2, 2], [0, 4], [3])


@pytest.mark.parametrize("use_resource", [False, True])
def test_adam_goes_on_moving_rows_and_lazy_adam_does_not(use_resource: bool) -> None:
    adam = watched(tf.train.AdamOptimizer(0.1), BATCHES, use_resource).track()
    assert [step.read.tolist() for step in adam.steps] == [[0, 1], [2], [0, 4], [3]]
    assert [step.moved.tolist() for step in adam.steps] == [
        [0, 1], [0, 1, 2], [0, 1, 2, 4], [0, 1, 2, 3, 4]
    ]  # fmt: skip
    assert [step.unread.tolist() for step in adam.steps] == [
        [], [0, 1], [1, 2], [0, 1, 2, 4]
    ]  # fmt: skip
    assert adam.slots == ("emb/Adam", "emb/Adam_1")
    assert "8 of 14 times, a row moved that its step did not read" in adam.verdict
    assert "emb/Adam and emb/Adam_1" in adam.verdict
    assert "LazyAdamOptimizer" in adam.verdict
    # Adam's first step has the length of the learning rate in each of two columns.
    assert adam.steps[0].distances == pytest.approx([0.1 * 2**0.5] * 2, rel=1e-5)
    assert "  row 1  █▒▒▒" in str(adam).splitlines()

    with tf.Graph().as_default():
        optimizer = tf.contrib.opt.LazyAdamOptimizer(0.1)
        lazy = watched(optimizer, BATCHES, use_resource).track()
    assert [step.moved.tolist() for step in lazy.steps] == [[0, 1], [2], [0, 4], [3]]
    assert lazy.unread_moves == 0
    assert "its step had read it" in lazy.verdict
    assert "  row 1  █···" in str(lazy).splitlines()


def test_slots_are_tracks_of_their_own() -> None:
    rows = watched(tf.train.AdamOptimizer(0.1), [[0], [1]])
    assert [track.variable for track in rows.tracks] == [
        "emb",
        "emb/Adam",
        "emb/Adam_1",
    ]
    first = rows.track("emb/Adam")
    assert first.slot_of == "emb"
    assert [step.moved.tolist() for step in first.steps] == [[0], [0, 1]]
    assert [step.read.tolist() for step in first.steps] == [[0], [1]]


def test_a_gradient_of_all_rows_is_no_fault_of_the_optimizer() -> None:
    track = watched(tf.train.GradientDescentOptimizer(0.1), [[0]], decay=0.1).track()
    assert track.steps[0].moved.tolist() == [0, 1, 2, 3, 4]
    assert "rows that no step has read" in track.verdict
    assert "LazyAdam" not in track.verdict


def _gathered(emb: Any) -> Any:
    return tf.gather(emb, [3, 1])


def _by_coordinates(emb: Any) -> Any:
    return tf.gather_nd(emb, [[3, 0], [1, 1]])


def _combined(emb: Any) -> Any:
    ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([3, 1], tf.int64), [1, 2])
    return tf.nn.embedding_lookup_sparse(emb, ids, None, combiner="mean")


def _in_a_loop(emb: Any) -> Any:
    return tf.while_loop(
        lambda i, total: i < 2,
        lambda i, total: (i + 1, total + tf.gather(emb, [3 - 2 * i])),
        [0, tf.zeros([1, 2])],
    )[1]


def _along_columns(emb: Any) -> Any:
    return tf.gather(emb, [1], axis=1)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("read", [_gathered, _by_coordinates, _combined, _in_a_loop])
def test_rows_may_be_selected_by(
    read: Callable[[Any], Any], use_resource: bool
) -> None:
    result = read(embedding(use_resource=use_resource))
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        sess.run(result)
    [step] = rows.track().steps
    assert step.read.tolist() == [1, 3]
    assert step.moved.tolist() == []
    assert rows.track().verdict == "No row moved."
    assert "  row 1  ○" in str(rows).splitlines()


def test_columns_and_whole_reads_are_no_rows() -> None:
    emb = embedding()
    results = _along_columns(emb), tf.reduce_sum(emb), tf.gather(emb * 2.0, [0])
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        sess.run(results)
    assert rows.tracks == []
    assert str(rows) == "No run selected rows of a variable."


def test_parts_of_a_partitioned_variable_are_variables() -> None:
    emb = tf.get_variable("emb", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    found = tf.nn.embedding_lookup(emb, [0, 3], partition_strategy="div")
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        sess.run(found)
    assert {t.variable: t.steps[0].read.tolist() for t in rows.tracks} == {
        "emb/part_0": [0],
        "emb/part_1": [1],
    }


def test_large_variables_are_named_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_updates, "MAX_ELEMENTS", 9)
    rows = watched(tf.train.GradientDescentOptimizer(0.1), [[0]])
    assert rows.tracks == []
    assert "more than 9 elements: emb" in str(rows)


def test_old_steps_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_updates, "MAX_STEPS", 2)
    track = watched(tf.train.GradientDescentOptimizer(0.1), BATCHES).track()
    assert [step.read.tolist() for step in track.steps] == [[0, 4], [3]]
    assert track.forgotten == 2


def test_a_failed_run_moves_nothing() -> None:
    emb = embedding()
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.gather(emb, ids))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(train, {ids: [0, 9]})
        sess.run(train, {ids: [0]})
    assert [step.moved.tolist() for step in rows.track().steps] == [[], [0]]


def test_nan_stays_nan() -> None:
    emb = tf.get_variable("emb", initializer=np.float32([[np.nan], [1.0]]))
    update = tf.scatter_add(emb, [0], tf.gather(emb, [1]))
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        sess.run(update)
    assert rows.track().steps[0].moved.tolist() == []


def test_the_track_is_named_if_there_are_several() -> None:
    rows = watched(tf.train.AdamOptimizer(0.1), [[0]])
    with tf.Graph().as_default():
        rows.tracks += watched(tf.train.AdamOptimizer(0.1), [[0]]).tracks
    with pytest.raises(ValueError, match="name the variable and the session"):
        rows.track()
    assert rows.track("emb", rows.tracks[0].session) is rows.tracks[0]
    with pytest.raises(ValueError, match="got none"):
        rows.track("other")


def test_of_many_rows_those_read_last_are_shown() -> None:
    emb = embedding((100, 2))
    ids = tf.placeholder(tf.int32, [None])
    rows_read = tf.gather(emb, ids)
    with tf.Session() as sess, watch_rows() as rows:
        sess.run(tf.global_variables_initializer())
        for batch in ([7, 1], [50], [99, 3]):
            sess.run(rows_read, {ids: batch})
    assert chosen_rows(rows.track(), 3) == ([3, 50, 99], 97)
    assert "  and 95 rows more" in str(rows).splitlines()
