"""Statistics of pipelines as real TensorFlow 1.15 has them.

`python dataset_statistics.py` records dataset_statistics.json;
tests/lib/data/test_statistics.py compares.
"""

import json
import os


def pipelines(tf):
    """Datasets by name."""
    new = tf.data.Dataset
    return {
        "strings": new.from_tensors(["abc", "x" * 40]).repeat(2),
        "an empty string": new.from_tensors(""),
        "several parts": new.from_tensors((1, [2.0, 3.0])),
        "sparse": new.from_tensors(tf.SparseTensor([[0]], [1], [2])),
        "nothing": new.range(0),
        "empty arrays": new.from_tensor_slices([0, 0]).map(lambda x: tf.zeros([x, 2])),
        "several sizes": new.range(8).map(lambda x: tf.zeros([x * x])),
        "slices": new.from_tensor_slices([[1, 2], [3, 4]]),
        "an error": new.range(3).map(lambda x: 2 // (x - 1)),
    }


def observed(tf, name, prefix=""):
    """An iterator of a pipeline, with two histograms of sizes and one of times."""
    more = tf.data.experimental
    aggregator = more.StatsAggregator()
    dataset = pipelines(tf)[name].apply(more.bytes_produced_stats("bytes"))
    dataset = dataset.apply(more.latency_stats("time"))
    dataset = dataset.apply(more.bytes_produced_stats("again"))
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = prefix
    options.experimental_stats.counter_prefix = "counts"
    dataset = dataset.with_options(options)
    return dataset.make_initializable_iterator(), aggregator


def histograms(tf, name, prefix=""):
    """The summary after two epochs, without the times."""
    with tf.Graph().as_default():
        iterator, aggregator = observed(tf, name, prefix)
        element, summary = iterator.get_next(), aggregator.get_summary()
        with tf.Session() as session:
            assert session.run(summary) == b""
            for _ in range(2):
                session.run(iterator.initializer)
                while True:
                    try:
                        session.run(element)
                    except tf.errors.OutOfRangeError:
                        break
                    except tf.errors.InvalidArgumentError:
                        continue
            text = session.run(summary)
    found = {}
    for value in tf.Summary.FromString(text).value:
        histo = value.histo
        row = [histo.num]
        if not value.tag.endswith("time"):
            row += [histo.min, histo.max, histo.sum, histo.sum_squares]
            row += [list(histo.bucket_limit), list(histo.bucket)]
        found[value.tag] = row
    return found


def nodes(tf):
    """Names, types and inputs of the nodes of an observed pipeline."""
    with tf.Graph().as_default() as graph:
        iterator, aggregator = observed(tf, "nothing", "some")
        iterator.get_next()
        aggregator.get_summary()
        return [[n.name, n.op, list(n.input)] for n in graph.as_graph_def().node]


def record():
    import tensorflow as tf

    with tf.Graph().as_default():
        names = sorted(pipelines(tf))
    found = {
        "histograms": {name: histograms(tf, name) for name in names},
        "prefixed": histograms(tf, "strings", "some"),
        "nodes": nodes(tf),
    }
    path = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    record()
