"""Producers, batches and buckets in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

ROWS = np.arange(24, dtype=np.float32).reshape(6, 4)


def _pair(tf):
    return [tf.constant([1.0, 2.0], name="x"), tf.constant(3, tf.int64, name="y")]


def producers(tf):
    tf.train.input_producer(ROWS, shuffle=False)
    tf.train.input_producer(
        tf.placeholder(tf.int32), [2], num_epochs=3, seed=4, capacity=9,
        shared_name="s", summary_name="full", name="mine", cancel_op=tf.no_op(),
    )  # fmt: skip
    tf.train.string_input_producer(["a", "b"], num_epochs=2)
    tf.train.match_filenames_once("*.nowhere")
    tf.train.match_filenames_once(["*.nowhere", "?.nowhere"], name="found")
    tf.train.string_input_producer(["a"], shuffle=False, capacity=5, name="files")
    tf.train.range_input_producer(10, shuffle=False)
    tf.train.range_input_producer(tf.constant(7), num_epochs=1, seed=3, name="numbers")
    found = tf.train.slice_input_producer([ROWS, list("abcdef")], capacity=3)
    tf.train.slice_input_producer([ROWS], num_epochs=2, seed=1, name="rows")
    tf.train.limit_epochs(found[0], 3, name="limited")
    return []


def batches(tf):
    pair = _pair(tf)
    flag = tf.placeholder_with_default(True, [], name="flag")
    flags = tf.placeholder_with_default([True, False], [2], name="flags")
    many = [tf.constant(ROWS[:2]), tf.constant([1, 2])]
    tf.train.batch(pair, 4)
    tf.train.batch({"b": pair[1], "a": pair[0]}, 4, num_threads=3, name="named")
    tf.train.batch([pair[0]], 4, dynamic_pad=True, allow_smaller_final_batch=True)
    tf.train.batch(many, 2, enqueue_many=True, capacity=7, shared_name="shared")
    tf.train.batch([tf.placeholder(tf.int32)], 2, shapes=[[3]])
    tf.train.batch({"only": pair[0]}, tf.placeholder(tf.int32, []))
    tf.train.batch_join([pair, pair], 4, name="joined")
    tf.train.batch_join([{"k": pair[0]}] * 2, 2, enqueue_many=True, dynamic_pad=True)
    tf.train.maybe_batch(pair, flag, 4)
    tf.train.maybe_batch(pair, False, 4)
    tf.train.maybe_batch(many, flags, 4, enqueue_many=True)
    tf.train.maybe_batch_join([pair, pair], flag, 4)
    tf.train.shuffle_batch(pair, 4, 20, 10)
    tf.train.shuffle_batch(many, 2, 9, 0, 2, seed=3, enqueue_many=True, name="mixed")
    tf.train.shuffle_batch(pair, 4, 20, 10, allow_smaller_final_batch=True)
    tf.train.shuffle_batch_join([pair] * 2, 4, 20, 10, shared_name="others")
    tf.train.maybe_shuffle_batch(pair, 4, 20, 10, flag)
    tf.train.maybe_shuffle_batch_join([many] * 2, 4, 20, 10, flags, enqueue_many=True)
    return []


def buckets(tf):
    pair = _pair(tf)
    which = tf.placeholder_with_default(1, [], name="which")
    training = tf.contrib.training
    training.bucket(pair, which, 4, 2)
    training.bucket(
        {"a": pair[0], "b": pair[1]}, which, [2, 3, 4], 3, num_threads=2, capacity=8,
        bucket_capacities=[5, 6, 7], dynamic_pad=True, allow_smaller_final_batch=True,
        keep_input=tf.placeholder_with_default(True, []), shared_name="s", name="mine",
    )  # fmt: skip
    length = tf.placeholder_with_default(3, [], name="length")
    training.bucket_by_sequence_length(length, [pair[0]], 4, [2, 5])
    return []


def sparse_batches(tf):
    def sparse(rank=2):
        places = [[0] * (rank - 1) + [1]]
        return tf.SparseTensor(places, [5], [2] * (rank - 1) + [3])

    flag = tf.placeholder_with_default(True, [], name="flag")
    flags = tf.placeholder_with_default([True, False], [2], name="flags")
    dense = tf.constant([1.0, 2.0])
    batch, join = tf.train.batch, tf.train.batch_join
    found = [
        batch([sparse(), dense], 4),
        batch({"b": sparse(3), "a": sparse()}, 4, dynamic_pad=True, name="named"),
        batch([sparse(), dense], 2, enqueue_many=True),
        batch([tf.sparse_placeholder(tf.string)], 2, allow_smaller_final_batch=True),
        join([[sparse(), dense], [sparse(), dense]], 4, name="joined"),
        tf.train.maybe_batch([sparse()], flag, 4),
        tf.train.maybe_batch([sparse()], flag, 4, enqueue_many=True),
        tf.train.maybe_batch([dense, sparse()], flags, 4, enqueue_many=True),
        tf.train.maybe_batch_join([[sparse()]] * 2, flag, 4),
        tf.train.shuffle_batch({"a": sparse(), "b": dense}, 4, 10, 2),
        tf.contrib.training.bucket([sparse(), dense], tf.constant(0), 4, 2)[1],
    ]
    flat = []
    for batch in found:
        if isinstance(batch, dict):
            batch = [value for _, value in sorted(batch.items())]
        for value in batch if isinstance(batch, list) else [batch]:
            if isinstance(value, tf.SparseTensor):
                flat += [value.indices, value.values, value.dense_shape]
            else:
                flat.append(value)
    for tensor in flat:  # their static shapes
        tf.placeholder(tf.float32, tensor.shape)
    return []


def joined_shapes(tf):
    """Batches have the shape of the first input."""
    batches = []
    for sizes, options in (
        (([3], [None]), {}),
        (([None], [3]), {"dynamic_pad": True}),
        (([None], [4], [3]), {"dynamic_pad": True}),
        (([4, 3, None], [5, 3, 2]), {"dynamic_pad": True, "enqueue_many": True}),
    ):
        inputs = [[tf.placeholder(tf.float32, size)] for size in sizes]
        batches.append(tf.train.batch_join(inputs, 5, **options))
    for batch in batches:  # their static shapes
        tf.placeholder(tf.float32, batch.shape)
    return []


GRAPHS = [producers, batches, buckets, sparse_batches, joined_shapes]

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
