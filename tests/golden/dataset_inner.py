"""Datasets that only TensorFlow's inner modules have; see datasets.py."""

import importlib


def _inner(tf, name):
    """The module `tensorflow.python.data.experimental.ops.<name>`."""
    path = "data.experimental.ops." + name
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow.python." + path)
    from tfteach.compat import internals

    return internals.inner(path)


def _matching(tf, patterns):
    return _inner(tf, "matching_files").MatchingFilesDataset(patterns)


def matched_files(tf):
    return _matching(tf, ["*.csv", "nothing*", "[ab].txt", "./b.???"])


def no_matched_files(tf):
    return _matching(tf, "*.nothing")


def matched_files_of_a_missing_directory(tf):
    return _matching(tf, ["a.txt", "nowhere/*"])


def _rebatched(tf, dataset, count):
    return _inner(tf, "distribute")._RebatchDataset(dataset, count)


def rebatched(tf):
    return _rebatched(tf, tf.data.Dataset.range(18).batch(8), 4)


def rebatched_unevenly(tf):
    dataset = tf.data.Dataset.range(9).map(lambda i: (i, [i, -i]))
    return _rebatched(tf, dataset.batch(8, drop_remainder=True), 3)


def rebatched_for_none(tf):
    return _rebatched(tf, tf.data.Dataset.range(4).batch(2), 0)


def with_own_threads(tf):
    module = _inner(tf, "threadpool")
    pool = module.PrivateThreadPool(2, display_name="pool")
    dataset = tf.data.Dataset.range(5).map(lambda i: i * i, 4)
    return module.override_threadpool(dataset, pool)


def with_no_threads(tf):
    module = _inner(tf, "threadpool")
    pool = module.PrivateThreadPool(0, display_name="pool")
    return module.override_threadpool(tf.data.Dataset.range(2), pool)


def slept(tf):
    sleep = _inner(tf, "sleep").sleep(1)
    return tf.data.Dataset.range(3).apply(sleep).batch(2)


def slept_negatively(tf):
    return tf.data.Dataset.range(3).apply(_inner(tf, "sleep").sleep(-1))


def hidden_from_rewrites(tf):
    """A shuffle and a repeat that TensorFlow does not fuse."""
    dataset = tf.data.Dataset.range(6).shuffle(6, seed=3).repeat(2)
    return dataset.apply(_inner(tf, "optimization").non_serializable())


def optimized_by_name(tf):
    dataset = tf.data.Dataset.range(6).shuffle(6, seed=3).repeat(2)
    optimize = _inner(tf, "optimization").optimize(["shuffle_and_repeat_fusion"])
    return dataset.apply(optimize)


def tf_records(tf):
    make = _inner(tf, "readers").make_tf_record_dataset
    return make("record*s", 3, shuffle_seed=5, shuffle_buffer_size=3, num_epochs=2)


def parsed_tf_records(tf):
    make = _inner(tf, "readers").make_tf_record_dataset
    return make(
        ["records"], 2, tf.strings.length, num_epochs=1, shuffle=False,
        num_parallel_reads=1, drop_final_batch=True,
    )  # fmt: skip
