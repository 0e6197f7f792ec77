"""Queues of examples of `tf.contrib.learn.io` in TensorFlow 1.15:
`python contrib_learn_input.py contrib_learn_input.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import os

try:
    from tests.golden import contrib_learn_actions as actions
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import contrib_learn_actions as actions
    import training_loops as loops

FILES = 2
ROWS = 3


def written(tf, folder):
    """Files of Examples; the pattern of their names, and descriptions of features."""
    for number in range(FILES):
        path = os.path.join(folder, f"f{number}.rec")
        with tf.python_io.TFRecordWriter(path) as writer:
            for row in range(ROWS):
                value = float(10 * number + row)
                words = [b"w%d" % row] * row
                feature = {
                    "a": tf.train.Feature(
                        float_list=tf.train.FloatList(value=[value])),
                    "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=words)),
                }  # fmt: skip
                features = tf.train.Features(feature=feature)
                example = tf.train.Example(features=features)
                writer.write(example.SerializeToString(deterministic=True))
    features = {"a": tf.FixedLenFeature([1], tf.float32), "s": tf.VarLenFeature(
        tf.string)}  # fmt: skip
    return os.path.join(folder, "*.rec"), features


def length(tf):
    """A parse function: the length of a record."""
    return lambda records: {"n": tf.strings.length(records), "r": records}


def cases(tf, pattern, features):
    """Name -> function and arguments: of graphs that read in order."""
    io, reader = tf.contrib.learn.io, tf.TFRecordReader
    plain = io.read_batch_examples
    keyed = io.read_keyed_batch_examples
    last = {"randomize_input": False, "num_epochs": 1}
    return {
        "examples": (plain, (pattern, 4, reader), dict(last, name="my")),
        "several": (plain, ([pattern, pattern], 5, reader),
                    dict(last, read_batch_size=2, queue_capacity=9)),
        "keys": (keyed, (pattern, 2, reader), dict(last, num_threads=1)),
        "parsed": (keyed, (pattern, 4, reader), dict(last, parse_fn=length(tf))),
        "features": (io.read_keyed_batch_features, (pattern, 4, features, reader),
                     dict(last, num_enqueue_threads=1, feature_queue_capacity=7)),
        "named": (io.read_batch_features, (pattern, 2, features, reader),
                  dict(last, read_batch_size=1, num_enqueue_threads=1, name="mine")),
    }  # fmt: skip


def random_cases(tf, pattern, features):
    """The same of graphs that read in a random order, or for ever."""
    io, reader = tf.contrib.learn.io, tf.TFRecordReader
    plain = io.read_batch_examples
    small = {"queue_capacity": 20}
    return {
        "shuffled": (plain, (pattern, 2, reader), small),
        "seeded": (plain, (pattern, 2, reader), dict(small, seed=5, num_epochs=2)),
        "threads": (plain, (pattern, 15, reader),
                    dict(small, num_threads=2, read_batch_size=3)),
        "any size": (plain, (pattern, tf.placeholder(tf.int32, []), reader), small),
        "records": (io.read_batch_record_features, (pattern, 2, features), small),
        "endless": (plain, (pattern, 2, reader), dict(small, randomize_input=False)),
        "dense": (io.queue_parsed_features, ({"b": tf.zeros([2, 3])},),
                  {"feature_queue_capacity": 5, "num_enqueue_threads": 3}),
        "sparse": (io.queue_parsed_features,
                   ({"z": tf.zeros([2]), "e": tf.sparse_placeholder(tf.int32)},
                    tf.constant(["k", "l"])), {"name": "q"}),
    }  # fmt: skip


def described(tf, value):
    """The names and static shapes of Tensors."""
    if isinstance(value, dict):
        return [[key, described(tf, value[key])] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [described(tf, one) for one in value]
    if isinstance(value, tf.SparseTensor):
        return described(tf, [value.indices, value.values, value.dense_shape])
    if value is None:
        return None
    return [value.name, str(value.shape), value.dtype.name]


def details(graph):
    """Capacities and seeds of queues, and names of files without their folder."""
    found = []
    for node in graph.as_graph_def().node:
        held = {
            key: node.attr[key].i
            for key in ("capacity", "min_after_dequeue", "seed", "seed2")
            if key in node.attr
        }
        if held:
            found.append([node.name, held])
    runners = graph.get_collection("queue_runners")
    return found, [
        [r.name, [op.name for op in r.enqueue_ops], r.close_op.name, r.cancel_op.name,
         [error.__name__ for error in r.queue_closed_exception_types]]
        for r in runners
    ]  # fmt: skip


def queued_graphs(tf, folder):
    """The nodes of each kind of input."""
    found = {}
    pattern, features = written(tf, folder)
    for make in (cases, random_cases):
        for name in make(tf, pattern, features):
            with tf.Graph().as_default() as graph:
                function, values, options = make(tf, pattern, features)[name]
                before = len(graph.get_operations())
                result = function(*values, **options)
                found[name] = [
                    described(tf, result), loops.nodes(graph)[before:],
                    details(graph),
                ]  # fmt: skip
    return found


def plain(tf, folder, value):
    """Values as lists."""
    if isinstance(value, dict):
        return [[key, plain(tf, folder, value[key])] for key in sorted(value)]
    if hasattr(value, "dense_shape"):
        return [part.tolist() for part in (value.indices, value.dense_shape)]
    if isinstance(value, (list, tuple)):
        return [plain(tf, folder, one) for one in value]
    return str(value.tolist()).replace(folder, "DIR")


def queued_batches(tf, folder):
    """The batches of inputs in order."""
    found = {}
    pattern, features = written(tf, folder)
    for name in cases(tf, pattern, features):
        with tf.Graph().as_default(), tf.Session() as session:
            function, values, options = cases(tf, pattern, features)[name]
            result = function(*values, **options)
            session.run([tf.local_variables_initializer(), tf.tables_initializer()])
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coord)
            seen = found[name] = []
            for _ in range(9):
                try:
                    seen.append(plain(tf, folder, session.run(result)))
                except tf.errors.OutOfRangeError:
                    seen.append("end")
                    break
            coord.request_stop()
            coord.join(threads)
    return found


def refused_numbers(tf, folder):
    """Numbers and files that are refused."""
    pattern, _ = written(tf, folder)
    io, reader = tf.contrib.learn.io, tf.TFRecordReader
    cases = [
        {"file_pattern": pattern + "none"}, {"file_pattern": []}, {"file_pattern": 5},
        {"file_pattern": [pattern + "x"]}, {"batch_size": None}, {"batch_size": -1},
        {"batch_size": 0}, {"queue_capacity": 0}, {"queue_capacity": None},
        {"batch_size": 20, "queue_capacity": 10}, {"queue_capacity": 2},
        {"num_threads": -1}, {"num_threads": 0}, {"num_threads": None},
        {"read_batch_size": 0}, {"read_batch_size": None}, {"num_epochs": -1},
        {"num_epochs": 0}, {"num_epochs": 0, "queue_capacity": 0, "batch_size": 0},
        {"num_threads": 0, "read_batch_size": 0, "num_epochs": 0},
        {"num_threads": 0, "num_epochs": 0},
    ]  # fmt: skip

    def call(options):
        given = dict({"file_pattern": pattern, "batch_size": 2}, **options)
        return lambda: io.read_batch_examples(reader=reader, **given)

    found = [actions.outcome(call(options)) for options in cases]
    found.append(actions.outcome(
        lambda: io.read_batch_features(pattern, 2, {}, reader)))  # fmt: skip
    found.append(actions.outcome(
        lambda: io.queue_parsed_features({"a": tf.zeros([1])}, None, 5, 0)
    ))  # fmt: skip
    return {"found": found}


PROGRAMS = [queued_graphs, queued_batches, refused_numbers]

if __name__ == "__main__":
    loops.main(PROGRAMS)
