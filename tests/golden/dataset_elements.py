"""Datasets of tensors and ranges: order, batches and functions, for datasets.py."""

import collections

Point = collections.namedtuple("Point", ["x", "y"])


# ---- sources and structures


def tensors(tf):
    return tf.data.Dataset.from_tensors([[1, 2], [3, 4]])


def slices(tf):
    return tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"]))


def nested(tf):
    parts = {"b": ([1.0, 2.0], [[1], [2]]), "a": Point([True, False], ["x", "y"])}
    return tf.data.Dataset.from_tensor_slices(parts)


def empty(tf):
    return tf.data.Dataset.from_tensor_slices(tf.zeros([0, 2]))


def numbers(tf):
    return tf.data.Dataset.range(10, 1, -3)


def no_numbers(tf):
    return tf.data.Dataset.range(3, 1)


def step_of_zero(tf):
    return tf.data.Dataset.range(1, 5, tf.zeros([], tf.int64))


def sparse(tf):
    value = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [5, 6, 7], [4, 5])
    return tf.data.Dataset.from_tensor_slices((value, [1, 2, 3, 4]))


def sparse_batches(tf):
    return sparse(tf).batch(3)


def sparse_mapped(tf):
    return sparse(tf).map(lambda s, i: (tf.sparse.to_dense(s), s, i))


def sparse_slices(tf):
    value = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [5, 6, 7], [4, 5])
    return tf.data.Dataset.from_sparse_tensor_slices(value)


# ---- selection


def taken(tf):
    return tf.data.Dataset.range(10).take(3)


def all_taken(tf):
    return tf.data.Dataset.range(3).take(-1)


def skipped(tf):
    return tf.data.Dataset.range(10).skip(7)


def all_skipped(tf):
    return tf.data.Dataset.range(4).skip(-1)


def mapped_taken_and_skipped(tf):
    return tf.data.Dataset.range(9).map(lambda i: i * i).skip(2).take(4)


def repeated(tf):
    return tf.data.Dataset.range(3).repeat(3)


def endless(tf):
    return tf.data.Dataset.range(3).map(lambda i: -i).repeat()


def empty_endless(tf):
    return tf.data.Dataset.range(0).repeat()


def never(tf):
    return tf.data.Dataset.range(3).repeat(0)


def sharded(tf):
    return tf.data.Dataset.range(11).shard(3, 1)


def mapped_and_sharded(tf):
    return tf.data.Dataset.range(11).map(lambda i: i + 1).shard(4, 3)


def sharded_in_batches(tf):
    return tf.data.Dataset.range(11).shard(4, 3).batch(2)


def bad_shard(tf):
    return tf.data.Dataset.range(11).shard(tf.constant(3, tf.int64), 3)


def zipped(tf):
    few = tf.data.Dataset.range(2)
    return tf.data.Dataset.zip((few, {"many": tf.data.Dataset.range(5, 10)}))


def concatenated(tf):
    both = tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(7, 9))
    return both.map(lambda i: i).concatenate(tf.data.Dataset.range(1))


# ---- order


def shuffled(tf):
    return tf.data.Dataset.range(20).shuffle(5, seed=3)


def shuffled_once(tf):
    once = tf.data.Dataset.range(10).shuffle(4, seed=1, reshuffle_each_iteration=False)
    return once.repeat(3)


def shuffled_and_repeated(tf):
    return tf.data.Dataset.range(10).shuffle(4, seed=1).repeat(3)


def reshuffled(tf):
    dataset = tf.data.Dataset.range(10).shuffle(4, seed=1).repeat(3)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def large_buffer(tf):
    return tf.data.Dataset.range(10).shuffle(100, seed=5)


def small_epochs(tf):
    return tf.data.Dataset.range(2).shuffle(9, seed=5).repeat(15)


def endless_shuffled(tf):
    return tf.data.Dataset.range(7).shuffle(3, seed=8).repeat().take(35)


def empty_endless_shuffled(tf):
    return tf.data.Dataset.range(0).shuffle(3, seed=8).repeat()


def graph_seed(tf):
    tf.set_random_seed(11)
    return tf.data.Dataset.range(10).shuffle(4)


def both_seeds(tf):
    tf.set_random_seed(11)
    return tf.data.Dataset.range(10).shuffle(4, seed=2)


def seeds_of_zero(tf):
    tf.set_random_seed(0)
    return tf.data.Dataset.range(10).shuffle(4, seed=0)


def shuffled_in_batches(tf):
    rows = tf.reshape(tf.range(40), [20, 2])
    return tf.data.Dataset.from_tensor_slices(rows).shuffle(6, seed=2).batch(7)


def shuffled_epochs_in_batches(tf):
    dataset = tf.data.Dataset.range(13).shuffle(5, seed=2).repeat(3).batch(4)
    return dataset.prefetch(1)


def mapped_and_shuffled(tf):
    return tf.data.Dataset.range(13).map(lambda i: i * 2).shuffle(5, seed=4).repeat(2)


def shuffled_twice(tf):
    return tf.data.Dataset.range(12).shuffle(4, seed=1).shuffle(3, seed=2)


def no_buffer(tf):
    return tf.data.Dataset.range(5).shuffle(tf.zeros([], tf.int64), seed=1)


def shuffled_and_zipped(tf):
    dataset = tf.data.Dataset.range(8).shuffle(4, seed=1)
    return tf.data.Dataset.zip((dataset, dataset))


# ---- batches


def batches(tf):
    return tf.data.Dataset.range(10).map(lambda i: (i, [i, i])).batch(4)


def whole_batches(tf):
    return tf.data.Dataset.from_tensor_slices([[1], [2], [3]]).batch(2, True)


def text_batches(tf):
    return tf.data.Dataset.range(5).map(tf.as_string).batch(2)


def different_shapes(tf):
    return tf.data.Dataset.range(4).map(lambda i: tf.zeros([i])).batch(2)


def bad_batch(tf):
    return tf.data.Dataset.range(4).batch(tf.zeros([], tf.int64))


# ---- functions


def mapped(tf):
    return slices(tf).map(lambda i, s: {"n": i + 1, "s": tf.strings.join([s, "!"])})


def mapped_named_tuple(tf):
    points = tf.data.Dataset.from_tensor_slices(Point([1, 2], [3.0, 4.0]))
    return points.map(lambda p: Point(p.y, [p.x, p.x]))


def captured(tf):
    c = tf.constant(3, tf.int64, name="c")
    return tf.data.Dataset.range(4).map(lambda i: i * c + tf.identity(c))


def mapped_in_parallel(tf):
    return tf.data.Dataset.range(9).map(lambda i: i * i, num_parallel_calls=4)


def filtered(tf):
    return tf.data.Dataset.range(9).filter(lambda i: tf.equal(i % 3, 0))


def filtered_batches(tf):
    dataset = tf.data.Dataset.range(20)
    dataset = dataset.map(lambda i: tf.cast(i, tf.float32) * 2.0 + 1.0)
    return dataset.filter(lambda v: v > 8.0).batch(5)


def random_numbers(tf):
    dataset = tf.data.Dataset.range(4)
    return dataset.map(lambda i: tf.random_uniform([2], seed=3)).repeat(2)


def conditional(tf):
    def function(i):
        return tf.cond(i > 2, lambda: i * 10, lambda: -i)

    return tf.data.Dataset.range(6).map(function)


def failing_once(tf):
    return tf.data.Dataset.range(4).map(lambda i: 12 // (i - 2))


def prefetched(tf):
    return tf.data.Dataset.range(6).map(lambda i: i + 1).prefetch(2)
