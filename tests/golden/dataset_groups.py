"""Datasets of datasets, groups, generators and files, for datasets.py."""

import numpy as np

# What datasets.py writes: two texts, bytes, records, compressed ones, two tables.
FILES = ["a.txt", "b.txt", "bytes", "records", "records.gz", "rows.csv", "rows.db"]


# ---- datasets of datasets


def flat_mapped(tf):
    dataset = tf.data.Dataset.range(5)
    return dataset.flat_map(
        lambda i: tf.data.Dataset.range(i).map(lambda j: i * 10 + j)
    )


def flat_mapped_shuffled(tf):
    def shuffled_range(i):
        return tf.data.Dataset.range(i * 3).shuffle(4, seed=2)

    return tf.data.Dataset.range(4).flat_map(shuffled_range).repeat(2)


def interleaved(tf):
    def three(i):
        return tf.data.Dataset.from_tensors(i).repeat(3)

    return tf.data.Dataset.range(1, 6).interleave(three, 2, 2)


def interleaved_unequal(tf):
    return tf.data.Dataset.range(1, 7).interleave(tf.data.Dataset.range, 3, 2)


def interleaved_in_parallel(tf):
    return tf.data.Dataset.range(1, 7).interleave(
        tf.data.Dataset.range, 3, 2, num_parallel_calls=2
    )


def parallel_interleave(tf):
    return tf.data.Dataset.range(1, 7).apply(
        tf.data.experimental.parallel_interleave(tf.data.Dataset.range, 3, 2)
    )


def cycle_of_zero(tf):
    zero = tf.zeros([], tf.int64)
    return tf.data.Dataset.range(3).interleave(tf.data.Dataset.range, zero, 1)


def windows(tf):
    dataset = tf.data.Dataset.range(10).window(4, 3, 2)
    return dataset.flat_map(lambda window: window.batch(4))


def whole_windows(tf):
    dataset = tf.data.Dataset.range(7).map(lambda i: (i, -i))
    dataset = dataset.window(3, drop_remainder=True)
    return dataset.flat_map(
        lambda a, b: tf.data.Dataset.zip((a.batch(3), b.skip(1).batch(2)))
    )


def far_windows(tf):
    return tf.data.Dataset.range(10).window(2, 4).flat_map(lambda window: window)


def grouped(tf):
    return tf.data.Dataset.range(11).apply(
        tf.data.experimental.group_by_window(
            lambda i: i % 3, lambda key, window: window.batch(2).map(
                lambda batch: (key, batch)
            ), 3,
        )
    )  # fmt: skip


def grouped_at_the_end(tf):
    return tf.data.Dataset.range(5).apply(
        tf.data.experimental.group_by_window(
            lambda i: 2 - i % 3, lambda key, window: window.batch(9), 9
        )
    )


def bucketed(tf):
    dataset = tf.data.Dataset.range(1, 12).map(lambda i: tf.fill([i % 7], i))
    return dataset.apply(
        tf.data.experimental.bucket_by_sequence_length(
            lambda row: tf.size(row), [3, 5], [3, 2, 2]
        )
    )


def bucketed_to_boundaries(tf):
    dataset = tf.data.Dataset.range(1, 9).map(lambda i: tf.fill([i % 4], i))
    return dataset.apply(
        tf.data.experimental.bucket_by_sequence_length(
            lambda row: tf.size(row), [2, 6], [2, 2, 2], pad_to_bucket_boundary=True
        )
    )


def reduced_by_key(tf):
    reducer = tf.data.experimental.Reducer(
        lambda key: key * 100, lambda state, i: state + i, lambda state: state
    )
    return tf.data.Dataset.range(10).apply(
        tf.data.experimental.group_by_reducer(lambda i: i % 4, reducer)
    )


# ---- batches again


def padded(tf):
    dataset = tf.data.Dataset.range(1, 6).map(
        lambda i: (tf.fill([i % 3], i), tf.fill([2, i], tf.as_string(i)))
    )
    return dataset.padded_batch(2, ([None], [3, None]), (np.int64(-1), "-"))


def padded_whole(tf):
    dataset = tf.data.Dataset.range(5).map(lambda i: {"a": tf.fill([i], 1.5)})
    return dataset.padded_batch(2, {"a": [-1]}, drop_remainder=True)


def padded_too_little(tf):
    return tf.data.Dataset.range(4).map(lambda i: tf.fill([i], i)).padded_batch(2, [2])


def padded_scalars(tf):
    return tf.data.Dataset.range(5).map(tf.as_string).padded_batch(2, [])


def unbatched(tf):
    dataset = tf.data.Dataset.range(6).map(lambda i: (i, [i, i])).batch(4)
    return dataset.unbatch()


def unbatched_texts(tf):
    return tf.data.Dataset.from_tensors({"a": ["x", "y"], "b": [[1], [2]]}).unbatch()


def unbatched_sparse(tf):
    value = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [5, 6, 7], [4, 5])
    batches = tf.data.Dataset.from_tensor_slices((value, [1, 2, 3, 4])).batch(3)
    return batches.unbatch()


def sparse_from_dense(tf):
    dataset = tf.data.Dataset.range(1, 5).map(lambda i: tf.fill([i], i))
    return dataset.apply(tf.data.experimental.dense_to_sparse_batch(3, [6]))


def map_and_batch(tf):
    return tf.data.Dataset.range(7).apply(
        tf.data.experimental.map_and_batch(lambda i: i * i, 3, drop_remainder=True)
    )


# ---- elements


def numbered(tf):
    return tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).enumerate(5)


def scanned(tf):
    return tf.data.Dataset.range(6).apply(
        tf.data.experimental.scan(np.int64(1), lambda s, i: (s + i, (s, i)))
    )


def scanned_shapes(tf):
    return tf.data.Dataset.range(4).apply(
        tf.data.experimental.scan(
            np.zeros(1, np.int64), lambda s, i: (tf.concat([s, [i]], 0), tf.size(s))
        )
    )


def taken_while(tf):
    return tf.data.Dataset.range(9).apply(
        tf.data.experimental.take_while(lambda i: i < 4)
    )


def unique(tf):
    dataset = tf.data.Dataset.from_tensor_slices([3, 1, 3, 2, 1])
    return dataset.apply(tf.data.experimental.unique())


def without_errors(tf):
    dataset = tf.data.Dataset.range(5).map(lambda i: 12 // (i - 2))
    return dataset.apply(tf.data.experimental.ignore_errors())


def counter(tf):
    return tf.data.experimental.Counter(5, 3).take(4)


def random_dataset(tf):
    return tf.data.experimental.RandomDataset(seed=4).take(6)


def shuffle_and_repeat(tf):
    return tf.data.Dataset.range(5).apply(
        tf.data.experimental.shuffle_and_repeat(12, 3, seed=5)
    )


def cached(tf):
    dataset = tf.data.Dataset.range(4).map(lambda i: tf.random_uniform([], seed=3))
    return dataset.cache().repeat(2)


def cached_shuffled(tf):
    return tf.data.Dataset.range(6).shuffle(3, seed=1).cache().repeat(2)


def chosen(tf):
    datasets = [tf.data.Dataset.from_tensors(c).repeat(3) for c in ["a", "b", "c"]]
    choice = tf.data.Dataset.range(3).repeat(4)
    return tf.data.experimental.choose_from_datasets(datasets, choice)


def chosen_wrongly(tf):
    datasets = [tf.data.Dataset.range(3)] * 2
    choice = tf.data.Dataset.range(1, 4)
    return tf.data.experimental.choose_from_datasets(datasets, choice)


def sampled(tf):
    datasets = [tf.data.Dataset.range(i * 100, i * 100 + 9) for i in range(3)]
    return tf.data.experimental.sample_from_datasets(datasets, [0.5, 0.3, 0.2], seed=3)


def sampled_equally(tf):
    datasets = [tf.data.Dataset.from_tensors(i).repeat() for i in range(2)]
    return tf.data.experimental.sample_from_datasets(datasets, seed=3).take(30)


def generated(tf):
    return tf.data.Dataset.from_generator(
        lambda: ((i, [i] * i) for i in range(4)), (tf.int32, tf.float32), ([], [None])
    )


def generated_of(tf):
    def count(stop, text):
        for i in range(stop):
            yield {"text": text, "i": i}

    types = {"i": tf.int64, "text": tf.string}
    return tf.data.Dataset.from_generator(count, types, args=(3, "x"))


def generated_wrongly(tf):
    items = [1, "x", [2, 3], (4,), 5]
    return tf.data.Dataset.from_generator(lambda: iter(items), tf.int64, [])


def generated_structures_wrongly(tf):
    items = [(1, 2), 3, (4, 5, 6), (7, [8])]
    return tf.data.Dataset.from_generator(lambda: iter(items), (tf.int64, tf.int64))


# ---- files


def lines(tf):
    return tf.data.TextLineDataset(FILES[:2]).map(tf.strings.length)


def lines_in_turns(tf):
    return tf.data.TextLineDataset(FILES[:2], num_parallel_reads=2).take(6)


def lines_of_datasets(tf):
    names = tf.data.Dataset.from_tensor_slices(FILES[:1])
    return tf.data.TextLineDataset(names, buffer_size=7).skip(1)


def fixed_records(tf):
    dataset = tf.data.FixedLengthRecordDataset(FILES[2], 5, 1, 2)
    return dataset.map(lambda record: tf.decode_raw(record, tf.uint8))


def fixed_records_and_rest(tf):
    return tf.data.FixedLengthRecordDataset(FILES[2], 7)


def unknown_compression(tf):
    return tf.data.TextLineDataset(FILES[0], "LZ")


def records(tf):
    return tf.data.TFRecordDataset(FILES[3])


def compressed_records(tf):
    return tf.data.TFRecordDataset(FILES[4], compression_type="GZIP")


def no_file(tf):
    return tf.data.TFRecordDataset(["missing", FILES[3]])


def rows(tf):
    defaults = [tf.int64, [0.5], tf.constant(["none"])]
    return tf.data.experimental.CsvDataset(
        FILES[5], defaults, header=True, na_value="NA"
    )


def selected_columns(tf):
    return tf.data.experimental.CsvDataset(
        FILES[5], [tf.string, tf.string], select_cols=[0, 2]
    )


def query(tf):
    return tf.data.experimental.SqlDataset(
        "sqlite",
        FILES[6],
        "select * from t order by n",
        (tf.int32, tf.float64, tf.string),
    )


def other_driver(tf):
    return tf.data.experimental.SqlDataset("mysql", FILES[6], "select 1", (tf.int32,))


def too_few_columns(tf):
    return tf.data.experimental.SqlDataset(
        "sqlite", FILES[6], "select n from t", (tf.int32, tf.int32)
    )


def resampled(tf):
    dataset = tf.data.Dataset.range(60).map(lambda i: i % 3).repeat()
    sample = tf.data.experimental.rejection_resample(
        lambda i: tf.cast(i, tf.int32), [0.6, 0.3, 0.1], [1 / 3.0] * 3, seed=4
    )
    return dataset.apply(sample).take(30)


def resampled_by_estimate(tf):
    dataset = tf.data.Dataset.range(60).map(lambda i: i % 2).repeat()
    sample = tf.data.experimental.rejection_resample(
        lambda i: tf.cast(i, tf.int32), [0.8, 0.2], seed=4
    )
    return dataset.apply(sample).take(30)


def files(tf):
    names = tf.data.Dataset.list_files("*.txt", seed=3)
    return names.map(lambda name: tf.substr(name, tf.strings.length(name) - 5, 5))
