"""What the golden scripts of losses, layers, metrics and contrib share.

Each of them lists in GRAPHS functions of `tf` that build a graph and return what to
run, one after the other.  From the repository's root, with TensorFlow's Python,
`python -m tests.golden.losses tests/golden/losses.json` writes that file anew: for each
function its GraphDef (zlib, base64), the members of all collections, and what running
gives: the fetched values, and the variables afterwards.
"""

import base64
import importlib
import json
import zlib

import numpy as np


def build(tf, function):
    """A function's graph, with an op that initializes variables, and its fetches."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        fetches = function(tf)
        variables = tf.global_variables() + tf.local_variables()
        tf.variables_initializer(variables, name="start")
    return graph, fetches


def results(tf, graph, fetches, at_once=False):
    """Collections, fetched values and final variables, as JSON can hold them.

    `at_once`: all fetches in one run, which is planned once.
    """
    with tf.Session(graph=graph) as sess:
        sess.run(graph.get_operation_by_name("start"))
        runs = sess.run(fetches) if at_once else map(sess.run, fetches)
        values = [_plain(value) for value in runs]
        with graph.as_default():
            variables = tf.global_variables() + tf.local_variables()
        names = [v.name for v in variables]
        final = dict(zip(names, map(_plain, sess.run(variables))))
    return {
        "collections": collections(graph),
        "values": values,
        "variables": final,
    }


def collections(graph):
    """The names of the members of the collections that programs look into."""
    found = {}
    for key in sorted(k for k in graph.get_all_collection_keys() if type(k) is str):
        members = graph.get_collection(key)
        if not key.startswith("_") and not key.endswith("_context"):
            found[key] = [getattr(m, "name", str(m)) for m in members]
    return found


def _plain(value):
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    array = np.asarray(value)
    if array.dtype == object:
        return [text.decode() for text in array.ravel()]
    return _short(array.tolist())


def _short(value):
    """Numbers with as many digits as float32 has."""
    if isinstance(value, list):
        return [_short(v) for v in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def inner(tf, path):
    """The module `tensorflow.python.<path>`, or what tfteach offers in its place.

    Paths that begin with "contrib." are below `tensorflow.`.
    """
    if tf.__name__ == "tfteach":
        from tfteach.compat import internals

        return internals.inner(path)
    root = "tensorflow" if path.startswith("contrib.") else "tensorflow.python"
    return importlib.import_module(f"{root}.{path}")


def write(functions, path, at_once=False):
    """Record the functions with real TensorFlow; see `results`."""
    import tensorflow as tf

    found = {}
    for function in functions:
        graph, fetches = build(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            **results(tf, graph, fetches, at_once),
        }
    with open(path, "w") as file:
        rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
        file.write("{\n" + ",\n".join(rows) + "\n}\n")
    print(len(found), "graphs")
