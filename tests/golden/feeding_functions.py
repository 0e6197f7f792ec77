"""Queues fed with arrays, DataFrames and generators, in TensorFlow 1.15.

`python feeding_functions.py feeding_functions.json`, with pandas; as in
`training_loops.py`.  tests/lib/estimator/test_feeding_functions.py compares.
"""

from collections import OrderedDict

import numpy as np

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

try:
    from pandas import DataFrame
except ImportError:  # what the input functions use of it

    class _Index(list):
        def to_numpy(self):
            return np.asarray(self)

    class _Column:
        def __init__(self, values, index):
            self._values, self.index = np.asarray(values), index

        def to_numpy(self):
            return self._values

    class DataFrame:
        def __init__(self, columns, index=None):
            self._columns = {name: np.asarray(c) for name, c in columns.items()}
            length = len(next(iter(self._columns.values())))
            rows = np.arange(length) if index is None else np.asarray(index)
            self.index = _Index(rows)
            self.columns, self.iloc = list(columns), None

        def __len__(self):
            return len(self.index)

        def __getitem__(self, name):
            return _Column(self._columns[name], self.index)

        def assign(self, **columns):
            return DataFrame({**self._columns, **columns}, self.index)


ARRAY = np.arange(12.0).reshape(6, 2)
ARRAYS = OrderedDict([("b", ARRAY), ("a", np.arange(6))])


def frame():
    columns = OrderedDict([("a", [1, 2, 3]), ("b", [1.0, 2.0, 3.0])])
    columns["s"] = np.array(list("xyz"), object)
    return DataFrame(columns)


def rows():
    """Examples of several sizes."""
    for i in range(5):
        yield {"v": np.full([i + 1], i), "s": np.array(1.0 * i)}


def feeding(tf):
    """TensorFlow's inner module, or ours."""
    if tf.__name__ == "tfteach":
        from tfteach.compat import internals

        return internals.inner("estimator.inputs.queues.feeding_functions")
    from tensorflow_estimator.python.estimator.inputs.queues import feeding_functions

    return feeding_functions


def described(tf):
    """The nodes of the default graph, with the attributes of queues."""
    found = []
    for node in tf.get_default_graph().as_graph_def().node:
        a = node.attr
        numbers = [
            a[key].i for key in ("capacity", "min_after_dequeue", "seed", "seed2")
        ]
        types = [tf.as_dtype(t).name for t in a["component_types"].list.type]
        shapes = [[d.size for d in s.dim] for s in a["shapes"].list.shape]
        unknown = a["shape"].shape.unknown_rank
        found.append(
            [node.name, node.op, list(node.input), numbers, types, shapes, unknown]
        )
    return found


def queues(tf, folder):
    """Graphs of queues, and how many elements a batch gets."""
    enqueue = feeding(tf)._enqueue_data
    found = []
    for data, options in (
        (ARRAY, {}),
        (ARRAYS, {"shuffle": True, "seed": 3, "num_threads": 2, "name": "mine"}),
        (frame(), {"shuffle": True, "min_after_dequeue": 7}),
        (lambda: iter([{"b": ARRAY, "a": ARRAY[0]}]), {"shuffle": True}),
        (rows, {"pad_value": 0}),
        (ARRAY, {"num_threads": 2, "num_epochs": 1, "shuffle": True}),
        (ARRAY, {"num_threads": 2, "num_epochs": 1}),
        (ARRAY, {"num_threads": 2}),
    ):
        with tf.Graph().as_default():
            enqueue(data, 100, **options)
            runners = tf.get_collection("queue_runners")
            found.append([described(tf), [len(r.enqueue_ops) for r in runners]])
    for data in ([1], {"a": ARRAY}, rows()):
        with tf.Graph().as_default():
            found.append(loops.outcome(lambda data=data: enqueue(data, 100)))
    both = {"pad_value": 0, "shuffle": True}
    with tf.Graph().as_default():
        found.append(loops.outcome(lambda: enqueue(rows, 100, **both)))
    return {"found": found}


def feeds(tf, folder):
    """What the functions feed."""
    ff = feeding(tf)

    def plain(function):
        values = function()
        return sorted((key, np.asarray(v).tolist()) for key, v in values.items())

    def made(kind, *arguments, **options):
        function = getattr(ff, kind)(*arguments, **options)
        return [loops.outcome(lambda: plain(function)) for _ in range(4)]

    two, three, four = ["i", "v"], ["i", "v", "w"], ["i", "a", "b", "s"]
    named = ["s", "v"]
    calls = [
        lambda: made("_ArrayFeedFn", two, ARRAY, 4),
        lambda: made("_ArrayFeedFn", two, ARRAY, 4, num_epochs=1),
        lambda: made("_ArrayFeedFn", two, ARRAY, 4, True, 5),
        lambda: made("_ArrayFeedFn", two, ARRAY, 20, True, 5, 2),
        lambda: made("_ArrayFeedFn", three, ARRAY, 4),
        lambda: made("_OrderedDictNumpyFeedFn", three, ARRAYS, 4, num_epochs=1),
        lambda: made(
            "_OrderedDictNumpyFeedFn", three,
            OrderedDict([("b", ARRAY), ("a", ARRAY[:5])]), 4,
        ),
        lambda: made("_PandasFeedFn", four, frame(), 2, num_epochs=1),
        lambda: made("_PandasFeedFn", three, frame(), 2),
        lambda: made("_GeneratorFeedFn", named, rows, 2, pad_value=0, num_epochs=1),
        lambda: made("_GeneratorFeedFn", named, rows, 3, pad_value=-1),
        lambda: made("_GeneratorFeedFn", ["s"], rows, 2),
        lambda: made("_GeneratorFeedFn", ["a"], lambda: iter([{"a": ARRAY}]), 2),
    ]  # fmt: skip
    found = [loops.outcome(call) for call in calls]
    for seq, shape in (
        ([[1, 2], [3, 4, 5]], (2, 3)), ([[1], [3, 4]], (3, 3)),
        ([[[1], [3, 4]], [[2]]], (2, 2, 2)), ([1], (3,)),
    ):  # fmt: skip
        array = np.zeros(shape)
        ff._fill_array(array, seq, 7)
        found.append(array.tolist())
    for batch, value in (
        ([np.ones([2]), np.ones([3])], 5), ([np.ones([2]), np.ones([2])], 5),
        ([np.ones([2], bool), np.ones([1], bool)], False),
        ([np.ones([2, 1]), np.ones([1, 3])], 0), ([np.ones([2]), np.ones([3, 1])], 0),
    ):  # fmt: skip
        found.append(
            loops.outcome(
                lambda batch=batch, value=value: np.asarray(
                    ff._pad_if_needed(batch, value)
                ).tolist()
            )
        )
    return {"found": found}


def frames_for_estimators(tf, folder):
    """Canned estimators that train on DataFrames."""
    x = np.linspace(-1.0, 1.0, 8, dtype=np.float32)
    words = np.array(list("abcabcab"), object)
    data = DataFrame(OrderedDict([("x", x), ("word", words)]), np.arange(8) + 3)
    labels = DataFrame({"y": (x > 0).astype(np.int64)}, np.arange(8) + 3)["y"]
    make = tf.estimator.inputs.pandas_input_fn
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("word", list("abc"))
    columns = [fc.numeric_column("x"), fc.indicator_column(word)]
    found = []
    for name, kind, options in (
        ("linear", tf.estimator.LinearClassifier, {"feature_columns": columns}),
        ("dnn", tf.estimator.DNNClassifier,
         {"feature_columns": columns, "hidden_units": [4]}),
    ):  # fmt: skip
        config = tf.estimator.RunConfig(folder + name, 3)
        estimator = kind(config=config, **options)
        estimator.train(make(data, labels, 4, None, False), steps=10)
        results = estimator.evaluate(make(data, labels, 3, 1, False))
        rows = estimator.predict(make(data, None, 3, 1, False))
        found.append({k: round(float(v), 3) for k, v in results.items()})
        found.append([round(float(row["logits"][0]), 3) for row in rows])
    return {"found": found}


def input_functions(tf, folder):
    """Arguments of the input functions."""
    pandas, numpy = (
        tf.estimator.inputs.pandas_input_fn,
        tf.estimator.inputs.numpy_input_fn,
    )
    data = frame()
    labels = data["a"]

    def shapes(make):
        with tf.Graph().as_default() as graph:
            made = make()()
            capacity = next(
                op.get_attr("capacity") for op in graph.get_operations()
                if op.type in ("FIFOQueueV2", "RandomShuffleQueueV2")
            )  # fmt: skip
            features, target = made if isinstance(made, tuple) else (made, None)
            found = [capacity, sorted(features)]
            return [*found, sorted(target) if isinstance(target, dict) else str(target)]

    calls = [
        lambda: pandas(data, labels, shuffle=True, queue_capacity=None),
        lambda: pandas(data, labels, shuffle=False, queue_capacity=None),
        lambda: pandas(data, labels, shuffle=False, target_column=["a"]),
        lambda: pandas(data, labels, shuffle=False, target_column="t"),
        lambda: pandas(data, frame(), shuffle=False),
        lambda: pandas({"a": 3}, None, shuffle=False),
        lambda: pandas(data, None, shuffle=None),
        lambda: numpy({"__target_key__": ARRAY}, ARRAY, shuffle=False),
        lambda: numpy(np.zeros([2, 0]), ARRAY, shuffle=False),
    ]  # fmt: skip
    return {"found": [loops.outcome(lambda call=call: shapes(call)) for call in calls]}


PROGRAMS = [queues, feeds, frames_for_estimators, input_functions]


def run(tf, program):
    found = loops.run(tf, program)
    found["log"] = [line for line in found["log"] if line.startswith("WARNING")]
    return found


if __name__ == "__main__":
    loops.main(PROGRAMS, run)
