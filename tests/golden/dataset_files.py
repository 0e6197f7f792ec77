"""Datasets of batches of features and columns of files; see datasets.py."""

import collections

FILES = "examples", "table.csv", "more.csv"


def write_files(tf):
    """Write files to the working directory."""
    with tf.python_io.TFRecordWriter(FILES[0]) as writer:
        for i in range(5):
            features = {
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "x": tf.train.Feature(
                    float_list=tf.train.FloatList(value=[i / 2.0, -1.0])
                ),
            }
            if i % 2:
                text = tf.train.BytesList(value=[b"s%d" % i] * i)
                features["s"] = tf.train.Feature(bytes_list=text)
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    with open(FILES[1], "wb") as file:
        file.write(b"n,x,s,label\n1,1.5,a,0\n2,2.5,b,1\n3,,NA,1\n4,-1,d,0\n5,5,e,1\n")
    with open(FILES[2], "wb") as file:
        file.write(b"n,x,s,label\n10,0.5,k,1\n20,1e3,,0\n30,7,m,0\n")


def _features(tf):
    return collections.OrderedDict([
        ("n", tf.FixedLenFeature([], tf.int64)),
        ("s", tf.VarLenFeature(tf.string)),
        ("x", tf.FixedLenFeature([2], tf.float32)),
    ])  # fmt: skip


def parsed_examples(tf):
    dataset = tf.data.TFRecordDataset(FILES[0]).batch(2)
    return dataset.apply(tf.data.experimental.parse_example_dataset(_features(tf)))


def examples_parsed_in_parallel(tf):
    features = _features(tf)
    del features["s"]
    features["y"] = tf.FixedLenFeature([1], tf.float32, [7.0])
    dataset = tf.data.TFRecordDataset(FILES[0]).batch(2)
    return dataset.apply(tf.data.experimental.parse_example_dataset(features, 3))


def batched_features(tf):
    return tf.data.experimental.make_batched_features_dataset(
        FILES[0], 2, _features(tf), num_epochs=2, shuffle_seed=5
    )


def labelled_features(tf):
    return tf.data.experimental.make_batched_features_dataset(
        FILES[0], 2, _features(tf), label_key="n", num_epochs=1, shuffle=False,
        reader_num_threads=2, parser_num_threads=2, drop_final_batch=True,
        prefetch_buffer_size=1,
    )  # fmt: skip


def features_of_contrib(tf):
    return tf.contrib.data.make_batched_features_dataset(
        [FILES[0]], 3, _features(tf), num_epochs=1, shuffle=False
    )


def table(tf):
    return tf.data.experimental.make_csv_dataset(
        FILES[1], 2, num_epochs=1, shuffle=False
    )


def labelled_table(tf):
    return tf.data.experimental.make_csv_dataset(
        "*e.csv", 2, label_name="label", num_epochs=2, shuffle_seed=3, na_value="NA"
    )


def columns_by_name(tf):
    return tf.data.experimental.make_csv_dataset(
        [FILES[1], FILES[2]], 2, select_columns=["s", "n"], num_epochs=1,
        column_defaults=[tf.int64, "none"], shuffle=False,
    )  # fmt: skip


def table_without_header(tf):
    return tf.data.experimental.make_csv_dataset(
        FILES[1], 4, column_names=["a", "b", "c", "d"], header=False, num_epochs=1,
        column_defaults=[tf.string, tf.string, tf.string, tf.string], shuffle=False,
        prefetch_buffer_size=1, num_parallel_reads=2,
    )  # fmt: skip


def table_with_errors(tf):
    return tf.data.experimental.make_csv_dataset(
        FILES[1], 1, column_defaults=[tf.int32, [tf.float32][0], tf.int32, tf.int32],
        num_epochs=1, shuffle=False, ignore_errors=True,
    )  # fmt: skip


def asserted_shapes(tf):
    dataset = tf.data.Dataset.range(4).map(lambda i: (tf.range(i + 1), [i, i]))
    dataset = dataset.map(lambda a, b: (tf.placeholder_with_default(a, None), b))
    shapes = tf.TensorShape([None]), tf.TensorShape([2])
    return dataset.apply(tf.contrib.data.assert_element_shape(shapes))


def wrong_shapes(tf):
    dataset = tf.data.Dataset.range(4).map(
        lambda i: tf.placeholder_with_default(tf.range(i + 1), None)
    )
    return dataset.apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2])))


def sliding_windows(tf):
    dataset = tf.data.Dataset.range(9)
    return dataset.apply(
        tf.contrib.data.sliding_window_batch(3, window_shift=2, window_stride=2)
    )


def sliding_windows_of_sparse(tf):
    def sparse(i):
        return tf.SparseTensor([[i % 2]], [i], [3])

    dataset = tf.data.Dataset.range(4).map(sparse)
    return dataset.apply(tf.contrib.data.sliding_window_batch(2))


def on_device(tf):
    dataset = tf.data.Dataset.range(3).map(lambda i: i + 1)
    return dataset.apply(tf.data.experimental.prefetch_to_device("/cpu:0", 1))


def copied_to_device(tf):
    dataset = tf.data.Dataset.range(3).map(lambda i: i + 1)
    return dataset.apply(tf.data.experimental.copy_to_device("/cpu:0")).prefetch(1)


def legacy_map(tf):
    return tf.data.Dataset.range(6).map_with_legacy_function(lambda i: (i, -i))


def legacy_parallel_map(tf):
    return tf.data.Dataset.range(6).map_with_legacy_function(lambda i: i * 2, 2)


def legacy_map_and_batch(tf):
    return tf.data.Dataset.range(5).apply(
        tf.data.experimental.map_and_batch_with_legacy_function(lambda i: i * 2, 2)
    )
