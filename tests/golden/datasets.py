"""Elements and nodes of datasets from real TensorFlow 1.15: `python datasets.py`.

Each function builds a dataset; `datasets.json` has what an initializable iterator over
it yields in two epochs, or the error that ends one, and the nodes of the graph with a
one-shot iterator and of its functions.  tests/lib/data/test_golden.py compares.
"""

import collections
import contextlib
import json
import os
import re
import sqlite3
import sys
import tempfile

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
Point = collections.namedtuple("Point", ["x", "y"])
FACTORY_NAME = "_make_dataset_vQzoO0UoODw"  # of the function for `range(3).batch(2)`
LIMIT = 40
# With branches that are functions, `StatelessIf`.
WITHOUT_NODES = (
    "conditional bucketed_to_boundaries resampled resampled_by_estimate".split()
)


# What `write_files` writes: two texts, bytes, records, compressed ones, two tables.
FILES = ["a.txt", "b.txt", "bytes", "records", "records.gz", "rows.csv", "rows.db"]


def write_files(tf):
    """Write files to the working directory."""
    with open("a.txt", "wb") as file:
        file.write(b"one\ntwo two\r\n\nfour")
    with open("b.txt", "wb") as file:
        file.write(b"x\nyy\nzzz\n")
    with open("bytes", "wb") as file:
        file.write(bytes(bytearray(range(18))))
    with open("rows.csv", "wb") as file:
        file.write(b'n,x,s\n1,1.5,"a, ""b\n2"\n2,,c\r\n\nx,1,d\n3,2.5\n4,NA,\n')
    with contextlib.closing(sqlite3.connect("rows.db")) as connection:
        connection.execute("create table t (n integer, x real, s text)")
        rows = [(1, 1.5, "one"), (2, None, None), (3, 2.0, "\u00e4")]
        connection.executemany("insert into t values (?, ?, ?)", rows)
        connection.commit()
    for name, kind in (("records", ""), ("records.gz", "GZIP")):
        with tf.python_io.TFRecordWriter(name, kind) as writer:
            for i in range(4):
                writer.write(b"r" * i)


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
    return sparse_batches(tf).unbatch()


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


NOT_BUILDERS = "Point", "write_files"
BUILDERS = {
    name: f for name, f in list(globals().items())
    if callable(f) and getattr(f, "__module__", "") == __name__
    and name not in NOT_BUILDERS
}  # fmt: skip


def plain(value):
    """An element in JSON: sparse values, named tuples and dicts told apart."""
    if hasattr(value, "dense_shape"):
        return {"sparse": [plain(part) for part in value]}
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, tuple):
        return {type(value).__name__: [plain(part) for part in value]}
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if value.dtype == object:
        return [plain(item) for item in value]
    return value.tolist()


def epochs(tf, build, count=2):
    """What an iterator yields in some epochs; an error in place of an element."""
    with tf.Graph().as_default():
        dataset = build(tf)
        described = [repr(dataset).replace("_UnbatchDataset", "DatasetV1Adapter")]
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        with tf.Session() as session:
            for _ in range(count):
                described.append(epoch(tf, session, iterator, element))
    return described


def epoch(tf, session, iterator, element):
    found = []
    try:
        session.run(iterator.initializer)
    except tf.errors.OpError as error:
        return [told(error)]
    errors = 0
    while len(found) < LIMIT and errors < 4:
        try:
            found.append(plain(session.run(element)))
        except tf.errors.OutOfRangeError as error:
            found.append(told(error))
            break
        except tf.errors.OpError as error:
            errors += 1
            found.append(told(error))
    return found


def told(error):
    text = re.sub(r"\{\{function_node .*?\}\} ", "", error.message)
    return "{}: {}".format(type(error).__name__, text.split("\n")[0])


def nodes(tf, build):
    """Names, types and inputs of the nodes, of the graph and of its functions."""
    if build.__name__ in WITHOUT_NODES:
        return None
    with tf.Graph().as_default() as graph:
        try:
            tf.data.make_one_shot_iterator(build(tf)).get_next()
        except ValueError as error:
            return [str(error)]
        proto = graph.as_graph_def()
    found = {}
    for function in proto.library.function:
        name = re.sub(r"_\d+$|(?<=_make_dataset).*", "", function.signature.name)
        rows = [row(node) for node in function.node_def]
        rows.append([a.name for a in function.signature.input_arg])
        rows.append([a.name for a in function.signature.output_arg])
        found.setdefault(name, []).append(rows)
    for bodies in found.values():
        bodies.sort(key=str)
    found["graph"] = [row(node) for node in proto.node]
    return found


def row(node):
    attrs = {key: attr(node.attr[key]) for key in sorted(node.attr) if key != "value"}
    return [node.name, node.op, list(node.input), attrs]


def attr(value):
    text = " ".join(str(value).split())
    text = re.sub(r'"pyfunc_\d+"', '"pyfunc"', text)
    text = re.sub(r'_make_dataset_[^"]*"', '_make_dataset"', text)
    return re.sub(r'(__inference_[^"]*?)_\d+"', r'\1"', text)


def record(tf):
    os.chdir(tempfile.mkdtemp())
    write_files(tf)
    return {
        name: {"epochs": epochs(tf, build), "nodes": nodes(tf, build)}
        for name, build in BUILDERS.items()
    }


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    path = sys.argv[1] if sys.argv[1:] else os.path.join(FOLDER, "datasets.json")
    path = os.path.abspath(path)
    rows = record(tensorflow)
    with open(path, "w") as file:
        file.write("{\n")
        lines = [json.dumps(name) + ": " + json.dumps(rows[name]) for name in rows]
        file.write(",\n".join(lines))
        file.write("\n}\n")
