"""Numbers of elements as real TensorFlow 1.15 derives them.

`python dataset_cardinality.py` records dataset_cardinality.json;
tests/lib/data/test_values.py compares.
"""

import json
import os

import numpy as np


def datasets(tf):
    """Datasets by name."""
    new, more = tf.data.Dataset, tf.data.experimental
    five = new.range(5)
    endless = five.repeat()
    unknown = five.filter(lambda i: i > 1)

    def inner(i):
        return new.range(i)

    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 2
    reducer = more.Reducer(lambda k: np.int64(0), lambda s, x: s, lambda s: s)
    rows = tf.SparseTensor([[0, 0]], [1], [4, 2])
    return {
        "range": five,
        "empty range": new.range(5, 1),
        "steps": new.range(0, 10, 3),
        "tensors": new.from_tensors(1),
        "slices": new.from_tensor_slices([1, 2, 3]),
        "sparse slices": new.from_sparse_tensor_slices(rows),
        "generator": new.from_generator(lambda: [1], tf.int64),
        "map": five.map(lambda i: i),
        "parallel map": five.map(lambda i: i, 2),
        "flat_map": five.flat_map(inner),
        "interleave": five.interleave(inner, 2),
        "parallel_interleave": five.apply(more.parallel_interleave(inner, 2)),
        "filter": unknown,
        "batch": five.batch(2),
        "whole batches": five.batch(2, True),
        "padded_batch": five.padded_batch(2, []),
        "whole padded batches": five.padded_batch(2, [], drop_remainder=True),
        "sparse batches": new.from_tensors([1])
        .repeat(3)
        .apply(more.dense_to_sparse_batch(2, [3])),
        "take": five.take(2),
        "take more": five.take(9),
        "take all": five.take(-1),
        "take of endless": endless.take(3),
        "take of unknown": unknown.take(3),
        "skip": five.skip(2),
        "skip more": five.skip(9),
        "skip all": five.skip(-1),
        "skip of endless": endless.skip(3),
        "repeat": five.repeat(2),
        "repeat nothing": five.repeat(0),
        "endless": endless,
        "endless nothing": new.range(0).repeat(),
        "repeat unknown": unknown.repeat(2),
        "repeat endless": endless.repeat(2),
        "batch of endless": endless.batch(3),
        "shuffle": five.shuffle(2),
        "shuffle_and_repeat": five.apply(more.shuffle_and_repeat(2, 2)),
        "endless shuffle": five.apply(more.shuffle_and_repeat(2)),
        "prefetch": five.prefetch(2),
        "cache": five.cache(),
        "file cache": five.cache("cache"),
        "zip": new.zip((five, new.range(3))),
        "zip with endless": new.zip((five, endless)),
        "zip of endless": new.zip((endless, endless)),
        "zip with unknown": new.zip((five, unknown)),
        "concatenate": five.concatenate(new.range(2)),
        "concatenate endless": five.concatenate(endless),
        "concatenate unknown": five.concatenate(unknown),
        "concatenate both": unknown.concatenate(endless),
        "shard": five.shard(2, 0),
        "other shard": five.shard(2, 1),
        "shard of endless": endless.shard(2, 1),
        "window": new.range(7).window(3),
        "whole windows": new.range(7).window(3, 2, 2, True),
        "shifted windows": new.range(7).window(3, 2, 2),
        "window of endless": endless.window(2),
        "few for windows": new.range(2).window(3, drop_remainder=True),
        "sliding windows": five.apply(tf.contrib.data.sliding_window_batch(2)),
        "enumerate": five.enumerate(),
        "scan": five.apply(more.scan(np.int64(0), lambda s, x: (s, x))),
        "take_while": five.apply(more.take_while(lambda i: True)),
        "map_and_batch": five.apply(more.map_and_batch(lambda i: i, 2)),
        "unique": five.apply(more.unique()),
        "ignore_errors": five.apply(more.ignore_errors()),
        "random": more.RandomDataset(1),
        "counter": more.Counter(),
        "lines": tf.data.TextLineDataset("x"),
        "rows": more.CsvDataset("x", [tf.int32]),
        "query": more.SqlDataset("sqlite", "a", "b", (tf.int32,)),
        "group_by_window": five.apply(
            more.group_by_window(lambda i: i, lambda k, d: d, 2)
        ),
        "group_by_reducer": five.apply(more.group_by_reducer(lambda i: i, reducer)),
        "sample": more.sample_from_datasets([five, five]),
        "options": five.with_options(options),
        "examples": new.from_tensors([""]).apply(
            more.parse_example_dataset({"a": tf.VarLenFeature(tf.int64)})
        ),
    }


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    found = {}
    with tensorflow.Session() as session:
        for name, dataset in datasets(tensorflow).items():
            number = tensorflow.data.experimental.cardinality(dataset)
            found[name] = int(session.run(number))
    path = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")
