"""Traced runs on real TensorFlow 1.15: what its step_stats and partition graphs hold.

Run with the oracle's Python: `python traces.py traces.json`.  Each function builds a
graph and returns what to fetch, what to feed and what initializes it; the file gets the
rows of the step_stats without their times, and the nodes of the partition graphs.
"""

import json
import sys

import numpy as np

LOCAL = "/job:localhost/replica:0/task:0/device:"
# What TensorFlow counts (edges) or moves around (whom to stand beside).
UNSTABLE = ("_class", "tensor_name")


def product(tf):
    p = tf.placeholder(tf.float32, [2], name="p")
    return tf.multiply(p, 2.0, name="y"), {p: [1.0, 2.0]}, None


def folded_sum(tf):
    tf.constant(1.0, name="other")
    return tf.add(2, 5, name="y"), None, None


def folded_list(tf):
    a = tf.constant([1.0, 2.0], name="a")
    tf.constant(1.0, name="other")
    return tf.add_n([a, tf.constant([3.0, 4.0], name="b")], name="AddN"), None, None


def random_product(tf):
    a = [[37.0, -23.0], [1.0, 4.0]]
    return tf.matmul(a, tf.random_uniform([2, 2])), None, None


def variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("w", [2], use_resource=True)
    t = tf.assign_add(v, w * v, name="t")
    return [t, w], None, tf.global_variables_initializer()


def initializers(tf):
    v = tf.Variable(1.0, name="v")
    zeros = tf.zeros_initializer
    w = tf.get_variable("w", [2], use_resource=True, initializer=zeros)
    return [v.initializer, w.initializer], None, None


def loop(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    return tf.while_loop(lambda i: i < x, lambda i: i + 1, [0]), {x: 3}, None


def fed_inside(tf):
    a = tf.constant(1.0, name="a")
    b = tf.exp(a, name="b")
    c = tf.unstack(tf.constant([1.0, 2.0]), name="u")
    d = tf.add(b, c[1], name="d")
    return [tf.add(d, d, name="e")], {b: 2.0, c[1]: 3.0}, None


def fetched_identities(tf):
    a = tf.placeholder(tf.float32, [2], name="a")
    e, f = tf.exp(a, name="e"), tf.sin(a, name="f")
    i = tf.identity(a, name="i1")
    j = tf.identity(e, name="i2")
    return [i, j, tf.exp(tf.identity(f, name="i3"), name="g"), a], {a: [1, 2]}, None


def strings(tf):
    s = tf.placeholder(tf.string, [], name="s")
    c = tf.constant(["a", "b"], name="c")
    return tf.string_join([c, s], name="j"), {s: "x"}, None


def large(tf):
    p = tf.placeholder(tf.float32, [300, 300], name="p")
    q = tf.exp(p, name="q")
    r = tf.matmul(q, q, name="r")
    return tf.reduce_sum(r, name="s"), {p: np.zeros([300, 300])}, None


def convolution(tf):
    x = tf.placeholder(tf.float32, [2, 8, 8, 1], name="x")
    f = tf.Variable(tf.ones([3, 3, 1, 4]), name="f")
    c = tf.nn.relu(tf.nn.conv2d(x, f, 1, "SAME", name="c"))
    return tf.nn.max_pool(c, 2, 2, "SAME"), {x: np.zeros([2, 8, 8, 1])}, f.initializer


def embedding(tf):
    e = tf.get_variable("e", [5, 2])
    i = tf.placeholder(tf.int32, [3], name="i")
    return tf.nn.embedding_lookup(e, i), {i: [0, 1, 2]}, e.initializer


def identities_unoptimized(tf):
    p = tf.placeholder(tf.float32, [2], name="p")
    j = tf.identity(tf.identity(p, name="i"), name="j")
    s = tf.stop_gradient(j * 1.0 + 0.0, name="s")
    d1, d2 = tf.exp(s, name="d1"), tf.exp(s, name="d2")
    return tf.add(d1, d2, name="o"), {p: [1.0, 2.0]}, None


def sum_unoptimized(tf):
    return tf.add(2, 5, name="y"), None, None


def branch_unoptimized(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.cond(x > 0, lambda: x * 2.0, lambda: x - 1.0), {x: 1.0}, None


def training_unoptimized(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable(tf.ones([2, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0), name="loss")
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [step, loss], {x: np.ones([3, 2])}, tf.global_variables_initializer()


def three_devices(tf):
    p = tf.placeholder(tf.float32, [2, 2], name="p")
    with tf.device("/cpu:1"):
        a = tf.matmul(p, p, name="a")
    with tf.device("/cpu:2"):
        b = tf.matmul(p, a, name="b")
    with tf.device("/cpu:0"):
        c = tf.add_n([a, b], name="c")
    with tf.device("/device:CPU:1"):
        v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([b]):
        u = tf.multiply(c, v, name="u")
    return u, {p: [[1.0, 2.0], [3.0, 4.0]]}, v.initializer


def products_on_devices(tf):
    products, feeds = [], {}
    for i in (1, 2):
        with tf.device(f"/cpu:{i}"):
            p = tf.placeholder(tf.float32, [2, 2], name=f"p{i}")
            k = tf.constant([[1.0, 2.0], [3.0, 4.0]], name=f"k{i}")
            products.append(tf.matmul(p, k, name=f"m{i}"))
        feeds[p] = np.eye(2)
    return products, feeds, None


def folded_devices(tf):
    products = []
    for i in (1, 2):
        with tf.device(f"/cpu:{i}"):
            a = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[2, 3])
            b = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[3, 2])
            products.append(tf.matmul(a, b))
    with tf.device("/cpu:0"):
        return tf.add_n(products), None, None


GRAPHS = [
    product, folded_sum, folded_list, random_product, variables, initializers, loop,
    fed_inside, fetched_identities, strings, large, convolution, embedding,
    identities_unoptimized, sum_unoptimized, branch_unoptimized, training_unoptimized,
    three_devices, products_on_devices, folded_devices,
]  # fmt: skip


def traced(tf, build):
    """The RunMetadata of one run."""
    config = tf.ConfigProto(
        device_count={"CPU": 3 if "devices" in build.__name__ else 1}
    )
    if "unoptimized" in build.__name__:
        config.graph_options.optimizer_options.opt_level = -1
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default():
        fetches, feeds, init = build(tf)
        with tf.Session(config=config) as session:
            if init is not None:
                session.run(init)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
            session.run(fetches, feeds, options, metadata)
    return metadata


def rows_of(metadata):
    """device and name -> the rows without their times, in order of time."""
    found = {}
    for device in metadata.step_stats.dev_stats:
        for row in device.node_stats:
            where = device.device.replace(LOCAL, "")
            key = f"{where} {row.node_name}"
            if device.device == "/host:CPU":
                entry = row.timeline_label.split(",", 1)[1].replace(LOCAL, "")
            else:
                outputs = []
                for output in row.output:
                    tensor = output.tensor_description
                    memory = tensor.allocation_description
                    outputs.append(
                        [
                            output.slot,
                            tensor.dtype,
                            [dim.size for dim in tensor.shape.dim],
                            memory.requested_bytes,
                            memory.allocator_name,
                        ]
                    )
                persistent = row.memory_stats.persistent_memory_size
                entry = [row.timeline_label, outputs, persistent]
            found.setdefault(key, []).append(entry)
    return found


def nodes_of(metadata, make_ndarray):
    """name -> type, inputs, device and attributes of a partition's node."""
    found = {}
    for graph in metadata.partition_graphs:
        for node in graph.node:
            attrs = {}
            for name, value in node.attr.items():
                if name == "value":
                    attrs[name] = str(make_ndarray(value.tensor).tolist())
                elif name not in UNSTABLE and not name.startswith("_grappler"):
                    attrs[name] = str(value).strip()
            device = node.device.replace(LOCAL, "")
            found[node.name] = [node.op, list(node.input), device, attrs]
    return found


if __name__ == "__main__":
    import tensorflow

    golden = {}
    for graph in GRAPHS:
        metadata = traced(tensorflow, graph)
        rows, nodes = rows_of(metadata), nodes_of(metadata, tensorflow.make_ndarray)
        golden[graph.__name__] = {"rows": rows, "nodes": nodes}
    with open(sys.argv[1], "w") as file:
        json.dump(golden, file, separators=(",", ":"), sort_keys=True)
        file.write("\n")
