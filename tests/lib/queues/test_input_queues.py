"""tf.train's input producers, batches and buckets in sessions."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf

ENOUGH_S = 60.0


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


@contextmanager
def running() -> Iterator[tf.Session]:
    """A session whose queues fill, and whose threads end with it."""
    before = threading.active_count()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer()])
        session.run([tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        yield session
        coord.request_stop()
        coord.join(threads)
    end = time.monotonic() + ENOUGH_S
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.001)
    assert threading.active_count() == before


def until_the_end(session: tf.Session, fetches: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            return found


def test_sparse_tensors_go_through_queues() -> None:
    """Elements of several sizes, also empty ones, are rows of the batch."""
    number = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue()
    count = tf.cast(number, tf.int64)
    sparse = tf.SparseTensor(
        tf.range(count)[:, tf.newaxis] * 2,
        tf.fill([number], number),
        tf.stack([2 * count]),
    )
    keep = tf.not_equal(number, 2)
    batch, of_row = tf.train.maybe_batch(
        [sparse, number], keep, 3, allow_smaller_final_batch=True
    )
    dense = tf.sparse.to_dense(batch)
    many = tf.SparseTensor([[0, 1], [2, 0], [2, 1]], ["a", "b", "c"], [4, 2])
    rows = tf.train.maybe_batch([many], [True, True, False, True], 3, enqueue_many=True)
    with running() as session:
        found = until_the_end(session, [dense, of_row, batch])
        row = session.run(rows)
    assert [numbers.tolist() for _, numbers, _ in found] == [[0, 1, 3], [4, 5, 6]]
    for table, numbers, value in found:
        assert value.dense_shape.tolist() == [3, 2 * max(numbers)]
        for line, n in zip(table, numbers, strict=True):
            wanted = [n, 0] * n + [0] * (len(line) - 2 * n)
            assert line.tolist() == wanted
    assert row.indices.tolist() == [[0, 1]]
    assert row.values.tolist() == [b"a"]
    assert row.dense_shape.tolist() == [3, 2]


def test_epochs_in_order_and_shuffled() -> None:
    numbers = tf.train.range_input_producer(4, num_epochs=2, shuffle=False).dequeue()
    mixed = tf.train.range_input_producer(20, num_epochs=3, seed=5).dequeue()
    rows, names = tf.train.slice_input_producer(
        [[[1, 2], [3, 4]], ["a", "b"]], num_epochs=2, shuffle=False
    )
    files = tf.train.string_input_producer(["x", "y"], 1, shuffle=False).dequeue()
    with running() as session:
        assert until_the_end(session, numbers) == [0, 1, 2, 3] * 2
        found = np.reshape(until_the_end(session, mixed), [3, 20])
        assert np.sort(found).tolist() == [list(range(20))] * 3
        assert not np.array_equal(found[0], found[1])
        pairs = [(r.tolist(), n) for r, n in until_the_end(session, [rows, names])]
        assert pairs == [([1, 2], b"a"), ([3, 4], b"b")] * 2
        assert until_the_end(session, files) == [b"x", b"y"]


@pytest.mark.parametrize("smaller", [False, True])
def test_batches_end_with_the_input(smaller: bool) -> None:
    number = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch(
        {"n": number, "square": number * number}, 3, allow_smaller_final_batch=smaller
    )
    with running() as session:
        found = until_the_end(session, batch)
    assert [b["n"].tolist() for b in found] == [[0, 1, 2], [3, 4, 5], [6]][
        : 2 + smaller
    ]
    assert found[1]["square"].tolist() == [9, 16, 25]


def test_padding_and_conditions() -> None:
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    ones = tf.ones([number], tf.int32)
    even = tf.train.maybe_batch(
        [number, ones], tf.equal(number % 2, 0), 3, dynamic_pad=True
    )
    with running() as session:
        ((n, padded),) = until_the_end(session, even)
    assert n.tolist() == [0, 2, 4]
    assert padded.tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]


def test_rows_of_which_some_are_kept() -> None:
    rows = tf.train.limit_epochs(tf.range(6), 1)
    kept = tf.train.maybe_batch([rows], tf.equal(rows % 3, 0), 2, enqueue_many=True)
    with running() as session:
        assert until_the_end(session, kept)[0].tolist() == [0, 3]


def test_shuffled_batches_of_several_inputs() -> None:
    inputs = [
        [tf.train.range_input_producer(30, num_epochs=1).dequeue() + start]
        for start in (0, 100)
    ]
    batch = tf.train.shuffle_batch_join(
        inputs, 7, 40, 20, allow_smaller_final_batch=True
    )
    with running() as session:
        found = np.concatenate(until_the_end(session, batch))
    assert sorted(found.tolist()) == [*range(30), *range(100, 130)]
    assert found.tolist() != sorted(found.tolist())


def test_one_thread_shuffles_as_tensorflow_does() -> None:
    """The queue is full when it is first read, so that the order is determined."""
    number = tf.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.shuffle_batch([number], 4, capacity=9, min_after_dequeue=0, seed=3)
    (size,) = (o for o in tf.get_default_graph().get_operations() if _is_size(o))
    with running() as session:
        while session.run(size.outputs[0]) < 8:
            time.sleep(0.001)
        found = [session.run(batch).tolist() for _ in range(2)]
    assert found == [[7, 3, 4, 0], [6, 2, 5, 1]]  # TensorFlow's


def _is_size(op: tf.Operation) -> bool:
    return op.name == "shuffle_batch/random_shuffle_queue_Size"


def test_buckets_have_sequences_of_similar_lengths() -> None:
    length = tf.train.range_input_producer(13, num_epochs=1, shuffle=False).dequeue()
    sequence = tf.fill([length], length)
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        length, [sequence], 3, [4, 9], dynamic_pad=True, allow_smaller_final_batch=True
    )
    with running() as session:
        found = until_the_end(session, [lengths, batch])
    groups = sorted(n.tolist() for n, _ in found)
    assert groups == [[0, 1, 2], [3], [4, 5, 6], [7, 8], [9, 10, 11], [12]]
    for n, rows in found:
        assert rows.shape == (len(n), max(n))
        assert rows.sum(axis=1).tolist() == (n * n).tolist()


def test_a_course_of_2016() -> None:
    """Linear regression on slices of arrays, by threads, with TensorFlow's loop."""
    rng = np.random.RandomState(0)
    x_data = rng.rand(100, 3).astype(np.float32)
    y_data = x_data @ np.float32([[1.0], [-2.0], [0.5]]) + 0.25
    x, y = tf.train.slice_input_producer([x_data, y_data], num_epochs=60)
    x_batch, y_batch = tf.train.shuffle_batch(
        [x, y], batch_size=10, capacity=60, min_after_dequeue=30, num_threads=2
    )
    w = tf.Variable(tf.zeros([3, 1]), name="weights")
    b = tf.Variable(tf.zeros([1]), name="bias")
    loss = tf.reduce_mean(tf.square(tf.matmul(x_batch, w) + b - y_batch))
    train = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    summaries = tf.summary.merge_all()
    init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    with tf.Session() as sess:
        sess.run(init)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        steps, last = 0, 1.0
        try:
            while not coord.should_stop():
                _, last, text = sess.run([train, loss, summaries])
                steps += 1
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coord.request_stop()
        coord.join(threads)
        assert steps == 600
        assert last < 1e-4
        np.testing.assert_allclose(sess.run(w)[:, 0], [1, -2, 0.5], atol=0.05)
    found = tf.Summary.FromString(text)
    assert [v.tag for v in found.value] == [
        "input_producer/input_producer/fraction_of_32_full",
        "shuffle_batch/fraction_over_30_of_30_full",
    ]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_threads_files_and_memory_are_flat() -> None:
    """A pipeline of four threads, opened and closed many times, and run for long."""
    number = tf.train.range_input_producer(100).dequeue()
    row = tf.fill([200], number)
    batch = tf.train.shuffle_batch([row], 20, 100, 50, num_threads=3)
    import resource

    def once(runs: int) -> None:
        with running() as session:
            for _ in range(runs):
                session.run(batch.op)

    once(200)
    gc.collect()
    before = threading.active_count(), open_files()
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10):
        once(20)
    once(1000)
    assert (threading.active_count(), open_files()) == before
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_kb
    assert grown_kb < 20_000


REFUSALS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tf.train.limit_epochs(1, 0), ValueError, "num_epochs must be > 0 not 0"),
    (
        lambda: tf.train.input_producer(tf.placeholder(tf.int32)),
        ValueError,
        "Either `input_tensor` must have a fully defined shape or",
    ),
    (lambda: tf.train.string_input_producer([]), ValueError, "non-null input tensor"),
    (lambda: tf.train.slice_input_producer([]), ValueError, "Expected at least one te"),
    (lambda: tf.train.batch([], 2), ValueError, "Expected at least one tensor in bat"),
    (lambda: tf.train.batch_join([], 2), ValueError, "Expected at least one set of t"),
    (
        lambda: tf.train.batch([tf.placeholder(tf.int32)], 2),
        ValueError,
        "Cannot infer Tensor's rank: Tensor",
    ),
    (
        lambda: tf.train.batch_join([[1], [2.0]], 2),
        TypeError,
        "Expected types to be consistent: int32 vs. float32.",
    ),
    (
        lambda: tf.train.batch_join(
            [[tf.placeholder(tf.int32, [n])] for n in (None, 3)], 2
        ),
        ValueError,
        r"All shapes must be fully defined: \[TensorShape\(\[Dimension\(None\)\]\)\]",
    ),
    (
        lambda: tf.train.batch_join(
            [[tf.placeholder(tf.int32, [n])] for n in (3, None, 4)], 2
        ),
        ValueError,
        r"Shapes \(3,\) and \(4,\) are not compatible",
    ),
    (
        lambda: tf.train.maybe_batch([1], [True], 2),
        ValueError,
        "`keep_input` cannot be a vector when `enqueue_many=False`.",
    ),
    (
        lambda: tf.train.maybe_batch([[1]], [[True]], 2, enqueue_many=True),
        ValueError,
        "`keep_input` must be 0 or 1 dimensions.",
    ),
    (
        lambda: tf.train.maybe_batch([1], tf.placeholder(tf.bool), 2),
        ValueError,
        "`keep_input` dimensions must be known at graph construction.",
    ),
    (
        lambda: tf.train.batch([tf.IndexedSlices(tf.zeros([1]), tf.constant([0]))], 2),
        NotImplementedError,
        "enqueue its indices and values",
    ),
    (
        lambda: tf.train.maybe_batch([tf.sparse_placeholder(tf.int32)], False, 2),
        TypeError,
        "sparse_map_op must be one of AddSparseToTensorsMap or ",
    ),
    (
        lambda: tf.train.batch_join([[tf.sparse_placeholder(tf.int32)], [1]], 2),
        ValueError,
        "Inconsistent SparseTensors list: ",
    ),
    (
        lambda: tf.train.batch_join(
            [[tf.sparse_placeholder(tf.int32, [n] * n)] for n in (2, 3)], 2
        ),
        ValueError,
        "Inconsistent SparseTensors list: ",
    ),
    (
        lambda: tf.contrib.training.bucket([1], 0, [2], 2),
        ValueError,
        "If batch_size is a list it must have num_buckets elements",
    ),
    (
        lambda: tf.contrib.training.bucket([1], 0, 2, 2, bucket_capacities=[3]),
        ValueError,
        r"must have exactly num_buckets \(2\) elements",
    ),
    (
        lambda: tf.contrib.training.bucket_by_sequence_length(1, [1], 2, [3, 2]),
        ValueError,
        "Buckets must contain sequential increasing lengths, but saw: 3 before 2",
    ),
    (
        lambda: tf.contrib.training.bucket_by_sequence_length(1, [1], 2, [3, 2.5]),
        TypeError,
        "bucket boundaries must be integers",
    ),
    (
        lambda: tf.contrib.training.bucket_by_sequence_length(1, [1], 2, []),
        ValueError,
        "bucket_boundaries must not be empty",
    ),
    (
        lambda: tf.contrib.training.bucket_by_sequence_length(1, [1], 2, 3),
        TypeError,
        "bucket_boundaries must be a list or tuple, but received: 3",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(number: int) -> None:
    call, kind, message = REFUSALS[number]
    with pytest.raises(kind, match=message):
        call()


def test_files_are_matched_when_local_variables_are_set(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.csv").write_text(name)
    files = tf.train.match_filenames_once(str(tmp_path / "*.csv"))
    name = tf.train.string_input_producer(files, 1, shuffle=False).dequeue()
    with running() as session:
        (tmp_path / "late.csv").write_text("c")
        found = until_the_end(session, name)
    assert [Path(path.decode()).name for path in found] == ["a.csv", "b.csv"]
