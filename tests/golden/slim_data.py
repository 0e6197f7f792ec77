"""`tf.contrib.slim`'s input in TensorFlow 1.15: `python slim_data.py slim_data.json`.

As in `training_loops.py`; tests/lib/contrib/test_slim_data.py compares.
"""

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

import os

import numpy as np

outcome = loops.outcome


def _shown(value):
    """A value as JSON, the same with every NumPy."""
    if isinstance(value, dict):
        return {key: _shown(part) for key, part in value.items()}
    if hasattr(value, "_fields"):  # a SparseTensorValue
        return [type(value).__name__, *map(_shown, value)]
    if isinstance(value, (list, tuple)):
        return [_shown(part) for part in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return [str(value.dtype), repr(value.tolist())]


def _lines(graph):
    """The nodes, collections and queue runners of a graph."""
    runners = graph.get_collection("queue_runners")
    return {
        "nodes": loops.nodes(graph),
        "runners": [[r.name, [op.name for op in r.enqueue_ops]] for r in runners],
        "collections": sorted(
            (key, len(graph.get_collection(key)))
            for key in graph.get_all_collection_keys()
        ),
    }


def _values(tf, tensors, times):
    """What a graph's input yields."""
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(tensors) for _ in range(times)]
        coordinator.request_stop()
        coordinator.join(threads)
    return sorted(_shown(found), key=str)  # the files come in any order


def _records(tf, folder, files=2, count=3):
    paths = []
    for number in range(files):
        paths.append(os.path.join(folder, f"data-{number}"))
        with tf.python_io.TFRecordWriter(paths[-1]) as writer:
            for index in range(count):
                features = {
                    "label": tf.train.Feature(
                        int64_list=tf.train.Int64List(value=[10 * number + index])
                    ),
                    "text": tf.train.Feature(
                        bytes_list=tf.train.BytesList(value=[f"t{index}".encode()])
                    ),
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())
    return paths


def prefetching(tf, folder):
    """Queues in front of a step."""
    found = []
    for options in (
        {}, {"capacity": 3, "num_threads": 2, "name": "n", "shared_name": "s"},
        {"dynamic_pad": True},
    ):  # fmt: skip
        for kind in (list, dict):
            with tf.Graph().as_default() as graph:
                parts = [tf.constant([1.0, 2.0]), tf.constant(3)]
                parts = dict(zip("ab", parts)) if kind is dict else parts
                queue = tf.contrib.slim.prefetch_queue.prefetch_queue(parts, **options)
                result = queue.dequeue()
                found.append([_lines(graph), repr(result)])
                if not options:
                    found.append(_values(tf, result, 2))
    return {"found": found}


def parallel_readers(tf, folder):
    """Reading by several readers, and by one."""
    _records(tf, folder)
    reader = tf.contrib.slim.parallel_reader
    pattern = os.path.join(folder, "data-*")
    found = [sorted(reader.get_data_files(p)) for p in (pattern, [pattern, pattern])]
    found.append(outcome(lambda: reader.get_data_files(os.path.join(folder, "no*"))))
    for options in (
        {}, {"num_readers": 2, "shuffle": False, "num_epochs": 1, "scope": "s"},
        {"num_readers": 1, "reader_kwargs": {"options": None}, "seed": 3},
    ):  # fmt: skip
        with tf.Graph().as_default() as graph:
            key, value = reader.parallel_read(pattern, tf.TFRecordReader, **options)
            found.append([_lines(graph), key.name, value.name])
    with tf.Graph().as_default() as graph:
        key, value = reader.single_pass_read(pattern, tf.TFRecordReader)
        found.append([_lines(graph), key.name, value.name])
        found.append(_values(tf, key, 6))
        common = tf.FIFOQueue(4, [tf.string, tf.string])
        both = reader.ParallelReader(tf.TFRecordReader, common, num_readers=3)
        counts = [both.num_readers, both.common_queue is common]
        made = [both.num_records_produced(), both.num_work_units_completed(name="u")]
        found.append([counts, [tensor.name for tensor in made]])
        found.append(outcome(lambda: both.read_up_to(common, 3)))
        found.append(loops.nodes(graph)[-30:])
    return {"found": found}


def providers(tf, folder):
    """A dataset of records, decoded and delivered."""
    slim = tf.contrib.slim
    _records(tf, folder)
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {
            "label": tf.FixedLenFeature([], tf.int64),
            "text": tf.FixedLenFeature([], tf.string, ""),
        },
        {
            "label": slim.tfexample_decoder.Tensor("label"),
            "text": slim.tfexample_decoder.Tensor("text"),
        },
    )
    dataset = slim.dataset.Dataset(
        os.path.join(folder, "data-*"), tf.TFRecordReader, decoder, 6,
        {"label": "a number"}, classes=2,
    )  # fmt: skip
    names = "data_sources reader decoder num_samples items_to_descriptions classes"
    found = [sorted(vars(dataset)), sorted(names.split())]
    for options in (
        {"shuffle": False}, {"num_epochs": 1, "num_readers": 2, "scope": "s"},
    ):  # fmt: skip
        with tf.Graph().as_default() as graph:
            provider = slim.dataset_data_provider.DatasetDataProvider(
                dataset, **options
            )
            label, text, key = provider.get(["label", "text", "record_key"])
            found.append([
                _lines(graph), label.name, text.name, key.name,
                sorted(provider.list_items()), provider.num_samples(),
            ])  # fmt: skip
            if options == {"shuffle": False}:
                found.append(_values(tf, [label, text], 6))
            found.append(outcome(lambda p=provider: p.get(["other"])))
    clash = slim.dataset_data_provider.DatasetDataProvider
    found.append(outcome(lambda: clash(dataset, record_key="label"))[0])
    return {"found": found}


def _example(tf, **features):
    kinds = {"i": ("int64_list", tf.train.Int64List),
             "f": ("float_list", tf.train.FloatList),
             "b": ("bytes_list", tf.train.BytesList)}  # fmt: skip
    made = {}
    for name, (kind, value) in features.items():
        field, message = kinds[kind]
        made[name] = tf.train.Feature(**{field: message(value=value)})
    example = tf.train.Example(features=tf.train.Features(feature=made))
    return example.SerializeToString()


def _decoded(tf, serialized, features, handlers, items=None):
    """The nodes and values of the items of an example."""
    decoder = tf.contrib.slim.tfexample_decoder.TFExampleDecoder(features, handlers)
    with tf.Graph().as_default() as graph:
        made = decoder.decode(tf.constant(serialized), items)
        shapes = [str(getattr(tensor, "shape", None)) for tensor in made]
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            values = session.run(made)
    return [
        loops.nodes(graph)[1:],
        shapes,
        _shown(values),
        sorted(decoder.list_items()),
    ]


def decoders(tf, folder):
    """Each kind of handler."""
    slim = tf.contrib.slim.tfexample_decoder
    fixed, variable = tf.FixedLenFeature, tf.VarLenFeature
    numbers = _example(
        tf, a=("i", [1, 2, 3, 4]), n=("i", [2]), m=("i", [2]), v=("f", [0.5, 1.5]),
        at=("i", [1, 4]), size=("i", [6]), word=("b", [b"x"]), key=("b", [b"two"]),
        ymin=("f", [0.1, 0.2]), xmin=("f", [0.3, 0.4]), ymax=("f", [0.5, 0.6]),
        xmax=("f", [0.7, 0.8]),
    )  # fmt: skip
    ints, floats = variable(tf.int64), variable(tf.float32)
    one = fixed([1], tf.int64)
    boxes = dict.fromkeys(("ymin", "xmin", "ymax", "xmax"), floats)
    sparse = {"at": ints, "v": floats, "size": fixed([1], tf.int64)}
    found = [
        _decoded(tf, numbers, {"a": fixed([4], tf.int64)}, {"a": slim.Tensor("a")}),
        _decoded(tf, numbers, {"a": ints}, {"a": slim.Tensor("a")}),
        _decoded(tf, numbers, {"a": ints},
                 {"a": slim.Tensor("a", shape=(2, 2))}),
        _decoded(tf, numbers, {"a": ints, "n": one, "m": one},
                 {"a": slim.Tensor("a", shape_keys=["n", "m"])}),
        _decoded(tf, numbers, sparse,
                 {"s": slim.SparseTensor("at", "v", "size", densify=True)}),
        _decoded(tf, numbers, sparse, {"s": slim.SparseTensor("at", "v", shape=[6])}),
        _decoded(tf, numbers, sparse, {"s": slim.SparseTensor("at", "v", "size")}),
        _decoded(tf, numbers, sparse, {"s": slim.SparseTensor("at", "v")}),
        _decoded(tf, numbers, boxes, {"b": slim.BoundingBox()}),
        _decoded(tf, numbers, {"a": ints, "n": one},
                 {"c": slim.ItemHandlerCallback(
                     ["n", "a"], lambda parts: parts["n"] + 1)}),
        _decoded(tf, numbers, {"gone": variable(tf.float32), "v": floats},
                 {"x": slim.BackupHandler(slim.Tensor("gone"), slim.Tensor("v"))}),
        _decoded(tf, numbers, {"v": floats, "n": one},
                 {"n": slim.Tensor("n"), "v": slim.Tensor("v")}, ["v"]),
    ]  # fmt: skip
    calls = [
        lambda: slim.Tensor("a", shape_keys="n", shape=(2,)),
        lambda: slim.SparseTensor("a", "v", shape_key="n", shape=(2,)).keys,
        lambda: slim.BoundingBox(["ymin"]),
        lambda: slim.BackupHandler(3, slim.Tensor("a")),
        lambda: slim.BackupHandler(slim.Tensor("a"), 3),
        lambda: slim.BoundingBox(prefix="p/").keys,
        lambda: slim.Image().keys,
        lambda: slim.Tensor("a", shape_keys="n").keys,
        lambda: slim.SparseTensor().keys,
    ]
    return {"found": found, "calls": [outcome(call) for call in calls]}


def lookups(tf, folder):
    """Words of an example as numbers."""
    slim = tf.contrib.slim.tfexample_decoder
    example = _example(tf, key=("b", [b"two", b"no"]))
    with tf.Graph().as_default():
        table = tf.contrib.lookup.index_table_from_tensor(["one", "two"])
        handler = slim.LookupTensor("key", table)
        decoder = slim.TFExampleDecoder(
            {"key": tf.VarLenFeature(tf.string)}, {"k": handler}
        )
        (made,) = decoder.decode(tf.constant(example))
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            return {"found": [_shown(session.run(made)), str(made.shape), made.name]}


def images(tf, folder):
    """Encoded and raw images, one and several."""
    slim = tf.contrib.slim.tfexample_decoder
    picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        png = session.run(tf.image.encode_png(picture))
        grey = np.full([8, 8, 3], 128, np.uint8)
        jpeg = session.run(tf.image.encode_jpeg(grey))
    features = {
        "image/encoded": tf.FixedLenFeature((), tf.string, ""),
        "image/format": tf.FixedLenFeature((), tf.string, "jpeg"),
    }
    several = {
        "image/encoded": tf.FixedLenFeature([2], tf.string),
        "image/format": tf.FixedLenFeature((), tf.string, "jpeg"),
    }
    found = []
    for data, form, options in (
        (png, b"png", {}), (png, b"PNG", {"shape": (2, 2, 3)}),
        (picture.tobytes(), b"raw", {"shape": (2, 2, 3)}),
        (picture.tobytes(), b"RAW", {"channels": 3}), (png, b"png", {"channels": 1}),
        (png, b"png", {"dtype": tf.float32}),
        (png, b"png", {"dtype": tf.uint16}), (jpeg, b"jpeg", {}),
        (jpeg, b"jpeg", {"dct_method": "INTEGER_ACCURATE", "dtype": tf.float32}),
    ):  # fmt: skip
        example = _example(
            tf, **{"image/encoded": ("b", [data]), "image/format": ("b", [form])}
        )
        nodes, *rest = _decoded(tf, example, features, {"image": slim.Image(**options)})
        kinds = [node[:2] for node in nodes if node[0].count("/") < 3]
        found.append([kinds, len(nodes), rest])
    example = _example(
        tf, **{"image/encoded": ("b", [png, png]), "image/format": ("b", [b"png"])}
    )
    handler = slim.Image(repeated=True)
    values = _decoded(tf, example, several, {"image": handler})
    found.append(values[1:])
    deep = _example(tf, **{
        "image/encoded": ("b", [picture.astype(np.float32).tobytes()]),
        "image/format": ("b", [b"raw"]),
    })  # fmt: skip
    handler = slim.Image(shape=(2, 2, 3), dtype=tf.float32)
    found.append(_decoded(tf, deep, features, {"image": handler})[1:])
    return {"found": found}


def summaries(tf, folder):
    """Summaries of tensors, and what they print."""
    slim = tf.contrib.slim.summaries
    found = []
    with tf.Graph().as_default() as graph:
        number = tf.constant(1.0, name="number")
        row, picture = tf.constant([0.0, 1.0], name="a/row"), tf.zeros([1, 2, 2, 3])
        made = [
            slim.add_scalar_summary(number),
            slim.add_scalar_summary(number, "n", prefix="p", print_summary=True),
            slim.add_histogram_summary(row), slim.add_histogram_summary(row, "h", "p"),
            slim.add_zero_fraction_summary(row, print_summary=True),
            slim.add_zero_fraction_summary(row, "z", "p"),
            slim.add_image_summary(picture, "i", "p"),
            slim.add_image_summary(picture, print_summary=True),
        ]  # fmt: skip
        made += slim.add_scalar_summaries([number, number], "q", print_summary=True)
        made += slim.add_histogram_summaries([row], "q")
        made += slim.add_zero_fraction_summaries([row], "q")
        made += slim.add_image_summaries([picture], "q")
        found.append([tensor.name for tensor in made])
        found.append([[op.name, op.type, [i.name for i in op.inputs],
                       [i.name for i in op.control_inputs]]
                      for op in graph.get_operations()])  # fmt: skip
        with tf.Session() as session:
            merged = session.run(tf.summary.merge_all())
        tags = [value.tag for value in tf.Summary.FromString(merged).value]
        found.append(sorted(tags))
        found.append([t.name for t in graph.get_collection("summaries")])
    return {"found": found}


def runners(tf, folder):
    """Queue runners of one session, and those inside others."""
    slim = tf.contrib.slim.queues
    found = []
    with tf.Graph().as_default(), tf.Session() as session:
        with slim.QueueRunners(session):
            found.append("none")
        queue = tf.train.input_producer(tf.constant([1, 2]), shuffle=False)
        element = queue.dequeue()
        with slim.QueueRunners(session):
            found.append(int(session.run(element)))
        found.append(int(session.run(element)))

    def nested():
        with tf.Graph().as_default(), tf.Session() as session:
            tf.train.input_producer(tf.constant([1, 2]))
            with slim.QueueRunners(session), slim.QueueRunners(session):
                pass

    found.append(outcome(nested))
    found.append(issubclass(slim.NestedQueueRunnerError, Exception))
    return {"found": found}


PROGRAMS = [
    prefetching, parallel_readers, providers, decoders, lookups, images, summaries,
    runners,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
