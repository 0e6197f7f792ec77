"""MetaGraphDefs of real TensorFlow 1.15: `python meta_graphs.py OUT.json`.

Each function builds a small graph with collections; the file holds, by function, its
exported MetaGraphDef (zlib, base64).  tests/lib/files/test_meta_graph.py compares.
"""

import base64
import json
import sys
import zlib


def variables(tf):
    tf.Variable([1.0, 2.0], name="v")
    tf.get_variable("r", [2], initializer=tf.ones_initializer(), use_resource=True)
    tf.Variable(1, name="l", trainable=False, collections=["local_variables"])
    ones = tf.ones_initializer()
    parts = tf.fixed_size_partitioner(2)
    tf.get_variable("p", [4, 2], initializer=ones, partitioner=parts)
    tf.train.get_or_create_global_step()
    tf.global_variables_initializer()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())


def branches_and_loops(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    chosen = tf.cond(
        x > 0, lambda: tf.cond(x > 1, lambda: x, lambda: x * 2), lambda: x + 1
    )

    def outer(i, a):
        def inner(j, b):
            return j + 1, tf.cond(b > 0, lambda: b + a, lambda: b)

        b = tf.while_loop(
            lambda j, _: j < i, inner, (0, a), maximum_iterations=tf.constant(4)
        )[1]
        return i + 1, b

    total = tf.while_loop(lambda i, _: i < 3, outer, [0, chosen])[1]
    tf.gradients(total, x)
    tf.add_to_collection("mine", total)


def collections(tf):
    a = tf.constant([1.0, 2.0], name="a")
    tf.add_to_collection("tensors", a)
    tf.add_to_collection("tensors", a.op)
    for key, value in (("text", "abc"), ("bytes", b"q"), ("i", 3), ("f", 1.5)):
        tf.add_to_collection(key, value)
    tf.add_to_collection("truth", True)
    tf.add_to_collection("mixed", a)
    tf.add_to_collection("mixed", "not like the first")
    tf.add_to_collection("objects", object())
    tf.add_to_collection(("no", "text"), 1)
    tf.get_default_graph().get_collection_ref("empty")
    tf.summary.scalar("s", tf.reduce_sum(a))
    tf.losses.mean_squared_error(a, a + 1.0)
    tf.no_op(name="end")


GRAPHS = [variables, branches_and_loops, collections]


def scopes(tf):
    """A scope with inputs from outside, a loop and a branch, and parts of variables."""
    images = tf.placeholder(tf.float32, [None, 2], name="images")
    with tf.variable_scope("hidden"):
        with tf.control_dependencies(None):
            w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        parts = tf.fixed_size_partitioner(2)
        tf.get_variable("p", [4], initializer=tf.ones_initializer(), partitioner=parts)
        with tf.device("/cpu:0"):
            y = tf.nn.relu(tf.matmul(images, w), name="y")
        with tf.colocate_with(images):
            tf.identity(y, name="beside")
        tf.cond(y[0, 0] > 0, lambda: y, lambda: -y)
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    z = tf.Variable(1.0, name="z")
    for key in ("outputs", "inputs"):
        tf.add_to_collection(key, y if key == "outputs" else images)
    tf.add_to_collection("texts", "hidden/abc")
    tf.add_to_collection("texts", "not inside")
    tf.add_to_collection("numbers", 3)
    tf.add_to_collection("variables of mine", z)


def savers(tf):
    """Two Savers, of which one is exported, and nodes with devices."""
    with tf.device("/cpu:0"):
        v = tf.Variable([1.0], name="v")
    first = tf.train.Saver([v])
    tf.train.Saver({"other": v}, name="second")
    tf.add_to_collection(tf.GraphKeys.SAVERS, first)
    tf.matmul([[1.0]], [v], name="product")
    return first.as_saver_def()


# What is exported -> the graph, and the arguments of export_meta_graph.
EXPORTS = {
    "scope": (scopes, {"export_scope": "hidden"}),
    "scope without devices": (scopes, {"export_scope": "hidden", "clear_devices": 1}),
    "one Saver": (savers, {"clear_extraneous_savers": True, "clear_devices": True}),
    "no defaults": (savers, {"strip_default_attrs": True, "clear_devices": False}),
    "some collections": (scopes, {"collection_list": ["numbers", "outputs"]}),
}


def exported(tf, function, **arguments):
    with tf.Graph().as_default():
        saver_def = function(tf)
        return tf.train.export_meta_graph(saver_def=saver_def, **arguments)


def main(path):
    import tensorflow as tf

    rows = {}
    wanted = {f.__name__: (f, {}) for f in GRAPHS}
    wanted.update(EXPORTS)
    for name, (function, arguments) in wanted.items():
        data = exported(tf, function, **arguments).SerializeToString()
        rows[name] = base64.b64encode(zlib.compress(data)).decode()
    with open(path, "w") as file:
        json.dump(rows, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
