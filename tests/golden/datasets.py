"""Elements and nodes of datasets from real TensorFlow 1.15: `python datasets.py`.

Each function of dataset_elements.py, dataset_groups.py and dataset_threads.py builds a
dataset; `datasets.json` has what an initializable iterator over it yields in two
epochs, or the errors in between, and the nodes of the graph with a one-shot iterator
and of its functions.  tests/lib/data/test_golden.py compares.
"""

import contextlib
import json
import os
import re
import sqlite3
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
FACTORY_NAME = "_make_dataset_vQzoO0UoODw"  # of the function for `range(3).batch(2)`
LIMIT = 40
# Functions by other names, or made as before TensorFlow 1.15; iterators on devices,
# which copy where ours need no copy.
WITHOUT_NODES = (
    "resampled resampled_by_estimate legacy_map legacy_parallel_map "
    "legacy_map_and_batch on_device copied_to_device".split()
)


def builders(module):
    """The functions of a module that build a dataset, by name."""
    return {
        name: found for name, found in vars(module).items()
        if callable(found) and getattr(found, "__module__", "") == module.__name__
        and name.islower() and not name.startswith("_") and name != "write_files"
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
    text = re.sub(r"\{\{function_node .*?\}\} +", "", error.message)
    return "{}: {}".format(type(error).__name__, text.split("\n")[0].lstrip())


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
    return re.sub(r'((?:__inference_[^"]*?|_true|_false))_\d+"', r'\1"', text)


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


def record(tf, builders):
    os.chdir(tempfile.mkdtemp())
    write_files(tf)
    dataset_files.write_files(tf)
    return {
        name: {"epochs": epochs(tf, build), "nodes": nodes(tf, build)}
        for name, build in builders.items()
    }


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import dataset_elements
    import dataset_files
    import dataset_groups
    import dataset_inner
    import dataset_threads
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    path = sys.argv[1] if sys.argv[1:] else os.path.join(FOLDER, "datasets.json")
    path = os.path.abspath(path)
    chosen = {}
    for module in (
        dataset_elements, dataset_groups, dataset_threads, dataset_files, dataset_inner
    ):  # fmt: skip
        chosen.update(builders(module))
    rows = record(tensorflow, chosen)
    with open(path, "w") as file:
        file.write("{\n")
        lines = [json.dumps(name) + ": " + json.dumps(rows[name]) for name in rows]
        file.write(",\n".join(lines))
        file.write("\n}\n")
